import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { toLocalTime } from "../../domain/time.ts";
import { sortInSlices, yieldToEventLoop } from "../../domain/time-slicing.ts";
import { MemoryError } from "../../errors.ts";
import type { Extractor } from "../../ports/language/extractor.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { FactDifference, ReplayOptions, ReplayReport } from "../api/replay-types.ts";
import type { InputMessage } from "../api/writing-types.ts";
import { isDelayed } from "../erase/delayed-erasures.ts";
import { extractPending } from "../ingest/extract-pending.ts";
import { remember } from "../ingest/remember.ts";
import type { Ports } from "../ports.ts";
import { createUserStates, type UserState } from "../user-state/user-state.ts";
import { type ComparedMemory, compareFacts, listCompared } from "./compare-facts.ts";

/** What a replay needs beside the ports. */
export interface ReplayTools {
  /** Opens an empty store in memory. */
  readonly openStore: () => MemoryStore;
  /** Opens the built-in rules. */
  readonly openRules: () => Extractor;
}

type Extractors = Pick<Ports, "extractor" | "modelExtractor">;

/** Log entries that are read at once. */
const LOG_PAGE = 500;
/** Messages of one write that are told at once. */
const MAX_BATCH = 25;
/** This many waiting messages are read by a model without waiting for a pause. */
const MODEL_BATCH = 12;

/**
 * Tells the stored messages of a user to an empty store in memory, in their order and at their times, and compares the
 * memories with the stored ones. Writes nothing to the user's store. Throws `conflict` if the memory changes meanwhile, and
 * what the model's server throws.
 */
export async function replay(
  ports: Ports,
  scope: Scope,
  tools: ReplayTools,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const state = await ports.states.of(scope);
  const { revision } = state;
  const told = listTold(state);
  const now = ports.clock().toISOString();
  const edited = await listEditedIds(ports, scope);
  const input = { tools, told: told.messages, extractors: ports, now };
  const right = await tellMessages(ports, scope, input, options);
  const left = await listCompared((await ports.states.of(scope)).memories.values(), now, edited);
  await refuseChanged(ports, scope, revision);
  return toReport({ left: "store", right: "replay" }, told, left, right);
}

/**
 * Tells the stored messages of a user to two empty stores in memory, one with the built-in rules and one with the configured
 * model, and compares the memories. Throws `unsupported` if no model extracts memories, and otherwise as `replay` does.
 */
export async function compareExtractors(
  ports: Ports,
  scope: Scope,
  tools: ReplayTools,
  { onProgress, signal }: ReplayOptions = {},
): Promise<ReplayReport> {
  const { modelExtractor } = ports;
  if (!modelExtractor) throw new MemoryError("unsupported", NO_MODEL);
  const state = await ports.states.of(scope);
  const { revision } = state;
  const told = listTold(state);
  const now = ports.clock().toISOString();
  const all = 2 * told.messages.length;
  const tell = (extractors: Extractors, before: number) =>
    tellMessages(
      ports,
      scope,
      { tools, told: told.messages, extractors, now },
      { ...(signal ? { signal } : {}), onProgress: (done) => onProgress?.(before + done, all) },
    );
  const left = await tell({ extractor: tools.openRules() }, 0);
  const right = await tell({ extractor: NO_RULES, modelExtractor }, told.messages.length);
  await refuseChanged(ports, scope, revision);
  return toReport({ left: "rules", right: "model" }, told, left, right);
}

const NO_MODEL =
  "no model extracts memories here. Set OPENAI_API_KEY or OPENAI_BASE_URL, and leave KEEPSAKE_EXTRACTOR unset or set it to " +
  "model or both; in the library, set `model`.";

/** Proposes nothing: the model reads every message. */
const NO_RULES: Extractor = { name: "none", local: true, propose: async () => [] };

const NOTHING_EDITED: ReadonlySet<string> = new Set();

