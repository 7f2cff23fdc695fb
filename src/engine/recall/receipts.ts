import {
  type Explanation,
  type Item,
  MAX_RECALL_RECEIPTS,
  type RecallBounds,
  type RecalledItem,
  type RecallReceipt,
  type Reranking,
  type ScoreParts,
  type Why,
} from "../../domain/recall.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { extractTerms, splitWords } from "../../domain/search/search-terms.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { MemoryStore, NewRecallReceipts } from "../../ports/memory-store.ts";
import type { RecallReceiptStore } from "../services.ts";
import type { ParsedRecallOptions } from "./options.ts";
import type { DroppedUnit, RankedUnit, RankingResult, ScoreBasis } from "./rank.ts";
import { createRelevanceExplainer, explainRelevance, explainScore, type RankingProfile } from "./scoring.ts";
import { computeThreshold, type SearchResult } from "./search.ts";

/** Receipts are written this long after the first pending one, or when this many are pending. */
const FLUSH_DELAY_MS = 250;
const MAX_WAITING = 100;

/** A receipt that is not computed yet, and the notes added since. */
interface PendingReceipt {
  readonly id: string;
  readonly create: () => RecallReceipt;
  additions: Partial<RecallReceipt>;
}

interface UserReceipts {
  readonly scope: Scope;
  readonly receipts: PendingReceipt[];
}

async function computeReceipts(batch: readonly UserReceipts[]): Promise<NewRecallReceipts[]> {
  const computed: NewRecallReceipts[] = [];
  for (const { scope, receipts } of batch) {
    computed.push({ scope, receipts: receipts.map(toReceipt) });
    // Each receipt takes a moment to compute and nothing above awaits, so yield to other work.
    await yieldToEventLoop();
  }
  return computed;
}

export function createRecallReceiptStore(store: Pick<MemoryStore, "recallReceipts">): RecallReceiptStore {
  const waiting = new Map<string, UserReceipts>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const batch = [...waiting.values()];
    waiting.clear();
    count = 0;
    if (batch.length === 0) return;
    const computed = await computeReceipts(batch);
    // A failed write costs an explanation; the recall itself succeeds.
    await store.recallReceipts.save(computed).catch(() => {});
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  const pendingOf = (scope: Scope): readonly PendingReceipt[] =>
    waiting.get(toScopeKey(scope))?.receipts ?? [];
  const wait = (scope: Scope, receipt: PendingReceipt): void => {
    const key = toScopeKey(scope);
    const queue = waiting.get(key) ?? { scope, receipts: [] };
    queue.receipts.push(receipt);
    waiting.set(key, queue);
    count += 1;
    if (count >= MAX_WAITING) void flush();
    else if (!timer) {
      timer = setTimeout(() => void flush(), FLUSH_DELAY_MS);
      timer.unref();
    }
  };
  /** A model takes longer than a receipt waits, so its usage belongs to a receipt already written. */
  const noteWritten = async (scope: Scope, id: string, more: Partial<RecallReceipt>): Promise<void> => {
    const [stored] = await store.recallReceipts.list(scope, { id, limit: 1 }).catch(() => []);
    const one = pendingOf(scope).findLast((receipt) => receipt.id === id);
    if (one) one.additions = { ...one.additions, ...more };
    else if (stored) wait(scope, { id, create: () => stored, additions: more });
  };

  return {
    keep(scope, id, make) {
      const createOnce = memoize(make);
      // Computed soon, because its inputs are larger than the receipt, and a heap full of them is collected
      // slowly.
      setImmediate(createOnce).unref();
      wait(scope, { id, create: createOnce, additions: {} });
    },
    note(scope, id, more) {
      const one = pendingOf(scope).findLast((receipt) => receipt.id === id);
      if (one) one.additions = { ...one.additions, ...more };
      else writing = writing.then(() => noteWritten(scope, id, more));
    },
    async find(scope, id) {
      await writing;
      const fresh = pendingOf(scope).findLast((receipt) => receipt.id === id);
      if (fresh) return toReceipt(fresh);
      return (await store.recallReceipts.list(scope, { id, limit: 1 }))[0];
    },
    async lastAnswer(scope, session) {
      const isMeant = ({ kind, session: itsSession }: Partial<RecallReceipt>): boolean =>
        kind === "answer" && (session === undefined || itsSession === session);
      await writing;
      const fresh = pendingOf(scope).findLast((one) => isMeant(toReceipt(one)));
      if (fresh) return toReceipt(fresh);
      return (await store.recallReceipts.list(scope, { limit: MAX_RECALL_RECEIPTS })).find(isMeant);
    },
    clear(scope) {
      count -= pendingOf(scope).length;
      waiting.delete(toScopeKey(scope));
      writing = writing.then(() => store.recallReceipts.clear(scope)).catch(() => {});
      return writing;
    },
    flush,
  };
}

/** Computes the value once and releases its inputs. */
function memoize<Value>(work: () => Value): () => Value {
  let rest: (() => Value) | undefined = work;
  let value: Value;
  return () => {
    if (rest) {
      value = rest();
      rest = undefined;
    }
    return value;
  };
}

