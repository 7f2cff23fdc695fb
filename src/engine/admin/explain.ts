import { isTrueAt } from "../../domain/memories/current-memories.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type {
  ExplainedDrop,
  ExplainedItem,
  Fate,
  Reason,
  RecallBounds,
  RecallExplanation,
  RecallReceipt,
  WhyNot,
} from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { splitPassages } from "../../domain/text/split-text.ts";
import { MemoryError } from "../../errors.ts";
import type { Ports } from "../ports.ts";
import { toSources } from "../user-state/lookups.ts";
import type { UserState } from "../user-state/user-state.ts";

export type ExplainPorts = Pick<Ports, "store" | "states" | "clock" | "recalls" | "answerer">;

/**
 * Explains from its receipt why a recall returned its items. With `about`, explains why one memory or passage
 * was or was not among them. Throws `not_found` if no receipt with this id is stored (each user has the
 * newest 1,000), or if the id in `about` is unknown.
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
      "no recall with this id is stored: only the newest 1,000 are kept, and a crash can lose the last ones.",
    );
  }
  return explainReceipt(ports, scope, receipt, options.about);
}

/** Explains a recall whose receipt has been loaded already. */
export async function explainReceipt(
  ports: ExplainPorts,
  scope: Scope,
  receipt: RecallReceipt,
  about?: string,
): Promise<RecallExplanation> {
  const state = await ports.states.of(scope);
  const erasedIds = await findErasedSince(ports, scope, receipt.revision);
  const looking = { state, now: ports.clock().toISOString(), erasedIds };
  return {
    ...receipt,
    items: receipt.items.map((item): ExplainedItem => {
      const { id, type } = item;
      const now = fateOf(looking, id, type);
      if (now === "erased") return { id, type, now };
      // No read returns expired content.
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

/** The current state of a memory or passage. A message with redacted words is not shown again. */
function fateOf({ state, now, erasedIds: taken }: FateContext, id: string, type: "memory" | "passage"): Fate {
  if (type === "memory") return fateOfMemory(state.memories.get(id), now, taken.has(id));
  const message = state.messages.get(messageIdOf(id));
  if (!message || message.content === "" || taken.has(message.id)) return "erased";
  return message.undone ? "undone" : "current";
}

function fateOfMemory(memory: Memory | undefined, now: string, isTaken: boolean): Fate {
  if (!memory || isTaken) return "erased";
  if (memory.expiresAt !== undefined && memory.expiresAt <= now) return "expired";
  if (memory.status === "retracted") return "retracted";
  return isTrueAt(memory, now) ? "current" : "superseded";
}

/** The message id of a passage: "m1#0" -> "m1". */
function messageIdOf(passage: string): string {
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

/** Log entries per read. */
const LOG_PAGE_SIZE = 200;

/** Ids of messages redacted and memories erased after a revision. */
async function findErasedSince(
  ports: Pick<Ports, "store">,
  scope: Scope,
  revision: number,
): Promise<Set<string>> {
  const ids = new Set<string>();
  let before: number | undefined;
  for (;;) {
    const entries = await ports.store.log(scope, {
      limit: LOG_PAGE_SIZE,
      ...(before === undefined ? {} : { before }),
    });
    for (const entry of entries) {
      if (entry.revision <= revision) return ids;
      for (const id of entry.erased) ids.add(id);
    }
    const last = entries.at(-1);
    if (!last || entries.length < LOG_PAGE_SIZE) return ids;
    before = last.revision;
  }
}

/** Maps the fixed texts with which `recall` explains an exclusion to their reasons. */
const REASONS: { readonly [why: string]: Reason } = {
  "only passages were asked for": "other_type",
  "only memories were asked for": "other_type",
  "another kind was asked for": "other_kind",
  quarantined: "quarantined",
  expired: "expired",
  undone: "undone",
  "not yet true then": "not_yet_true",
  "not yet known then": "not_yet_known",
  "not yet said then": "not_yet_true",
  "another agent's": "other_agent",
  "another session": "other_session",
  "the filter does not let it through": "filtered",
  "it has too little to do with the query": "below_floor",
  "it shares nothing with the query": "below_floor",
  "beyond the limit": "beyond_limit",
  "below minScore": "below_score",
};

/**
 * Explains why a recall did or did not return one memory, passage or message. Throws `not_found` if this user
 * never had it.
 */
export async function explainAbsence(
  ports: Pick<Ports, "store" | "states" | "answerer">,
  scope: Scope,
  receipt: RecallReceipt,
  id: string,
): Promise<WhyNot> {
  const state = await ports.states.of(scope);
  const versions = await ports.store.versions(scope, id);
  const message = state.messages.get(id.includes("#") ? id.slice(0, id.lastIndexOf("#")) : id);
  const isGone = versions.length === 0 && (!message || message.content === "");
  if (isGone) {
    if (await wasErased(ports, scope, id)) return toWhyNot(id, "erased", "It has been erased.");
    throw new MemoryError("not_found", "no memory, passage or message has this id.");
  }
  const then = versions.findLast((one) => one.revision <= receipt.revision && one.storedAt <= receipt.at);
  const isOver = then && receipt.kind === "answer" && !receipt.used?.includes(id);
  return (
    (isOver ? findEnded(ports, then, receipt) : undefined) ??
    findGiven(receipt, id) ??
    (versions.length > 0 && !then
      ? toWhyNot(
          id,
          "not_yet_known",
          `It was stored later, on ${ports.answerer.formatDate(versions[0]?.storedAt.slice(0, 10) ?? "")}.`,
        )
      : undefined) ??
    (then && findBound(receipt, then)) ??
    (then && findEnded(ports, then, receipt)) ??
    findDropped(receipt, id) ??
    toWhyNot(id, "below_floor", "It was less relevant than the items that were returned.")
  );
}

async function wasErased(ports: Pick<Ports, "store">, scope: Scope, id: string): Promise<boolean> {
  const message = id.includes("#") ? id.slice(0, id.lastIndexOf("#")) : id;
  let before: number | undefined;
  for (;;) {
    const entries = await ports.store.log(scope, {
      limit: 200,
      ...(before === undefined ? {} : { before }),
    });
    if (entries.some(({ erased }) => erased.includes(id) || erased.includes(message))) return true;
    const last = entries.at(-1);
    if (!last || entries.length < 200) return false;
    before = last.revision;
  }
}

function toWhyNot(id: string, reason: Reason, text: string): WhyNot {
  return { id, reason, text };
}

function findGiven({ items, used, kind }: RecallReceipt, id: string): WhyNot | undefined {
  const place = items.findIndex((item) => item.id === id || item.id.startsWith(`${id}#`));
  if (used?.includes(id)) return toWhyNot(id, "used", "The answer is based on it.");
  if (place < 0) return undefined;
  const rest = kind === "answer" ? ", but the answer is based on others" : "";
  return toWhyNot(id, "given", `It was returned, in place ${place + 1}${rest}.`);
}

/** Compares the filters of the recall with the memory as it was then. */
function findBound({ bounds, at }: RecallReceipt, memory: Memory): WhyNot | undefined {
  const { id } = memory;
  const { types, kinds, session, agent } = bounds;
  if (types && !types.includes("memory")) return toWhyNot(id, "other_type", "Only passages were requested.");
  if (kinds && !kinds.includes(memory.kind)) {
    return toWhyNot(id, "other_kind", `Only ${kinds.join(", ")} was requested.`);
  }
  if (memory.quarantined) return toWhyNot(id, "quarantined", "It is quarantined and never returned.");
  if (agent !== undefined && memory.agent !== agent) {
    return toWhyNot(id, "other_agent", "It belongs to another agent.");
  }
  if (session !== undefined && memory.session !== session) {
    return toWhyNot(id, "other_session", "It was said in another session than the requested one.");
  }
  return findTimeBound(bounds, memory, at);
}

function findTimeBound({ asOf, knownAt }: RecallBounds, memory: Memory, at: string): WhyNot | undefined {
  const { id, expiresAt, storedAt, validFrom } = memory;
  if (expiresAt !== undefined && expiresAt <= at) return toWhyNot(id, "expired", "It had expired.");
  if (knownAt !== undefined && storedAt > knownAt) {
    return toWhyNot(id, "not_yet_known", "It was not known yet at the requested time.");
  }
  if (asOf !== undefined && (validFrom ?? memory.at) > asOf) {
    return toWhyNot(id, "not_yet_true", "It was not true yet at the requested time.");
  }
  return undefined;
}

const REASON_TEXTS: { readonly [reason in Reason]?: string } = {
  filtered: "The filter excluded it.",
  beyond_limit: "It was found, but ranked beyond the limit.",
  below_score: "It was found, but scored below the requested minimum.",
  below_floor: "It was not relevant to the question.",
  other_session: "It was said in another session than the requested one.",
};

function findDropped({ dropped: all }: RecallReceipt, id: string): WhyNot | undefined {
  const one = all.find((left) => left.id === id || left.id.startsWith(`${id}#`));
  const reason = one && REASONS[one.why];
  return reason && toWhyNot(id, reason, REASON_TEXTS[reason] ?? `It was left out: ${one.why}.`);
}

/**
 * Finds memories that had ended or were never true at that time: an answer leaves them out, and a recall
 * ranks them lower.
 */
function findEnded(
  { answerer }: Pick<Ports, "answerer">,
  memory: Memory,
  { at }: RecallReceipt,
): WhyNot | undefined {
  const { id, status, validTo, why } = memory;
  if (status === "retracted") return toWhyNot(id, "retracted", `It was taken back${why ? `: ${why}` : ""}.`);
  const isOver = status === "superseded" || (validTo !== undefined && validTo <= at);
  if (!isOver) return undefined;
  const since =
    validTo === undefined ? "" : ` since ${answerer.formatDate(validTo.slice(0, 10), { weekday: false })}`;
  return toWhyNot(id, "superseded", `It was outdated${since}${why ? `: ${why}` : ""}.`);
}
