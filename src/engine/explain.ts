import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { splitPassages } from "../domain/passages.ts";
import type { ExplainedDrop, ExplainedItem, Fate, RecallExplanation } from "../domain/recall-explanation.ts";
import type { RecallReceipt } from "../domain/recall-receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { MemoryError } from "../errors.ts";
import { holdsNow } from "./answer/held.ts";
import { explainAbsence } from "./explain/why-not.ts";
import type { Ports } from "./ports.ts";
import { toSources } from "./show.ts";
import type { UserState } from "./user-state.ts";

export type ExplainPorts = Pick<Ports, "record" | "states" | "clock" | "recalls">;

/**
 * Why a recall gave what it gave, from its receipt; with `about`, why one memory or passage was or was not among it.
 * `not_found` where no receipt of this id is kept (the newest 1,000 of a user are), or nothing of the id asked about.
 */
export async function explain(
  ports: ExplainPorts,
  scope: Scope,
  recall: string,
  options: { readonly about?: string } = {},
): Promise<RecallExplanation> {
  const receipt = await ports.recalls?.find(scope, recall);
  if (!receipt) {
    throw new MemoryError(
      "not_found",
      "there is no receipt of a recall with this id: the newest 1,000 are kept, and a crash can lose the last ones.",
    );
  }
  return explainReceipt(ports, scope, receipt, options.about);
}

/** The same, of a receipt at hand. */
export async function explainReceipt(
  ports: ExplainPorts,
  scope: Scope,
  receipt: RecallReceipt,
  about?: string,
): Promise<RecallExplanation> {
  const state = await ports.states.of(scope);
  const taken = await findErasedSince(ports, scope, receipt.revision);
  const looking = { state, now: ports.clock().toISOString(), erasedIds: taken };
  return {
    ...receipt,
    items: receipt.items.map((item): ExplainedItem => {
      const { id, type } = item;
      const now = fateOf(looking, id, type);
      if (now === "erased") return { id, type, now };
      // What has expired is gone from every read.
      const words = now === "expired" ? { text: "", sources: [] } : readWords(state, id, type);
      return { ...item, now, ...words };
    }),
    dropped: receipt.dropped.map((one): ExplainedDrop => {
      const { id, type } = one;
      const now = fateOf(looking, id, type);
      return now === "erased" ? { id, type, now } : { ...one, now };
    }),
    ...(about === undefined ? {} : { about: await explainAbsence(ports, scope, receipt, about) }),
  };
}

interface FateContext {
  readonly state: UserState;
  readonly now: string;
  readonly erasedIds: ReadonlySet<string>;
}

/** What has become of a memory or a passage. A message that words were taken out of is not shown again. */
export function fateOf(
  { state, now, erasedIds: taken }: FateContext,
  id: string,
  type: "memory" | "passage",
): Fate {
  if (type === "memory") return fateOfMemory(state.memories.get(id), now, taken.has(id));
  const message = state.messages.get(messageIdOf(id));
  if (!message || message.content === "" || taken.has(message.id)) return "erased";
  return message.undone ? "undone" : "current";
}

function fateOfMemory(memory: Memory | undefined, now: string, isTaken: boolean): Fate {
  if (!memory || isTaken) return "erased";
  if (memory.expiresAt !== undefined && memory.expiresAt <= now) return "expired";
  if (memory.status === "retracted") return "retracted";
  return holdsNow(memory, now) ? "current" : "superseded";
}

/** The message of a passage: "m1#0" -> "m1". */
export function messageIdOf(passage: string): string {
  return passage.slice(0, passage.lastIndexOf("#"));
}

function readWords(
  state: UserState,
  id: string,
  type: "memory" | "passage",
): Pick<Extract<ExplainedItem, { text: string }>, "text" | "sources"> {
  if (type === "memory") {
    const memory = state.memories.get(id);
    return { text: memory?.text ?? "", sources: memory ? toSources(state, memory.sources) : [] };
  }
  const message = state.messages.get(messageIdOf(id));
  const place = message && splitPassages(message).find((passage) => passage.id === id);
  if (!message || !place) return { text: "", sources: [] };
  const quote = quoteOf(message, place);
  return {
    text: quote,
    sources: toSources(state, [{ message: message.id, start: place.start, end: place.end, quote }]),
  };
}

function quoteOf({ content }: Message, { start, end }: { start: number; end: number }): string {
  return content.slice(start, end);
}

/** How many entries of the log are read at once. */
const LOG_PAGE_SIZE = 200;

/** Ids of messages with words taken out, and of memories erased, after a revision. */
export async function findErasedSince(
  ports: Pick<Ports, "record">,
  scope: Scope,
  revision: number,
): Promise<Set<string>> {
  const taken = new Set<string>();
  let before: number | undefined;
  for (;;) {
    const entries = await ports.record.log(scope, {
      limit: LOG_PAGE_SIZE,
      ...(before === undefined ? {} : { before }),
    });
    for (const entry of entries) {
      if (entry.revision <= revision) return taken;
      for (const id of entry.erased) taken.add(id);
    }
    const last = entries.at(-1);
    if (!last || entries.length < LOG_PAGE_SIZE) return taken;
    before = last.revision;
  }
}
