import {
  type Explanation,
  type Item,
  MAX_RECALL_RECEIPTS,
  type RecallBounds,
  type RecalledItem,
  type RecallReceipt,
  type Why,
} from "../../domain/recall.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { extractTerms, splitWords } from "../../domain/search/search-terms.ts";
import type { MemoryStore, NewRecallReceipts } from "../../ports/memory-store.ts";
import { yieldToEventLoop } from "../time-slicing.ts";
import type { ParsedRecallOptions } from "./options.ts";
import type { DroppedUnit, RankedUnit, RankingResult } from "./rank.ts";
import { createRelevanceExplainer, explainRelevance } from "./scoring.ts";
import { computeThreshold, type SearchResult } from "./search.ts";

/**
 * Keeps the receipts of recalls. They are written a moment later and many at a time, so that no recall waits for the
 * disk: what a crash cuts off in that moment is lost, and nothing but the explanation of those recalls with it.
 */
export interface RecallReceiptStore {
  keep(scope: Scope, id: string, make: () => RecallReceipt): void;
  /** What becomes known of a recall after it: what an answer used, and which message asked. */
  note(scope: Scope, id: string, more: Partial<RecallReceipt>): void;
  find(scope: Scope, id: string): Promise<RecallReceipt | undefined>;
  /** The newest answer in a session; of any session, where none is named. */
  lastAnswer(scope: Scope, session: string | undefined): Promise<RecallReceipt | undefined>;
  /** Writes what waits. */
  flush(): Promise<void>;
}

/** Written so long after the first that waits, or when so many do. */
const FLUSH_DELAY_MS = 250;
const MAX_WAITING = 100;

/** A receipt that is not worked out yet, and what has been noted of it since. */
interface PendingReceipt {
  readonly id: string;
  readonly create: () => RecallReceipt;
  additions: Partial<RecallReceipt>;
}

export function createRecallReceiptStore(
  record: Pick<MemoryStore, "saveRecallReceipts" | "recallReceipts">,
): RecallReceiptStore {
  const waiting = new Map<string, { readonly scope: Scope; readonly receipts: PendingReceipt[] }>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const batch = [...waiting.values()];
    waiting.clear();
    count = 0;
    if (batch.length === 0) return;
    const kept: NewRecallReceipts[] = [];
    for (const { scope, receipts } of batch) {
      kept.push({ scope, receipts: receipts.map(toReceipt) });
      // Each takes a moment to be worked out, and nothing above waits: others come in between.
      await yieldToEventLoop();
    }
    // A receipt that cannot be written is an explanation less; it is no fault of the recall.
    await record.saveRecallReceipts(kept).catch(() => {});
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  const held = (scope: Scope): readonly PendingReceipt[] => waiting.get(toScopeKey(scope))?.receipts ?? [];
  const wait = (scope: Scope, receipt: PendingReceipt): void => {
    const key = toScopeKey(scope);
    const own = waiting.get(key) ?? { scope, receipts: [] };
    own.receipts.push(receipt);
    waiting.set(key, own);
    count += 1;
    if (count >= MAX_WAITING) void flush();
    else if (!timer) {
      timer = setTimeout(() => void flush(), FLUSH_DELAY_MS);
      timer.unref();
    }
  };
  /** A model takes longer than a receipt waits: what it used becomes known of one that is written. */
  const noteWritten = async (scope: Scope, id: string, more: Partial<RecallReceipt>): Promise<void> => {
    const [kept] = await record.recallReceipts(scope, { id, limit: 1 }).catch(() => []);
    const one = held(scope).findLast((receipt) => receipt.id === id);
    if (one) one.additions = { ...one.additions, ...more };
    else if (kept) wait(scope, { id, create: () => kept, additions: more });
  };

  return {
    keep(scope, id, make) {
      const made = memoize(make);
      // Not kept until it is written: what it is worked out from is larger, and a heap full of that is collected slowly.
      setImmediate(made).unref();
      wait(scope, { id, create: made, additions: {} });
    },
    note(scope, id, more) {
      const one = held(scope).findLast((receipt) => receipt.id === id);
      if (one) one.additions = { ...one.additions, ...more };
      else writing = writing.then(() => noteWritten(scope, id, more));
    },
    async find(scope, id) {
      await writing;
      const fresh = held(scope).findLast((receipt) => receipt.id === id);
      if (fresh) return toReceipt(fresh);
      return (await record.recallReceipts(scope, { id, limit: 1 }))[0];
    },
    async lastAnswer(scope, session) {
      const isMeant = ({ kind, session: own }: Partial<RecallReceipt>): boolean =>
        kind === "answer" && (session === undefined || own === session);
      await writing;
      const fresh = held(scope).findLast((one) => isMeant(toReceipt(one)));
      if (fresh) return toReceipt(fresh);
      return (await record.recallReceipts(scope, { limit: MAX_RECALL_RECEIPTS })).find(isMeant);
    },
    flush,
  };
}