function toReceipt({ create: make, additions: more }: PendingReceipt): RecallReceipt {
  return { ...make(), ...more };
}

/** The signal that each retriever ranks by. */
const RETRIEVER_SIGNALS = { words: "words", vectors: "near", claims: "claim", time: "time" } as const;
/** Number of excluded units in a receipt. */
export const MAX_RECEIPT_DROPPED = 20;

/**
 * Creates the receipt of a recall. Values from the scratch are computed while it is lent, since a copy would
 * take as long. The rest is computed on demand, so that the recall does not wait.
 */
export function createRecallReceipt(
  of: { readonly id: string; readonly revision: number; readonly wanted: ParsedRecallOptions },
  { chosen, considered, dropped }: RankingResult,
  found: SearchResult,
): () => RecallReceipt {
  const partsOf = createRelevanceExplainer(found.signals, found.weights, found.places);
  const parts = chosen.map(({ slot }) => partsOf(slot));
  const places = Object.entries(RETRIEVER_SIGNALS).map(([retriever, signal]) => {
    const column = found.signals.columns[signal];
    const scores = chosen.map(({ slot }) => column[slot] ?? 0);
    return { retriever, places: rankInRetriever(column, found.slots, scores) };
  });
  // Little is retained until then; the garbage collector would have to move more.
  const droppedUnits = selectDropped(dropped);
  const items = chosen.map(({ id, type, score, status, basis }) => ({ id, type, score, status, basis }));
  return () => {
    const { wanted } = of;
    return {
      id: of.id,
      at: wanted.filters.now,
      kind: "recall",
      revision: of.revision,
      ...(wanted.filters.session === undefined ? {} : { session: wanted.filters.session }),
      bounds: toRecallBounds(wanted),
      profile: wanted.profile.name,
      considered,
      threshold: roundScore(computeThreshold(considered)),
      items: items.map(({ basis, ...item }, i) => ({
        ...item,
        score: roundScore(item.score),
        ...roundScoreParts(explainBasis(wanted.profile, basis)),
        arms: Object.fromEntries(
          places.flatMap(({ retriever, places: placesInRetriever }) =>
            placesInRetriever[i] ? [[retriever, placesInRetriever[i]] as const] : [],
          ),
        ),
        parts: roundAll(parts[i] ?? {}),
      })),
      dropped: droppedUnits.map((one) => ({ ...one, score: roundScore(one.score) })),
    };
  };
}

/** Scored units come before those that the filters excluded. */
function selectDropped(dropped: RankingResult["dropped"]): RankingResult["dropped"] {
  const weighed: DroppedUnit[] = [];
  const left: DroppedUnit[] = [];
  for (const one of dropped) {
    if (weighed.length >= MAX_RECEIPT_DROPPED) break;
    if (one.score > 0) weighed.push(one);
    else if (left.length < MAX_RECEIPT_DROPPED) left.push(one);
  }
  return [...weighed, ...left].slice(0, MAX_RECEIPT_DROPPED);
}

function toRecallBounds({ limit, minScore, weights, filters: bounds }: ParsedRecallOptions): RecallBounds {
  const { asOf, knownAt, session, agent, kinds, types, where, whereText } = bounds;
  return {
    limit,
    minScore,
    ...(asOf === undefined ? {} : { asOf }),
    ...(knownAt === undefined ? {} : { knownAt }),
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(kinds ? { kinds: [...kinds] } : {}),
    ...(types ? { types: [...types] } : {}),
    ...(where ? { where: true } : {}),
    ...(whereText ? { whereText: true } : {}),
    ...(weights ? { weights } : {}),
  };
}

/** Up to this many units, a rank counts all units; above it, only the scored ones. */
const MAX_EXACT_RANK = 16_384;

/** The rank and score of each chosen unit in one retriever, in a single pass over its column. */
function rankInRetriever(
  column: Float32Array,
  slots: Int32Array,
  scores: readonly number[],
): (RecalledItem["arms"][string] | undefined)[] {
  const found = sortScores(scores);
  const [least] = found;
  if (!least) return [];
  const above = new Uint32Array(found.length + 1);
  const bars = new Float64Array(found.length);
  for (const [i, { score }] of found.entries()) bars[i] = score;
  const bar = least.score;
  const isWhole = column.length <= MAX_EXACT_RANK;
  const length = isWhole ? column.length : slots.length;
  for (let i = 0; i < length; i += 1) {
    const value = column[isWhole ? i : (slots[i] as number)] as number;
    if (value <= bar) continue;
    let place = 1;
    while (place < bars.length && value > (bars[place] as number)) place += 1;
    above[place] = (above[place] as number) + 1;
  }
  const places: (RecalledItem["arms"][string] | undefined)[] = [];
  for (let place = found.length - 1, higher = 0; place >= 0; place -= 1) {
    higher += above[place + 1] as number;
    const one = found[place];
    if (one) places[one.i] = { rank: higher + 1, score: roundScore(one.score) };
  }
  return places;
}

interface IndexedScore {
  readonly i: number;
  readonly score: number;
}

