import type { LogEntry } from "../domain/change-set.ts";
import { checkCount } from "../domain/limits.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { Receipt, ReceiptLine } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { MemoryError } from "../errors.ts";
import { passageIdsOf } from "./block/block.ts";
import { commitChange } from "./change.ts";
import { createMemoryDraft, type MemoryDraft } from "./memory-draft.ts";
import type { Ports } from "./ports.ts";
import { createSearchUnits } from "./units.ts";
import type { UserState } from "./user-state.ts";

/**
 * Takes back what a revision did: memories it made are retracted, memories it changed are as before, its messages are
 * no longer searched. To undo an undo brings all of it back. `not_found` for a revision that is not there, `conflict`
 * where something later changed the same memories, `unsupported` for an erasure, which nothing brings back.
 */
export async function undo(ports: Ports, scope: Scope, revision: number): Promise<Receipt> {
  checkCount(revision, "revision", 1, Number.MAX_SAFE_INTEGER - 1);
  const { result, revision: made } = await commitChange(ports, scope, async (state, at) => {
    const entry = await findLogEntry(ports, scope, revision);
    if (entry.cause === "forget") {
      throw new MemoryError("unsupported", "an erasure cannot be undone: nothing of what it took is left.");
    }
    const draft = createMemoryDraft(state, at);
    const lines: ReceiptLine[] = [];
    for (const id of new Set(entry.memories.map((memory) => memory.id))) {
      const line = restoreVersion(draft, await ports.record.versions(scope, id), id, revision);
      if (line) lines.push(line);
    }
    const undone = entry.cause !== "undo";
    const messages = await findAddedMessages(ports, scope, state, entry);
    return {
      draft: {
        cause: "undo",
        undoes: revision,
        memories: draft.versions,
        digests: messages.map(({ id, digest }) => ({ id, digest, undone })),
        dropUnits: undone ? findPassageIds(state, messages) : [],
        units: await createSearchUnits(ports, undone ? [] : messages, draft.versions),
      },
      result: { lines, pending: state.pending },
    };
  });
  return { revision: made, messages: [], memories: result.lines, pending: result.pending };
}

async function findLogEntry(ports: Pick<Ports, "record">, scope: Scope, revision: number): Promise<LogEntry> {
  const [entry] = await ports.record.log(scope, { before: revision + 1, limit: 1 });
  if (entry?.revision === revision) return entry;
  throw new MemoryError(
    "not_found",
    `there is no revision ${revision}. \`history\` shows those that are there.`,
  );
}

/** The messages that a revision added; those of an undo are those of what it took back. */
async function findAddedMessages(
  ports: Pick<Ports, "record">,
  scope: Scope,
  state: UserState,
  entry: LogEntry,
): Promise<Message[]> {
  let added = entry;
  while (added.cause === "undo" && added.undoes !== undefined)
    added = await findLogEntry(ports, scope, added.undoes);
  return added.messages.flatMap((id) => state.messages.get(id) ?? []).filter(({ content }) => content !== "");
}

function findPassageIds(state: UserState, messages: readonly Message[]): string[] {
  return messages.flatMap(({ id }) => passageIdsOf(state.searchIndex, id));
}

function restoreVersion(
  draft: MemoryDraft,
  versions: readonly Memory[],
  id: string,
  revision: number,
): ReceiptLine | undefined {
  const held = draft.get(id);
  if (!held) return undefined;
  if (held.revision > revision) {
    throw new MemoryError(
      "conflict",
      `something later changed the same memory: undo revision ${held.revision} first.`,
    );
  }
  const before = versions.findLast((version) => version.revision < revision);
  if (before) {
    draft.put({ ...before, action: "restored", why: "undone" });
    return { id, action: "merged", text: before.text, why: "undone" };
  }
  draft.put({ ...held, status: "retracted", action: "retracted", why: "undone" });
  return { id, action: "retracted", text: held.text, why: "undone" };
}