async function toReport(
  sides: ReplayReport["sides"],
  { messages, unread }: ToldMessages,
  left: readonly ComparedMemory[],
  right: readonly ComparedMemory[],
): Promise<ReplayReport> {
  const { same, notFromMessages, differences, digests } = await compareFacts(left, right);
  const turns = new Map(messages.map(({ id, turn }) => [id, turn]));
  const turnOf = ({ left: one, right: other }: FactDifference): number =>
    turns.get((one ?? other)?.message ?? "") ?? Number.POSITIVE_INFINITY;
  const sorted = await sortInSlices(differences, (one, other) => turnOf(one) - turnOf(other) || 0);
  const onlyLeft = differences.filter(({ right }) => !right).length;
  const onlyRight = differences.filter(({ left }) => !left).length;
  return {
    sides,
    isEqual: differences.length === 0,
    counts: {
      messages: messages.length,
      unread,
      same,
      different: differences.length - onlyLeft - onlyRight,
      onlyLeft,
      onlyRight,
      notFromMessages,
    },
    digests,
    differences: sorted,
  };
}

interface ToldMessages {
  readonly messages: readonly Message[];
  readonly unread: number;
}

/** The messages to tell, in their order: with words, not undone, and read by the store's extractor. */
function listTold({ messages }: Pick<UserState, "messages">): ToldMessages {
  const present = [...messages.values()].filter(({ undone, content }) => !undone && content.trim() !== "");
  const isUnread = ({ digest, heard }: Message): boolean => digest === "pending" && !heard;
  const read = present.filter((message) => !isUnread(message));
  return { messages: read, unread: present.length - read.length };
}

/** Ids of memories that were changed by a person, a clean-up, or an import of memories. */
async function listEditedIds({ store }: Pick<Ports, "store">, scope: Scope): Promise<Set<string>> {
  const ids = new Set<string>();
  let before: number | undefined;
  do {
    const page = await store.log(scope, { ...(before === undefined ? {} : { before }), limit: LOG_PAGE });
    for (const { cause, messages, memories } of page) {
      const isImported = cause === "import" && messages.length === 0;
      if (!isImported && cause !== "add" && cause !== "update" && cause !== "optimize") continue;
      for (const { id } of memories) ids.add(id);
    }
    before = page.length < LOG_PAGE ? undefined : page.at(-1)?.revision;
    await yieldToEventLoop();
  } while (before !== undefined);
  return ids;
}

async function refuseChanged({ store }: Pick<Ports, "store">, scope: Scope, revision: number): Promise<void> {
  if ((await store.revision(scope)) === revision) return;
  throw new MemoryError("conflict", "the memory changed during the replay. Run it again.");
}

interface ReplayInput {
  readonly tools: ReplayTools;
  readonly told: readonly Message[];
  readonly extractors: Extractors;
  /** Memories that expired by then are left out (ISO 8601). */
  readonly now: string;
}

/** Tells messages to an empty store in memory, and gives the memories that come of it. */
async function tellMessages(
  ports: Ports,
  scope: Scope,
  { tools, told, extractors, now }: ReplayInput,
  options: ReplayOptions,
): Promise<ComparedMemory[]> {
  const time = { now: new Date(0) };
  const own = createReplayPorts(ports, tools.openStore(), extractors, () => time.now);
  try {
    await tellWrites(own, scope, { told, time }, options);
    return await listCompared((await own.states.of(scope)).memories.values(), now, NOTHING_EDITED);
  } finally {
    await own.states.close();
    await own.store.close();
  }
}