/** The nonzero scores with their indexes. */
function sortScores(scores: readonly number[]): IndexedScore[] {
  const indexed: IndexedScore[] = [];
  for (const [i, score] of scores.entries()) if (score > 0) indexed.push({ i, score });
  return indexed.sort(compareScores);
}

function compareScores(one: IndexedScore, other: IndexedScore): number {
  return one.score - other.score;
}

function roundScoreParts({ adds, factors }: ScoreParts): ScoreParts {
  return adds && factors ? { adds: roundAll(adds), factors: roundAll(factors) } : {};
}

/** How the score of a unit came about; nothing for a context, which ranks in its own way. */
function explainBasis(profile: RankingProfile, basis: ScoreBasis | undefined): ScoreParts {
  if (!basis) return {};
  const { relevance, qualities, base, score, ...weighed } = basis;
  const { adds, factors } = explainScore(profile, relevance, qualities);
  return { adds, factors: { ...factors, ...weighed, distinctness: base > 0 ? score / base : 1 } };
}

/** An item that updates a less recent one takes its place, and its score. */
function explainRaised(parts: ScoreParts, score: number, basis: ScoreBasis | undefined): ScoreParts {
  if (!basis || score === basis.score || basis.score === 0) return parts;
  return { ...parts, factors: { ...parts.factors, update: score / basis.score } };
}

function roundAll(parts: Readonly<Record<string, number>>): Record<string, number> {
  const added: Record<string, number> = {};
  for (const [part, value] of Object.entries(parts)) added[part] = roundScore(value);
  return added;
}

/** Four decimal places: precise enough, and short to store. */
export function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** The signal that each retriever ranks by. */
const EXPLAINED_RETRIEVERS = { words: "words", vectors: "near", claims: "claim" } as const;
/** Number of excluded units in an explanation. */
const MAX_EXPLAINED_DROPPED = 100;

/**
 * The rank of each of some scores among all values: one more than the number of greater ones. Reads the values once, however many
 * scores there are.
 */
export function countRanks(
  values: ArrayLike<number>,
  scores: readonly number[],
): ReadonlyMap<number, number> {
  const sorted = Float64Array.from(new Set(scores)).sort();
  const least = sorted[0] ?? Number.POSITIVE_INFINITY;
  /** By position in `sorted`: how many values are greater than that score, and not greater than the next. */
  const above = new Uint32Array(sorted.length);
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as number;
    if (value <= least) continue;
    const place = countBelow(sorted, value) - 1;
    above[place] = (above[place] as number) + 1;
  }
  const ranks = new Map<number, number>();
  let rank = 1;
  for (let at = sorted.length - 1; at >= 0; at -= 1) {
    rank += above[at] as number;
    ranks.set(sorted[at] as number, rank);
  }
  return ranks;
}

/** How many of some sorted numbers are below a value. */
function countBelow(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Explains items: their ranks in each retriever, the contribution of each signal, and the words that they share with the
 * query.
 */
export function explainItems(
  { query, profile }: Pick<ParsedRecallOptions, "query" | "profile">,
  found: SearchResult,
  placed: readonly { readonly unit: RankedUnit; readonly item: Item }[],
): Why[] {
  const retrievers = Object.entries(EXPLAINED_RETRIEVERS).map(([name, signal]) => {
    const column = found.signals.columns[signal];
    const scores = placed.map(({ unit }) => column[unit.slot] ?? 0).filter((score) => score > 0);
    return { name, column, ranks: countRanks(column, scores) };
  });
  const words = [...new Set(splitWords(query))].map((word) => ({ word, terms: extractTerms(word) }));
  return placed.map(({ unit: { slot, basis }, item }) => {
    const arms: Record<string, { rank: number; score: number }> = {};
    for (const { name, column, ranks } of retrievers) {
      const score = column[slot] ?? 0;
      const rank = ranks.get(score);
      if (rank !== undefined) arms[name] = { rank, score };
    }
    // A passage is also found by its speaker.
    const speaker = item.type === "passage" ? (item.sources[0]?.name ?? "") : "";
    const itemTerms = new Set(extractTerms(`${speaker} ${item.text}`));
    return {
      arms,
      parts: explainRelevance(found.signals, found.weights, found.places, slot),
      ...explainRaised(explainBasis(profile, basis), item.score, basis),
      words: words.filter(({ terms }) => terms.some((term) => itemTerms.has(term))).map(({ word }) => word),
    };
  });
}

export function explainRecall(
  ranked: RankingResult,
  wanted: ParsedRecallOptions,
  reranked?: { readonly reranking: Reranking; readonly dropped: RankingResult["dropped"] },
): Explanation {
  const dropped = [...(reranked?.dropped ?? []), ...ranked.dropped];
  return {
    query: wanted.query,
    profile: wanted.profile.name,
    considered: ranked.considered,
    threshold: computeThreshold(ranked.considered),
    ...(reranked ? { reranking: reranked.reranking } : {}),
    dropped: dropped.slice(0, MAX_EXPLAINED_DROPPED),
  };
}
