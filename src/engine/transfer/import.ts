import type { ChangeSetDraft, MemoryLink } from "../../domain/change-set.ts";
import { checkCount, checkName } from "../../domain/limits.ts";
import { isUndone } from "../../domain/memory.ts";
import type { Receipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type {
  ImportEntry,
  ImportedLink,
  ImportedMessageState,
  ImportOptions,
  ImportProgress,
} from "../api/transfer-types.ts";
import type { InputMessage } from "../api/writing-types.ts";
import { selectNewLinks } from "../associations/links.ts";
import { commitChange } from "../change-set.ts";
import { remember } from "../ingest/remember.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import {
  commitImportedMemories,
  createImportedMemoryIndex,
  type ImportedMemoryIndex,
} from "./import-memories.ts";
import { createTrialPorts } from "./trial-run.ts";

/** Texts of a step that `learnt` shows at most. */
const MAX_LEARNT = 1000;

/**
 * Imports entries in batches: each batch completely or not at all. Skips existing ids, so that an interrupted
 * import resumes. An import erases nothing. With `dryRun`, all of it happens in memory and is discarded.
 */
export async function* importEntries(
  ports: Ports,
  scope: Scope,
  source: AsyncIterable<ImportEntry> | Iterable<ImportEntry>,
  options: ImportOptions = {},
): AsyncGenerator<ImportProgress, void, void> {
  const size = checkCount(options.batch ?? 200, "batch", 1, 1000);
  const importId = options.importId === undefined ? ports.ids() : checkName(options.importId, "importId");
  const target = options.dryRun ? await createTrialPorts(ports, scope) : ports;
  const run = createImportRun({ ports: target, scope, options, importId });
  try {
    for await (const batch of toBatches(source, size)) {
      options.signal?.throwIfAborted();
      const progress = await run.store(batch);
      if (progress) yield progress;
    }
    await run.storeLinks();
  } catch (error) {
    throw options.dryRun ? error : withImport(error, run.progress());
  }
  yield { ...run.progress(), done: true };
}

/** The same error, with the import that is stored in part, and what to do about it. */
function withImport(error: unknown, { importId, revision }: ImportProgress): unknown {
  if (!isMemoryError(error) || revision === undefined) return error;
  return new MemoryError(
    error.code,
    `${error.message} What came before is stored: the same import again goes on, and undo of revision ${revision} takes it back.`,
    { cause: error, details: { importId, revision } },
  );
}

/**
 * Batches of at most `size` entries of one sort: messages to read, messages that were read, memories, and the rest. Messages
 * come before the memories that were read from them.
 */
async function* toBatches(
  source: AsyncIterable<ImportEntry> | Iterable<ImportEntry>,
  size: number,
): AsyncGenerator<ImportEntry[], void, void> {
  const batches = new Map<string, ImportEntry[]>();
  function* takeMessages(): Generator<ImportEntry[], void, void> {
    for (const batch of batches.values()) if (batch[0]?.message) yield batch.splice(0);
  }
  for await (const entry of source) {
    const sort = entry.message ? `message ${entry.isRead ?? false}` : entry.memory ? "memory" : "other";
    const batch = batches.get(sort) ?? [];
    batches.set(sort, batch);
    batch.push(entry);
    if (batch.length < size) continue;
    if (sort === "memory") yield* takeMessages();
    yield batch.splice(0);
  }
  yield* takeMessages();
  for (const batch of batches.values()) if (batch.length > 0) yield batch;
}

/** Gives messages as the entries of an import. */
export async function* toEntries(
  messages: AsyncIterable<InputMessage> | Iterable<InputMessage>,
): AsyncGenerator<ImportEntry, void, void> {
  let number = 0;
  for await (const message of messages) {
    number += 1;
    yield { place: `message ${number}`, message };
  }
}

/** An import under way. */
interface ImportRun {
  /** Stores a batch, and gives the progress after it; undefined if it has neither messages nor memories. */
  store(batch: readonly ImportEntry[]): Promise<ImportProgress | undefined>;
  /** Stores the associations of all batches. */
  storeLinks(): Promise<void>;
  progress(lines?: readonly ReceiptLine[]): ImportProgress;
}

interface ImportTarget {
  readonly ports: Ports;
  readonly scope: Scope;
  readonly options: ImportOptions;
  readonly importId: string;
}

