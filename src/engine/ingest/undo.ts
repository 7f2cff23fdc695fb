import { listAttachmentParts } from "../../domain/attachment.ts";
import type { LogEntry } from "../../domain/change-set.ts";
import { checkCount } from "../../domain/limits.ts";
import { isUndone, type Memory, UNDONE } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Receipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { flatMapInSlices } from "../../domain/time-slicing.ts";
import { MemoryError } from "../../errors.ts";
import { revertLinks } from "../associations/links.ts";
import { commitChange, createMemoryDraft, type MemoryDraft } from "../change-set.ts";
import type { Ports } from "../ports.ts";
import { passageIdsOf } from "../search-index/search-index.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { UserState } from "../user-state/user-state.ts";

/** Log entries that are read at once. */
const LOG_PAGE = 500;

/**
 * Reverts a revision: its new memories are retracted, changed memories are restored. Searches no longer find its
 * new memories and its messages. A revision of an import reverts the whole import. Undoing an undo restores everything.
 * Throws `not_found` for an unknown revision and `conflict` if something later changed the same memories, or an
 * import is undone already. Throws `unsupported` for an erasure, which cannot be reverted.
 */
export async function undo(ports: Ports, scope: Scope, revision: number): Promise<Receipt> {
  checkCount(revision, "revision", 1, Number.MAX_SAFE_INTEGER - 1);
  const { result, revision: newRevision } = await commitChange(ports, scope, async (state, at) => {
    const entry = await findLogEntry(ports, scope, revision);
    if (entry.cause === "forget") {
      throw new MemoryError(
        "unsupported",
        "an erasure cannot be undone: nothing of the erased content is left.",
      );
    }
    const group = await listUndoneTogether(ports, scope, entry);
    const { entries } = group;
    const undone = entry.cause !== "undo";
    const added = await findAddedMessages(ports, scope, state, entry);
    const messages = [...added, ...findDescriptions(state, added)];
    const draft = createMemoryDraft(state, at);
    const lines = await restoreMemories(ports, draft, state, group, messages);
    const links = revertLinks(state, {
      linked: entries.flatMap(({ linked = [] }) => linked),
      unlinked: entries.flatMap(({ unlinked = [] }) => unlinked),
    });
    return {
      draft: {
        cause: "undo",
        undoes: revision,
        memories: draft.versions,
        ...links,
        digests: messages.map(({ id, digest }) => ({ id, digest, undone })),
        dropUnits: [
          ...(undone ? await flatMapInSlices(messages, ({ id }) => passageIdsOf(state.searchIndex, id)) : []),
          ...draft.versions.filter(isUndone).map(({ id }) => id),
        ],
        units: await createSearchUnits(ports, undone ? [] : messages, draft.versions),
      },
      result: { lines, pending: state.pending },
    };
  });
  return { revision: newRevision, messages: [], memories: result.lines, pending: result.pending };
}

async function findLogEntry(ports: Pick<Ports, "store">, scope: Scope, revision: number): Promise<LogEntry> {
  const [entry] = await ports.store.log(scope, { before: revision + 1, limit: 1 });
  if (entry?.revision === revision) return entry;
  throw new MemoryError(
    "not_found",
    `there is no revision ${revision}. \`history\` lists the existing ones.`,
  );
}

/** Revisions that are undone together. */
interface UndoneGroup {
  readonly entries: readonly LogEntry[];
  /** Their numbers; those of an import with the undos and redos of it. */
  readonly revisions: ReadonlySet<number>;
}

/** The revisions that are undone together with one: those of its import, or itself alone. */
async function listUndoneTogether(
  ports: Pick<Ports, "store">,
  scope: Scope,
  entry: LogEntry,
): Promise<UndoneGroup> {
  if (entry.importId === undefined) return { entries: [entry], revisions: new Set([entry.revision]) };
  const { parts, undos } = await readImport(ports, scope, entry.importId);
  const revisions = new Set(parts.map(({ revision }) => revision));
  const last = undos.find(({ undoes }) => undoes !== undefined && revisions.has(undoes));
  if (last && !isLogEntryUndone(last, undos)) {
    throw new MemoryError(
      "conflict",
      `the import is undone already: undo revision ${last.revision} to have it back.`,
    );
  }
  for (const { revision, undoes = 0 } of undos.toReversed())
    if (revisions.has(undoes)) revisions.add(revision);
  return { entries: parts, revisions };
}

/** The revisions of an import, oldest first, and all undos of the user, newest first. */
async function readImport(
  ports: Pick<Ports, "store">,
  scope: Scope,
  importId: string,
): Promise<{ parts: LogEntry[]; undos: LogEntry[] }> {
  const parts: LogEntry[] = [];
  const undos: LogEntry[] = [];
  let before: number | undefined;
  do {
    const page = await ports.store.log(scope, {
      ...(before === undefined ? {} : { before }),
      limit: LOG_PAGE,
    });
    parts.push(...page.filter((one) => one.importId === importId));
    undos.push(...page.filter(({ cause }) => cause === "undo"));
    before = page.length < LOG_PAGE ? undefined : page.at(-1)?.revision;
  } while (before !== undefined);
  return { parts: parts.reverse(), undos };
}

