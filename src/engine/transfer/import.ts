import type { ChangeSetDraft, MemoryLink } from "../../domain/change-set.ts";
import { checkCount, checkName } from "../../domain/limits.ts";
import { isUndone } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Receipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type {
  ImportEntry,
  ImportedLink,
  ImportedMemory,
  ImportOptions,
  ImportProgress,
} from "../api/transfer-types.ts";
import type { InputMessage } from "../api/writing-types.ts";
import { selectNewLinks } from "../associations/links.ts";
import { commitChange, createMemoryDraft } from "../change-set.ts";
import { redactErased } from "../erase/tombstone-filter.ts";
import { prepareImportedMemory } from "../ingest/manual-edits.ts";
import { remember } from "../ingest/remember.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { UserState } from "../user-state/user-state.ts";
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
  const links: ImportedLink[] = [];
  for await (const batch of toBatches(source, size)) {
    options.signal?.throwIfAborted();
    for (const { skipped } of batch) if (skipped !== undefined) run.passOver(skipped);
    links.push(...batch.flatMap(({ link }) => link ?? []));
    const memories = batch.flatMap(({ memory }) => memory ?? []);
    if (batch[0]?.message) yield await run.storeMessages(batch);
    if (memories.length > 0) yield await run.storeMemories(memories);
  }
  if (links.length > 0) await run.storeLinks(links);
  yield { ...run.progress(), done: true };
}

