import { listFilteredMetadata, matchesFilter } from "../../domain/filters/metadata-filter.ts";
import type { Memory, MemoryUsage } from "../../domain/memory.ts";
import type { Item, Recall, RecallOptions, RecallReceipt, Why } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Question } from "../../ports/language/question-reader.ts";
import type { ContextDemand, RecallRequest, RecallResponse } from "../../ports/recall-worker.ts";
import type { Ports } from "../ports.ts";
import { addMemoryRow, createMemoryTable, putMemory } from "../search-index/memory-table.ts";
import { type SearchIndex, unitIdAt } from "../search-index/search-index.ts";
import { getSharedQueryVector } from "../secondary-stores/shared-cache.ts";
import { findGrantedUnits, findSharedItems, mergeItems } from "../sharing/shared-items.ts";
import { type PackedContext, packContext } from "./context.ts";
import { type ItemBodies, insertSuccessors, loadItems, prefetchBodies } from "./items.ts";
import { findMatchingSlots, findMatchingUnits } from "./matching-units.ts";
import { findNearest, yieldToPendingWork } from "./nearest.ts";
import {
  DEFAULT_LIMIT,
  DEFAULT_MAX_TOKENS,
  type ParsedRecallOptions,
  parseRecallOptions,
  toIndexFilters,
} from "./options.ts";
import {
  orderNewerFirst,
  type PlacedItem,
  type RankingInput,
  type RankingResult,
  rankUnits,
} from "./rank.ts";
import { type ContextRanking, rankForContext } from "./rank-for-context.ts";
import { createRecallReceipt, explainItems, explainRecall } from "./receipts.ts";
import { countToRank, rerankItems, withReranking } from "./rerank.ts";
import { type Scratch, withScratch } from "./retrievers/signals.ts";
import type { QuerySimilarity } from "./retrievers/vector-retriever.ts";
import { needsUsage } from "./scoring.ts";
import { type SearchResult, search, searchByText, type TextSearchResult } from "./search.ts";

/** Characters. */
const MAX_QUERY_LENGTH = 4000;

/** Recalls in progress in this process. */
let activeRecalls = 0;

type RecallPorts = LocalRecallPorts &
  Pick<Ports, "clock" | "ids" | "recalls"> &
  Partial<Pick<Ports, "cache" | "secret" | "recallWorker" | "usage" | "ranking">>;

/** The ports that a local recall needs. */
type LocalRecallPorts = Pick<
  Ports,
  | "store"
  | "states"
  | "embedder"
  | "questions"
  | "meter"
  | "decayDays"
  | "indexSync"
  | "promptGuard"
  | "vocabulary"
  | "replies"
  | "reranker"
  | "reranking"
>;

/**
 * Finds what a user's memory holds on a query: memories and passages, best first, and as text for a prompt.
 * Gives nothing if nothing is relevant. Only reads. Throws `invalid_input` for a wrong query or a wrong or
 * unknown option.
 */
export async function recall(
  ports: RecallPorts,
  scope: Scope,
  query: string,
  options: RecallOptions = {},
): Promise<Recall> {
  const { recall: own, shared } = await recallFor(ports, scope, query, options);
  return addShared(ports, own, shared, options);
}

/** The recall with the items of other users among its own. */
export function addShared(
  { promptGuard }: Pick<Ports, "promptGuard">,
  own: Recall,
  shared: readonly Item[],
  { limit = DEFAULT_LIMIT, maxTokens = DEFAULT_MAX_TOKENS }: Pick<RecallOptions, "limit" | "maxTokens">,
): Recall {
  if (shared.length === 0) return own;
  const { id, explanation } = own;
  const items = mergeItems(own, shared, limit);
  const plain = { id, abstained: items.length === 0, items, ...(explanation ? { explanation } : {}) };
  return withLazyContext(plain, () => packContext(items, maxTokens, promptGuard));
}

/** What was recalled for a context: the items, and which of the words around them hold. */
interface ContextRecall {
  readonly recall: Recall;
  readonly spans: NonNullable<RecallResponse["spans"]>;
  /** What other users share, best first; not among the items of the recall. */
  readonly shared: readonly Item[];
}

/**
 * Recalls, with a receipt like every recall. With a demand, it recalls all current units that a context may contain. In a small
 * memory, it then applies no threshold.
 */