function isLogEntryUndone({ revision }: LogEntry, undos: readonly LogEntry[]): boolean {
  const last = undos.find(({ undoes }) => undoes === revision);
  return last !== undefined && !isLogEntryUndone(last, undos);
}

/** The messages that a revision or its import added; for an undo, those of what it reverted. */
async function findAddedMessages(
  ports: Pick<Ports, "store">,
  scope: Scope,
  state: UserState,
  entry: LogEntry,
): Promise<Message[]> {
  let added = entry;
  while (added.cause === "undo" && added.undoes !== undefined)
    added = await findLogEntry(ports, scope, added.undoes);
  const entries =
    added.importId === undefined ? [added] : (await readImport(ports, scope, added.importId)).parts;
  return entries
    .flatMap(({ messages }) => messages)
    .flatMap((id) => state.messages.get(id) ?? [])
    .filter(({ content, parts }) => content !== "" || parts !== undefined);
}

/**
 * The messages in which a model described attachments of these messages. Each has a revision of its own, and goes and comes
 * back with the message that it describes. Of several descriptions of one attachment, the newest.
 */
function findDescriptions(
  { messages }: Pick<UserState, "messages">,
  described: readonly Message[],
): Message[] {
  const ids = new Set(described.filter(({ parts }) => parts).map(({ id }) => id));
  if (ids.size === 0) return [];
  const found = new Map<string, Message>();
  for (const message of messages.values()) {
    if (!message.parts || ids.has(message.id)) continue;
    for (const { id, of } of listAttachmentParts(message))
      if (of !== undefined && ids.has(of)) found.set(`${of} ${id}`, message);
  }
  return [...found.values()];
}

async function restoreMemories(
  ports: Pick<Ports, "store">,
  draft: MemoryDraft,
  state: UserState,
  { entries, revisions }: UndoneGroup,
  added: readonly Message[],
): Promise<ReceiptLine[]> {
  const ids = new Set(entries.flatMap(({ memories }) => memories.map(({ id }) => id)));
  const messages = new Set(added.map(({ id }) => id));
  const isImport = entries[0]?.importId !== undefined;
  const lines: ReceiptLine[] = [];
  for (const id of ids) {
    const versions = await ports.store.versions(state.scope, id);
    const line = isImport
      ? restoreImportedOver(draft, versions, id, revisions, messages)
      : restoreVersion(draft, versions, id, Math.max(...revisions));
    if (line) lines.push(line);
  }
  if (isImport) lines.push(...retractDerived(draft, state, ids, messages));
  return lines;
}

function restoreVersion(
  draft: MemoryDraft,
  versions: readonly Memory[],
  id: string,
  revision: number,
): ReceiptLine | undefined {
  const memory = draft.get(id);
  if (!memory) return undefined;
  if (memory.revision > revision) {
    // A mark for review is a consequence; what a user has done about it since stays.
    if (versions.findLast((version) => version.revision <= revision)?.review?.revision === revision)
      return undefined;
    throw new MemoryError(
      "conflict",
      `something later changed the same memory: undo revision ${memory.revision} first.`,
    );
  }
  const before = versions.findLast((version) => version.revision < revision);
  return before ? restore(draft, before) : retract(draft, memory);
}

/**
 * Removes the changes of an import from a memory. A memory that was changed since keeps its newest state in three cases: it is
 * older than the import, it was edited by hand, or it has a source from elsewhere.
 */
function restoreImportedOver(
  draft: MemoryDraft,
  versions: readonly Memory[],
  id: string,
  revisions: ReadonlySet<number>,
  messages: ReadonlySet<string>,
): ReceiptLine | undefined {
  const memory = draft.get(id);
  if (!memory) return undefined;
  const before = versions.findLast(({ revision }) => !revisions.has(revision));
  if (revisions.has(memory.revision)) return before ? restore(draft, before) : retract(draft, memory);
  const isOlder = versions[0] !== undefined && !revisions.has(versions[0].revision);
  const isEdited = memory.action === "updated";
  const isSaidElsewhere = memory.sources.some(({ message }) => !messages.has(message));
  return isOlder || isEdited || isSaidElsewhere ? undefined : retract(draft, memory);
}

/** Retracts memories that were learnt later, by a model, from messages of the import alone. */
function retractDerived(
  draft: MemoryDraft,
  { current }: Pick<UserState, "current">,
  known: ReadonlySet<string>,
  messages: ReadonlySet<string>,
): ReceiptLine[] {
  return [...current.values()]
    .filter(
      ({ id, sources }) =>
        !known.has(id) && sources.length > 0 && sources.every(({ message }) => messages.has(message)),
    )
    .map((memory) => retract(draft, memory));
}

function restore(draft: MemoryDraft, before: Memory): ReceiptLine {
  const action = isUndone(before) ? "retracted" : "restored";
  draft.put({ ...before, action, why: UNDONE });
  return { id: before.id, action: "merged", text: before.text, why: UNDONE };
}

function retract(draft: MemoryDraft, memory: Memory): ReceiptLine {
  draft.put({ ...memory, status: "retracted", action: "retracted", why: UNDONE });
  return { id: memory.id, action: "retracted", text: memory.text, why: UNDONE };
}