/** Tells each write at its time. A model reads after a pause, or when some messages wait. */
async function tellWrites(
  own: Ports,
  scope: Scope,
  { told, time }: { readonly told: readonly Message[]; readonly time: { now: Date } },
  { signal, onProgress }: ReplayOptions,
): Promise<void> {
  const { lingerMs = 0 } = own.modelExtractor ?? {};
  const batches = splitIntoWrites(told);
  let done = 0;
  let waiting = 0;
  for (const [i, batch] of batches.entries()) {
    signal?.throwIfAborted();
    time.now = timeOf(batch);
    await tellWrite(own, scope, batch, signal);
    done += batch.length;
    waiting += batch.length;
    const next = batches[i + 1];
    const hasPause = !next || timeOf(next).getTime() - time.now.getTime() >= lingerMs;
    if (own.modelExtractor && (hasPause || waiting >= MODEL_BATCH)) {
      await extractPending(own, scope, signal);
      waiting = 0;
    }
    onProgress?.(done, told.length);
    await yieldToEventLoop();
  }
}

const timeOf = ([first]: readonly Message[]): Date => new Date(first?.storedAt ?? 0);

/** Messages that were stored at once, and are told at once. */
function splitIntoWrites(messages: readonly Message[]): Message[][] {
  const batches: Message[][] = [];
  for (const message of messages) {
    const batch = batches.at(-1);
    const [first] = batch ?? [];
    if (batch && first && batch.length < MAX_BATCH && isOfWrite(message, first)) batch.push(message);
    else batches.push([message]);
  }
  return batches;
}

function isOfWrite(one: Message, first: Message): boolean {
  const isNever = ({ digest }: Message): boolean => digest === "never";
  const isImported = ({ origin }: Message): boolean => origin === "import";
  return (
    one.storedAt === first.storedAt &&
    one.agent === first.agent &&
    one.mayErase === first.mayErase &&
    isNever(one) === isNever(first) &&
    isImported(one) === isImported(first)
  );
}

async function tellWrite(
  own: Ports,
  { project, user }: Scope,
  batch: readonly Message[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const [first] = batch;
  if (!first) return;
  await remember(
    own,
    { project, user, ...(first.agent === undefined ? {} : { agent: first.agent }) },
    batch.map(toInput),
    {
      ...(first.digest === "never" ? { extract: "never" as const } : {}),
      ...(first.origin === "import" ? { origin: "import" as const } : {}),
      ...(first.mayErase === false ? { mayErase: false } : {}),
      ...(signal ? { signal } : {}),
    },
  );
}

function toInput({ id, role, content, name, session, at, zone, metadata }: Message): InputMessage {
  return {
    id,
    role,
    content,
    at: toLocalTime(at, zone),
    ...(name === undefined ? {} : { name }),
    ...(session === undefined ? {} : { session }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Ports on an empty store. They share no place with those of the user: nothing is embedded, counted, or sent anywhere. */
function createReplayPorts(
  ports: Ports,
  store: MemoryStore,
  { extractor, modelExtractor }: Extractors,
  clock: () => Date,
): Ports {
  const { questions, answerer, outdated, needs, profileWriter, forgetRequests } = ports;
  const { promptGuard, vocabulary, secret, redact, expiry, agents } = ports;
  const embedder = { ...ports.embedder, local: false };
  let count = 0;
  return {
    store,
    embedder,
    states: createUserStates(store, embedder, { bytes: () => Number.POSITIVE_INFINITY }),
    extractor: withoutErasures(extractor),
    ...(modelExtractor ? { modelExtractor: withoutErasures(modelExtractor) } : {}),
    questions,
    answerer,
    outdated,
    needs,
    profileWriter,
    forgetRequests,
    promptGuard,
    vocabulary,
    secret,
    ...(redact === undefined ? {} : { redact }),
    ...(expiry === undefined ? {} : { expiry }),
    ...(agents === undefined ? {} : { agents }),
    clock,
    // Counted, so that two replays are equal to the last id.
    ids() {
      count += 1;
      return `replay-${String(count).padStart(9, "0")}`;
    },
  };
}

/**
 * An extractor that carries out no request to forget. What was erased is in no stored message, and the words that are left
 * of a request may mean something else. A request for later is kept as the commitment that it is.
 */
function withoutErasures(extractor: Extractor): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const proposals = await extractor.propose(reading, options);
      return proposals.filter((one) => one.propose !== "erase" || isDelayed(one));
    },
  };
}