export async function recallFor(
  ports: RecallPorts,
  scope: Scope,
  query: string,
  { signal, record = true, ...given }: RecallOptions,
  findDemand?: (vector: Float32Array | undefined) => Promise<ContextDemand>,
): Promise<ContextRecall> {
  signal?.throwIfAborted();
  const from = performance.now();
  const now = ports.clock().toISOString();
  // A context ranks in its own way.
  const isRanked = findDemand !== undefined || given.profile !== undefined || given.weights !== undefined;
  const options = isRanked ? given : { ...given, ...ports.ranking };
  const wanted = parseRecallOptions(scope, query, options, { now, decayDays: ports.decayDays });
  const call = { scope, ...(signal ? { signal } : {}) };
  const vector = await getSharedQueryVector(ports, scope, excerptOf(query), call);
  const id = ports.ids();
  const demand = await findDemand?.(vector);
  const uses = needsUsage(wanted.profile) ? await readUses(ports, scope) : undefined;
  const request = {
    scope,
    query,
    options,
    vector,
    id,
    now,
    ...(uses ? { uses } : {}),
    ...(demand ? { demand } : {}),
  };
  const [{ recall: recalled, receipt, spans = {} }, shared] = await Promise.all([
    recallAnywhere(ports, request, call),
    wanted.isShared ? recallShared(ports, request, call) : [],
  ]);
  signal?.throwIfAborted();
  if (record) keepReceipt(ports, scope, id, { receipt, shared });
  // A context notes what went into it.
  if (record && !demand) ports.usage?.note(scope, listMemoryIds(recalled.items), now);
  ports.meter?.observe("memory_retrieval_duration_ms", performance.now() - from);
  return { recall: recalled, spans, shared };
}

/** Stores a receipt, which says only how many items other users shared. */
function keepReceipt(
  { recalls }: Pick<RecallPorts, "recalls">,
  scope: Scope,
  id: string,
  { receipt, shared }: { readonly receipt: () => RecallReceipt; readonly shared: readonly Item[] },
): void {
  recalls?.keep(scope, id, shared.length === 0 ? receipt : () => ({ ...receipt(), shared: shared.length }));
}

/** Runs a recall in a worker, or here if there is none or it cannot. */
async function recallAnywhere(
  ports: RecallPorts,
  request: RecallRequest,
  call: RecallTask["call"],
): Promise<RecallOutcome> {
  const back = await ports.recallWorker?.recall(request, call);
  if (back) return { ...back, receipt: () => back.receipt };
  const { scope, query, options, now } = request;
  const wanted = parseRecallOptions(scope, query, options, { now, decayDays: ports.decayDays });
  return recallLocally(ports, { request, options: wanted, call });
}

/** What other users share on the query. It is found in their memory as in the user's own, among what they granted. */
function recallShared(
  ports: RecallPorts,
  request: RecallRequest,
  call: RecallTask["call"],
): Promise<readonly Item[]> {
  const { scope, demand: _demand, uses: _uses, ...asked } = request;
  return findSharedItems(ports, scope, async (owner, grants) => {
    const granted = grants.map(({ what }) => what);
    const found = await recallAnywhere(ports, { ...asked, scope: owner, granted }, { ...call, scope: owner });
    return found.recall.items.filter(({ status }) => status === "current");
  });
}

async function readUses(
  { usage }: Pick<RecallPorts, "usage">,
  scope: Scope,
): Promise<{ readonly [id: string]: number }> {
  const uses = (await usage?.read(scope).catch(() => undefined)) ?? new Map<string, MemoryUsage>();
  return Object.fromEntries([...uses].map(([id, { count }]) => [id, count]));
}

/** The ids of the memories among items. */
export function listMemoryIds(items: readonly Item[]): string[] {
  return items.flatMap(({ id, type }) => (type === "memory" ? [id] : []));
}

/**
 * Executes a recall that another thread requested. Computes everything, because the result goes back as a
 * copy.
 */
export async function executeRecallRequest(
  ports: LocalRecallPorts,
  request: RecallRequest,
): Promise<RecallResponse> {
  const { scope, query, options, now } = request;
  const wanted = parseRecallOptions(scope, query, options, { now, decayDays: ports.decayDays });
  const {
    recall: recalled,
    receipt,
    spans,
  } = await recallLocally(ports, { request, options: wanted, call: { scope } });
  return { recall: { ...recalled }, receipt: receipt(), ...(spans ? { spans } : {}) };
}