/** Works it out once, and lets go of what it was worked out from. */
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

/** Which signal each arm ranks by. */
const RETRIEVER_SIGNALS = { words: "words", vectors: "near", claims: "claim", time: "time" } as const;
/** How many of those left out are kept. */
const MAX_RECEIPT_DROPPED = 20;

/**
 * The receipt of a recall. What hangs on the scratch is worked out while it is still lent, for to copy it would take as long; the
 * rest when the receipt is asked for, so that the recall does not wait for it.
 */
export function createRecallReceipt(
  of: { readonly id: string; readonly revision: number; readonly wanted: ParsedRecallOptions },
  { chosen, considered, dropped }: RankingResult,
  found: SearchResult,
): () => RecallReceipt {
  const partsOf = createRelevanceExplainer(found.signals, found.weights, found.places);
  const parts = chosen.map(({ slot }) => partsOf(slot));
  const places = Object.entries(RETRIEVER_SIGNALS).map(([arm, signal]) => {
    const column = found.signals.columns[signal];
    const scores = chosen.map(({ slot }) => column[slot] ?? 0);
    return { arm, places: rankInRetriever(column, found.slots, scores) };
  });
  // What is held on to until then is little: the collector would move the rest about.
  const left = selectDropped(dropped);
  const items = chosen.map(({ id, type, score, status }) => ({ id, type, score, status }));
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
      items: items.map((item, i) => ({
        ...item,
        score: roundScore(item.score),
        arms: Object.fromEntries(
          places.flatMap(({ arm, places: own }) => (own[i] ? [[arm, own[i]] as const] : [])),
        ),
        parts: roundAll(parts[i] ?? {}),
      })),
      dropped: left.map((one) => ({ ...one, score: roundScore(one.score) })),
    };
  };
}

/** What was weighed comes before what the bounds left out. */
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

function toRecallBounds({ limit, minScore, filters: bounds }: ParsedRecallOptions): RecallBounds {
  const { asOf, knownAt, session, agent, kinds, types, where } = bounds;
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
  };
}

/** Up to so many units, a rank counts all of them; of more, those that were weighed. */
const MAX_EXACT_RANK = 16_384;

/** The rank and score of each of the chosen in one arm, in a single walk along its column. */
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

/** The scores that are something, and whose they are. */
function sortScores(scores: readonly number[]): IndexedScore[] {
  const found: IndexedScore[] = [];
  for (const [i, score] of scores.entries()) if (score > 0) found.push({ i, score });
  return found.sort(compareScores);
}

function compareScores(one: IndexedScore, other: IndexedScore): number {
  return one.score - other.score;
}

function roundAll(parts: Readonly<Record<string, number>>): Record<string, number> {
  const kept: Record<string, number> = {};
  for (const [part, value] of Object.entries(parts)) kept[part] = roundScore(value);
  return kept;
}

/** Four digits behind the point: enough to see, and short to keep. */
function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** Which signal each arm ranks by. */
const EXPLAINED_RETRIEVERS = { words: "words", vectors: "near", claims: "claim" } as const;
/** How many of those left out are named. */
const MAX_EXPLAINED_DROPPED = 100;

/** Why an item came: its place in each arm, what each signal added, and the words that it shares with the query. */
export function explainItem(query: string, found: SearchResult, { slot }: RankedUnit, item: Item): Why {
  const arms: Record<string, { rank: number; score: number }> = {};
  for (const [arm, signal] of Object.entries(EXPLAINED_RETRIEVERS)) {
    const column = found.signals.columns[signal];
    const score = column[slot] ?? 0;
    if (score <= 0) continue;
    let rank = 1;
    for (const value of column) if (value > score) rank += 1;
    arms[arm] = { rank, score };
  }
  // A passage is found by who said it, too.
  const speaker = item.type === "passage" ? (item.sources[0]?.name ?? "") : "";
  const held = new Set(extractTerms(`${speaker} ${item.text}`));
  return {
    arms,
    parts: explainRelevance(found.signals, found.weights, found.places, slot),
    words: [...new Set(splitWords(query))].filter((word) =>
      extractTerms(word).some((term) => held.has(term)),
    ),
  };
}

export function explainRecall(ranked: RankingResult, wanted: ParsedRecallOptions): Explanation {
  return {
    query: wanted.query,
    profile: wanted.profile.name,
    considered: ranked.considered,
    threshold: computeThreshold(ranked.considered),
    dropped: ranked.dropped.slice(0, MAX_EXPLAINED_DROPPED),
  };
}