function createImportRun(target: ImportTarget): ImportRun {
  const { ports, scope, importId } = target;
  const index = createImportedMemoryIndex();
  const sum = { read: 0, stored: 0, known: 0, memories: 0 };
  const passedOver = new Map<string, number>();
  const links: ImportedLink[] = [];
  let revision: number | undefined;
  const passOver = (why: string, count = 1): void => {
    if (count > 0) passedOver.set(why, (passedOver.get(why) ?? 0) + count);
  };
  // A batch that stores nothing has the revision of the last writer.
  const noteCommit = (after: number, changes: number): void => {
    if (changes > 0) revision = after;
  };
  const progress = (lines: readonly ReceiptLine[] = []): ImportProgress => ({
    ...sum,
    importId,
    ...(revision === undefined ? {} : { revision }),
    learnt: lines.filter(({ action }) => action !== "refused").slice(0, MAX_LEARNT),
    passedOver: [...passedOver].map(([why, count]) => ({ why, count })),
    done: false,
  });
  const noteLines = (lines: readonly ReceiptLine[]): ImportProgress => {
    sum.memories += lines.filter(({ action }) => action === "added").length;
    for (const { action, why = "refused" } of lines) if (action === "refused") passOver(why);
    return progress(lines);
  };
  const storeMessages = async (batch: readonly ImportEntry[]): Promise<ImportProgress> => {
    const before = await ports.states.of(scope);
    const counts = countKnown(before, batch);
    const receipt = await storeBatch(target, batch, sum.read);
    // A message without words is not stored.
    const stored = new Set(receipt.messages).size - counts.distinctKnown;
    noteCommit(receipt.revision, stored);
    passOver(UNDONE_WHY, counts.undone);
    sum.read += batch.length;
    sum.stored += stored;
    sum.known += counts.known;
    return noteLines(receipt.memories);
  };
  const storeMemories = async (batch: readonly ImportEntry[]): Promise<ImportProgress> => {
    const context = { ports, scope, importId, index, signal: target.options.signal };
    const { lines, known, undone, revision: after } = await commitImportedMemories(context, batch);
    noteCommit(after, lines.filter(({ action }) => action !== "refused").length);
    passOver("a memory that is known", known);
    passOver(UNDONE_WHY, undone);
    return noteLines(lines);
  };
  return {
    progress,
    async store(batch) {
      for (const { skipped, link } of batch) {
        if (skipped !== undefined) passOver(skipped);
        if (link) links.push(link);
      }
      if (batch[0]?.message) return storeMessages(batch);
      return batch[0]?.memory ? storeMemories(batch) : undefined;
    },
    async storeLinks() {
      if (links.length === 0) return;
      const { revision: after, added, missing } = await commitLinks(target, index, links);
      noteCommit(after, added);
      passOver("an association of a memory that is not stored", missing);
    },
  };
}

const UNDONE_WHY = "it is from an import that was undone; undo the undoing to have it back";

/** Counts the messages of a batch that are stored, or come twice in it. */
function countKnown(
  { messages }: Pick<UserState, "messages">,
  batch: readonly ImportEntry[],
): { known: number; distinctKnown: number; undone: number } {
  const ids = batch.flatMap(({ message }) => message?.id ?? []);
  const distinct = [...new Set(ids)];
  const stored = distinct.flatMap((id) => messages.get(id) ?? []);
  return {
    known: stored.length + ids.length - distinct.length,
    distinctKnown: stored.length,
    undone: stored.filter(({ undone }) => undone).length,
  };
}

async function storeBatch(
  { ports, scope, options, importId }: ImportTarget,
  batch: readonly ImportEntry[],
  before: number,
): Promise<Receipt> {
  try {
    const messages = batch.flatMap(({ message }) => message ?? []);
    const extract = batch[0]?.isRead ? "never" : options.extract;
    return await remember(ports, scope, messages, {
      origin: "import",
      importId,
      states: collectStates(batch),
      ...(extract ? { extract } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (!isMemoryError(error) || before === 0) throw error;
    throw new MemoryError(error.code, `in the batch after message ${before}: ${error.message}`, {
      cause: error,
    });
  }
}

/** How the messages of a batch were labelled and read before, by id. */
function collectStates(batch: readonly ImportEntry[]): Map<string, ImportedMessageState> {
  const states = new Map<string, ImportedMessageState>();
  for (const { message, isRead, state } of batch) {
    const { agent, ...reading } = state ?? {};
    if (message?.id === undefined || !state) continue;
    states.set(message.id, {
      ...(agent === undefined ? {} : { agent: checkName(agent, "agent") }),
      ...(isRead ? reading : {}),
    });
  }
  return states;
}

/**
 * Associates memories as a source says. Leaves out associations that exist, and those of memories that do not; gives the
 * number of those that were added, and of the latter.
 */
async function commitLinks(
  { ports, scope, importId }: ImportTarget,
  { aliases }: Pick<ImportedMemoryIndex, "aliases">,
  wanted: readonly ImportedLink[],
): Promise<{ readonly revision: number; readonly added: number; readonly missing: number }> {
  const { result, revision } = await commitChange(ports, scope, async (state) => {
    const found = findEnds(state, aliases, wanted);
    const links = selectNewLinks(state.links, found);
    const draft: ChangeSetDraft | undefined =
      links.length > 0 ? { cause: "import", importId, links } : undefined;
    const result = { added: links.length, missing: wanted.length - found.length };
    return { ...(draft ? { draft } : {}), result };
  });
  return { revision, ...result };
}

/** Finds the memories at the ends of associations: by id, else by the text of a current memory. */
function findEnds(
  state: UserState,
  aliases: ReadonlyMap<string, string>,
  wanted: readonly ImportedLink[],
): MemoryLink[] {
  const byText = new Map([...state.current.values()].map(({ id, text }) => [text, id]));
  const find = (name: string): string | undefined => {
    const stored = state.memories.get(aliases.get(name) ?? name);
    return stored && !isUndone(stored) ? stored.id : byText.get(name);
  };
  return wanted.flatMap(({ from: fromName, to: toName, type, strength }) => {
    const [from, to] = [find(fromName), find(toName)];
    return from === undefined || to === undefined || from === to ? [] : [{ from, to, type, strength }];
  });
}