interface RecallTask {
  readonly request: RecallRequest;
  readonly options: ParsedRecallOptions;
  readonly call: CallOptions;
}

interface RecallOutcome {
  readonly recall: Recall;
  /** Computed on demand, so that no recall waits for it. */
  readonly receipt: () => RecallReceipt;
  readonly spans?: RecallResponse["spans"];
}

async function recallLocally(ports: LocalRecallPorts, asking: RecallTask): Promise<RecallOutcome> {
  activeRecalls += 1;
  try {
    return await withScratch((scratch) => recallWith(ports, asking, scratch));
  } finally {
    activeRecalls -= 1;
  }
}

async function recallWith(
  ports: LocalRecallPorts,
  task: RecallTask,
  scratch: Scratch,
): Promise<RecallOutcome> {
  const { request, options, call } = task;
  const { scope, vector, demand } = request;
  const toRank = demand ? options : { ...options, limit: countToRank(ports, options.limit) };
  const { vocabulary } = ports;
  const { filters: bounds } = options;
  const text = excerptOf(request.query);
  const versions = bounds.knownAt === undefined ? undefined : await ports.store.versions(scope);
  const known = versions && selectKnownAt(versions, bounds.knownAt ?? "");
  const content = await createContentFilter(ports, request, bounds, known);
  const span = readTimeSpan(ports, text, bounds.asOf ?? bounds.now);
  const ranking = (state: TextSearchState, near: QuerySimilarity | undefined): RankedSearch => {
    const { searchIndex, texts, filters, facts } = state;
    const found = search(searchIndex, scratch, texts, { near, floor: ports.embedder.floor });
    const input = { searchIndex, search: found, options: toRank, filters, facts, uses: request.uses };
    return { search: found, ranking: demand ? rankForContext(input, scratch, demand) : rankUnits(input) };
  };
  let ahead: Promise<ItemBodies | undefined> | undefined;
  const { near, meanwhile, isGone } = await findNearest<TextSearchState>(ports, {
    scope,
    vector,
    scratch,
    call,
    meanwhile(now, near) {
      // Text read for an older index may be older than this one.
      ahead = undefined;
      const searchIndex = known ? toIndexAsKnown(now, known) : now;
      return {
        searchIndex,
        texts: searchByText(
          searchIndex,
          scratch,
          { query: text, span, near, vocabulary, only: content.findSlots(searchIndex) },
          options.profile,
        ),
        filters: toIndexFilters(searchIndex, bounds, content.createTest(searchIndex)),
        facts: new Map(),
      };
    },
    ahead(now, likely, searched) {
      // Ranking ahead means ranking twice, which takes processor time from other recalls.
      if (known || activeRecalls > 1 || ports.states.peekTexts(scope, now.revision)) return;
      const { chosen } = ranking(searched, likely).ranking;
      // The next reader reports a read error.
      ahead = prefetchBodies(ports.store, scope, now, chosen).catch(() => undefined);
    },
  });
  const { searchIndex, filters } = meanwhile;
  const { search: found, ranking: best } = ranking(meanwhile, near);
  // A unit that is gone shows that the cache is older than the store.
  const texts = isGone ? undefined : ports.states.peekTexts(scope, searchIndex.revision);
  // The store omits damaged rows; the cache still has them, for erasures.
  const held = texts?.damaged.size === 0 ? texts : undefined;
  const ending = { searchIndex, filters, limit: toRank.limit, memories: known ?? held?.memories };
  // A context holds only what is current; successors are among it.
  const chosen = demand ? best.chosen : await insertSuccessors(ports.store, scope, ending, best.chosen);
  const bodies = { memories: known, ahead: isGone ? undefined : ahead, held };
  const ranked = { ...best, chosen };
  return finishRecall(ports, task, { searchIndex, search: found, ranked, spans: best.spans, bodies });
}

/** What the search of a recall found. */
interface FinishInput extends Pick<RankedSearch, "search"> {
  readonly searchIndex: SearchIndex;
  readonly ranked: RankingResult;
  readonly spans: RecallResponse["spans"];
  readonly bodies: Parameters<typeof loadItems>[4];
}