/** Batches of at most `size` entries of one sort: messages to read, messages that were read, memories, and the rest. */
async function* toBatches(
  source: AsyncIterable<ImportEntry> | Iterable<ImportEntry>,
  size: number,
): AsyncGenerator<ImportEntry[], void, void> {
  const batches = new Map<string, ImportEntry[]>();
  for await (const entry of source) {
    const sort = entry.message ? `message ${entry.isRead ?? false}` : entry.memory ? "memory" : "other";
    const batch = batches.get(sort) ?? [];
    batches.set(sort, batch);
    batch.push(entry);
    if (batch.length >= size) yield batch.splice(0);
  }
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

/** An import under way. Each step gives the progress after it. */
interface ImportRun {
  passOver(why: string): void;
  storeMessages(batch: readonly ImportEntry[]): Promise<ImportProgress>;
  storeMemories(batch: readonly ImportedMemory[]): Promise<ImportProgress>;
  storeLinks(links: readonly ImportedLink[]): Promise<void>;
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
  const sum = { read: 0, stored: 0, known: 0, memories: 0 };
  const passedOver = new Map<string, number>();
  let revision: number | undefined;
  const passOver = (why: string, count = 1): void => {
    if (count > 0) passedOver.set(why, (passedOver.get(why) ?? 0) + count);
  };
  const noteCommit = (before: number, after: number): void => {
    if (after > before) revision = after;
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
  return {
    passOver,
    progress,
    async storeMessages(batch) {
      const before = await ports.states.of(scope);
      const { base, ...counts } = countKnown(before, batch);
      const receipt = await storeBatch(target, batch, sum.read);
      noteCommit(base, receipt.revision);
      // A message without words is not stored.
      const stored = new Set(receipt.messages).size - counts.distinctKnown;
      passOver(UNDONE_WHY, counts.undone);
      sum.read += batch.length;
      sum.stored += stored;
      sum.known += counts.known;
      return noteLines(receipt.memories);
    },
    async storeMemories(batch) {
      const before = await ports.store.revision(scope);
      const { lines, known, undone, revision: after } = await commitMemories(target, batch);
      noteCommit(before, after);
      passOver("a memory that is known", known);
      passOver(UNDONE_WHY, undone);
      return noteLines(lines);
    },
    async storeLinks(links) {
      const before = await ports.store.revision(scope);
      noteCommit(before, await commitLinks(target, links));
    },
  };
}

const UNDONE_WHY = "it is from an import that was undone; undo the undoing to have it back";

/** Counts the messages of a batch that are stored, or come twice in it. */
function countKnown(
  { messages, revision }: Pick<UserState, "messages" | "revision">,
  batch: readonly ImportEntry[],
): { base: number; known: number; distinctKnown: number; undone: number } {
  const ids = batch.flatMap(({ message }) => message?.id ?? []);
  const distinct = [...new Set(ids)];
  const stored = distinct.flatMap((id) => messages.get(id) ?? []);
  return {
    base: revision,
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

interface StoredMemories {
  readonly lines: readonly ReceiptLine[];
  readonly known: number;
  readonly undone: number;
  readonly revision: number;
}

/** Stores memories of another system as one change. Leaves out those that are known, and what was erased. */
async function commitMemories(
  { ports, scope, importId, options }: ImportTarget,
  batch: readonly ImportedMemory[],
): Promise<StoredMemories> {
  const prepared = batch.map((memory) => prepareImportedMemory(memory));
  const now = ports.clock().toISOString();
  const { result, revision } = await commitChange(ports, scope, async (state, at) => {
    const draft = createMemoryDraft(state, at);
    const texts = listTexts(state);
    const fates = prepared.map((memory) => {
      const fate = judgeMemory(ports, { state, draft, texts, at, now }, memory);
      if (fate === "new" && memory.status === "current") texts.add(memory.text);
      return fate === "new" ? putMemory(ports, draft, memory, at) : fate;
    });
    const result = {
      lines: fates.filter((fate) => typeof fate === "object"),
      known: fates.filter((fate) => fate === "known").length,
      undone: fates.filter((fate) => fate === "undone").length,
    };
    if (draft.versions.length === 0) return { result };
    const units = await createSearchUnits(ports, [], draft.versions, options.signal);
    return { draft: { cause: "import", importId, memories: draft.versions, units }, result };
  });
  return { ...result, revision };
}

/** What a memory is compared with. */
interface MemoryContext {
  readonly state: UserState;
  readonly draft: ReturnType<typeof createMemoryDraft>;
  /** Texts that are stored, or current in the draft. */
  readonly texts: ReadonlySet<string>;
  readonly at: string;
  readonly now: string;
}

/** Whether a memory is new, known, or was imported before and undone; or the line of its refusal. */
function judgeMemory(
  ports: Pick<Ports, "secret">,
  { state, draft, texts, at, now }: MemoryContext,
  memory: PreparedMemory,
): "new" | "known" | "undone" | ReceiptLine {
  const stored = state.memories.get(memory.id);
  if (stored && isUndone(stored)) return "undone";
  if (stored || draft.get(memory.id) || texts.has(memory.text)) return "known";
  if (memory.expiresAt !== undefined && memory.expiresAt <= now)
    return { ...REFUSED, why: "a memory that has expired" };
  return isErased(ports, state, memory, at) ? { ...REFUSED, why: ERASED_WHY } : "new";
}

function listTexts({ memories }: Pick<UserState, "memories">): Set<string> {
  const texts = new Set<string>();
  for (const { text } of memories.values()) texts.add(text);
  return texts;
}

type PreparedMemory = ReturnType<typeof prepareImportedMemory>;

/** Adds a memory to a draft. One that would instruct the assistant is kept for people to review. */
function putMemory(
  { promptGuard }: Pick<Ports, "promptGuard">,
  draft: ReturnType<typeof createMemoryDraft>,
  memory: PreparedMemory,
  at: string,
): ReceiptLine {
  const [injection] = promptGuard.findInjections(memory.text, "typed");
  const action = injection ? "quarantined" : "added";
  const why = injection ? `it would have the assistant ${injection.does}` : undefined;
  draft.put({
    validFrom: memory.at ?? at,
    ...memory,
    at: memory.at ?? at,
    action,
    ...(why === undefined ? {} : { quarantined: true, why }),
  });
  return { id: memory.id, action, text: memory.text, ...(why === undefined ? {} : { why }) };
}

/** Whether words of a memory were erased. An import brings nothing back. */
function isErased(
  { secret }: Pick<Ports, "secret">,
  { scope, tombstones }: Pick<UserState, "scope" | "tombstones">,
  { id, text, at: saidAt }: PreparedMemory,
  at: string,
): boolean {
  if (tombstones.size === 0) return false;
  const message: Message = {
    id,
    turn: 0,
    role: "user",
    content: text,
    origin: "import",
    at: saidAt ?? at,
    storedAt: at,
    digest: "never",
  };
  return redactErased(secret, scope, message, tombstones).message.content !== text;
}

const REFUSED = { id: "", action: "refused", text: "" } as const;
const ERASED_WHY = "it was erased; only the user can bring it back, by saying it again";

/** Associates memories as a source says. Leaves out associations that exist, and those of memories that do not. */
async function commitLinks(
  { ports, scope, importId }: ImportTarget,
  wanted: readonly ImportedLink[],
): Promise<number> {
  const { revision } = await commitChange(ports, scope, async (state) => {
    const links = selectNewLinks(state.links, findEnds(state, wanted));
    const draft: ChangeSetDraft | undefined =
      links.length > 0 ? { cause: "import", importId, links } : undefined;
    return draft ? { draft, result: undefined } : { result: undefined };
  });
  return revision;
}

/** Finds the memories at the ends of associations: by id, else by the text of a current memory. */
function findEnds(state: UserState, wanted: readonly ImportedLink[]): MemoryLink[] {
  const byText = new Map([...state.current.values()].map(({ id, text }) => [text, id]));
  const find = (name: string): string | undefined => (state.memories.has(name) ? name : byText.get(name));
  return wanted.flatMap(({ from: fromName, to: toName, type, strength }) => {
    const [from, to] = [find(fromName), find(toName)];
    return from === undefined || to === undefined || from === to ? [] : [{ from, to, type, strength }];
  });
}