/** Loads, orders and explains what was found. The index and the scratch may change at each wait for a reranker. */
async function finishRecall(
  ports: LocalRecallPorts,
  { request, options, call }: RecallTask,
  { searchIndex, search: found, ranked, spans, bodies }: FinishInput,
): Promise<RecallOutcome> {
  const { scope, id, demand } = request;
  const { revision } = searchIndex;
  const text = excerptOf(request.query);
  const reading = loadItems(ports.store, scope, searchIndex, ranked.chosen, bodies);
  const noting = yieldToPendingWork().then(() =>
    createRecallReceipt({ id, revision, wanted: options }, ranked, found),
  );
  const [{ placed, successors }, createReceipt] = await Promise.all([reading, noting]);
  const isReordered = options.profile.isNewestFirst && !demand;
  const newestFirst = isReordered
    ? orderNewerFirst(searchIndex, text, placed, ports.vocabulary.phrases)
    : placed;
  const isExplained = request.options.explain === true;
  const ordered = isExplained ? explainPlaced(newestFirst, { options, search: found, text }) : newestFirst;
  const { reranker } = ports;
  const reranked =
    reranker && !demand
      ? await rerankItems({ ...ports, reranker }, { text, options, placed, ordered, successors }, call)
      : undefined;
  const final = reranked?.placed ?? ordered;
  const items = final.map(({ item }) => item);
  const places = final.map(({ unit }) => unit.position);
  const packed = (): PackedContext => packContext(items, options.maxTokens, ports.promptGuard, places);
  const recalled = {
    id,
    abstained: items.length === 0,
    items,
    ...(isExplained ? { explanation: explainRecall(ranked, options, reranked) } : {}),
  };
  const receipt = reranked ? () => withReranking(createReceipt(), reranked) : createReceipt;
  return { recall: withLazyContext(recalled, packed), receipt, spans };
}

/** The same items, each with why it was found. */
function explainPlaced(
  placed: readonly PlacedItem[],
  {
    options,
    search: found,
    text,
  }: {
    readonly options: ParsedRecallOptions;
    readonly search: SearchResult;
    readonly text: string;
  },
): PlacedItem[] {
  const reasons = explainItems({ query: text, profile: options.profile }, found, placed);
  return placed.map(({ item, unit }, i) => ({ item: { ...item, why: reasons[i] as Why }, unit }));
}

/** The period that a query names, if any. */
function readTimeSpan(
  { questions, vocabulary }: LocalRecallPorts,
  text: string,
  at: string,
): Pick<Question, "from" | "to"> {
  return vocabulary.phrases.mayNameTime(text) ? questions.read(text, { at, known: [] }) : {};
}

/** An index, what the retrievers without vectors found in it, and which units may be returned. */
interface TextSearchState extends Pick<RankingInput, "searchIndex" | "filters" | "facts"> {
  readonly texts: TextSearchResult;
}

interface RankedSearch {
  readonly search: SearchResult;
  readonly ranking: RankingResult & Partial<Pick<ContextRanking, "spans">>;
}

/** Node asks an object under this symbol how to print it. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/**
 * Computes the context of a recall on first read; a caller who builds the prompt from items never needs it.
 */
function withLazyContext(recall: Omit<Recall, "context" | "tokens">, pack: () => PackedContext): Recall {
  let packed: PackedContext | undefined;
  const once = (): PackedContext => {
    packed ??= pack();
    return packed;
  };
  const lazy = {
    ...recall,
    get context() {
      return once().text;
    },
    get tokens() {
      return once().tokens;
    },
  };
  // Without this, `console.log` prints "[Getter]" and "[Object]". Not enumerable, so that copies and JSON have values alone.
  return Object.defineProperty(lazy, INSPECT, {
    value: (_depth: number, options: object, inspect: (value: unknown, options: object) => string) =>
      inspect({ ...lazy }, { ...options, depth: Infinity }),
  });
}

/** The filters that need texts or metadata, which no index has. */
interface ContentFilter {
  /** The only slots to score, if a filter over texts lets few through. */
  findSlots(searchIndex: SearchIndex): Int32Array | undefined;
  /** The test of a unit, by slot; undefined if there is no such filter. */
  createTest(searchIndex: SearchIndex): ((slot: number) => boolean) | undefined;
}

/** Creates the filters over texts and metadata; `known` are the memories as known at another time. */
export async function createContentFilter(
  ports: Pick<Ports, "states">,
  { scope, granted: what }: Pick<RecallRequest, "scope" | "granted">,
  { where, whereText, now }: ParsedRecallOptions["filters"],
  known?: ReadonlyMap<string, Memory>,
): Promise<ContentFilter> {
  const hasMetadata = where && (await createMetadataFilter(ports, scope, where));
  const granted = what && (await findGrantedUnits(ports, scope, what, now));
  const withText = whereText && (await findMatchingUnits(ports, scope, whereText, known));
  const matching =
    withText && granted ? new Set([...withText].filter((id) => granted.has(id))) : (withText ?? granted);
  return {
    findSlots: (searchIndex) => matching && findMatchingSlots(searchIndex, matching),
    createTest: (searchIndex) =>
      hasMetadata || matching
        ? (slot) =>
            (!matching || matching.has(unitIdAt(searchIndex, slot))) &&
            (!hasMetadata || hasMetadata(searchIndex, slot))
        : undefined,
  };
}

/** Whether a filter accepts a unit. Only the store has metadata, so this reads all of the user's data. */
async function createMetadataFilter(
  ports: Pick<Ports, "states">,
  scope: Scope,
  where: NonNullable<ParsedRecallOptions["filters"]["where"]>,
): Promise<(searchIndex: SearchIndex, slot: number) => boolean> {
  const { messages, memories } = await ports.states.of(scope);
  const passing = new Set<string>();
  await forEachInSlices(
    messages.values(),
    ({ id, metadata }) => {
      if (matchesFilter(where, metadata ?? {})) passing.add(id);
    },
    FILTER_SLICE,
  );
  const ofMemory = ({ metadata, sources }: Memory): boolean => {
    // A memory's own metadata decides; without any, the metadata of its source messages does.
    const sourceIds = sources.map(({ message }) => message).filter((one) => messages.has(one));
    if (!metadata && sourceIds.length > 0) return sourceIds.some((one) => passing.has(one));
    const ofMessages = sourceIds.map((one) => messages.get(one)?.metadata);
    return listFilteredMetadata(metadata, ofMessages).some((one) => matchesFilter(where, one));
  };
  const accepted = new Set<string>();
  await forEachInSlices(
    memories.values(),
    (memory) => void (ofMemory(memory) && accepted.add(memory.id)),
    FILTER_SLICE,
  );
  return (searchIndex, slot) => {
    const id = unitIdAt(searchIndex, slot);
    if (memories.has(id)) return accepted.has(id);
    const message = id.slice(0, id.lastIndexOf("#"));
    return messages.has(message) ? passing.has(message) : matchesFilter(where, {});
  };
}

/** Units tested against a filter between two yields; the largest takes some microseconds each. */
const FILTER_SLICE = 50;

/** The searched text: of a long query the beginning and the end, where the question mostly is. */
function excerptOf(query: string): string {
  if (query.length <= MAX_QUERY_LENGTH) return query;
  const half = MAX_QUERY_LENGTH / 2;
  return `${query.slice(0, half)}\n${query.slice(-half)}`.toWellFormed();
}

/** The memories as known at a time (ISO 8601): the newest version of each that was stored by then. */
export function selectKnownAt(versions: readonly Memory[], at: string): ReadonlyMap<string, Memory> {
  const known = new Map<string, Memory>();
  for (const memory of versions) {
    const version = known.get(memory.id);
    if (memory.storedAt <= at && (!version || version.version < memory.version)) known.set(memory.id, memory);
  }
  return known;
}

/**
 * The index with its memories as known then; memories not yet known count as stored in the infinite future.
 */
function toIndexAsKnown(searchIndex: SearchIndex, known: ReadonlyMap<string, Memory>): SearchIndex {
  const memories = createMemoryTable();
  const sources = new Int32Array(searchIndex.turns.columns.sources.length).fill(-1);
  const turns = { ...searchIndex.turns, columns: { ...searchIndex.turns.columns, sources } };
  for (const id of searchIndex.memoryIds.all()) {
    const row = addMemoryRow(memories);
    const memory = known.get(id);
    if (memory) putMemory(memories, row, memory, { names: searchIndex.names, turns });
    else memories.columns.storedAt[row] = Number.POSITIVE_INFINITY;
  }
  return Object.create(searchIndex, {
    memories: { value: memories },
    turns: { value: turns },
  }) as SearchIndex;
}
