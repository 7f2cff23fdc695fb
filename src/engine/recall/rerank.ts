import { checkCount } from "../../domain/limits.ts";
import type {
  Item,
  RecalledItem,
  RecallReceipt,
  Reranking,
  RerankingOptions,
  RerankOutcome,
  RerankScore,
} from "../../domain/recall.ts";
import { getErrorCode, invalid } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Reranker } from "../../ports/language/reranker.ts";
import type { Ports } from "../ports.ts";
import type { ParsedRecallOptions } from "./options.ts";
import type { DroppedUnit, PlacedItem } from "./rank.ts";
import { MAX_RECEIPT_DROPPED, roundScore } from "./receipts.ts";
import { type RankingProfile, scoreOf } from "./scoring.ts";

const DEFAULT_CANDIDATES = 30;
const MAX_CANDIDATES = 200;
const DEFAULT_TIMEOUT_MS = 1000;
const OPTION_NAMES: readonly string[] = ["candidates", "timeoutMs"] satisfies (keyof RerankingOptions)[];
/** With this many requests in flight, the reranker does not keep up, and another would only queue. */
const MAX_IN_FLIGHT = 32;
/** Longer texts are cut: a passage has at most 512 tokens. */
const MAX_TEXT_LENGTH = 8000;

/** Requests in flight, by reranker. */
const requestsInFlight = new WeakMap<Reranker, number>();

/** Gives the limits on reranking, with defaults. Throws `invalid_input` for wrong ones. */
export function checkReranking(options: RerankingOptions = {}): Required<RerankingOptions> {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.includes(name)) throw invalid(`reranking takes ${OPTION_NAMES.join(" and ")}.`);
  }
  const { candidates = DEFAULT_CANDIDATES, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return {
    candidates: checkCount(candidates, "reranking.candidates", 1, MAX_CANDIDATES),
    timeoutMs: checkCount(timeoutMs, "reranking.timeoutMs", 1, 60_000),
  };
}

type RerankingPorts = Partial<Pick<Ports, "reranker" | "reranking" | "meter">>;

/** How many units a ranking must give: the requested ones, and all that a reranker is given. */
export function countToRank({ reranker, reranking }: RerankingPorts, limit: number): number {
  return reranker ? Math.max(limit, checkReranking(reranking).candidates) : limit;
}

interface RerankInput {
  /** The query, as it was searched. */
  readonly text: string;
  readonly options: Pick<ParsedRecallOptions, "limit" | "profile">;
  /** By rank, and after updates were moved before what they update. */
  readonly placed: readonly PlacedItem[];
  readonly ordered: readonly PlacedItem[];
  /** By the id of an ended memory: its successor. */
  readonly successors: ReadonlyMap<string, string>;
}

/** The items in their final order, and what is beyond the limit. */
interface RerankedItems {
  readonly placed: readonly PlacedItem[];
  readonly dropped: readonly DroppedUnit[];
  readonly reranking: Reranking;
  /** What the reranker said, by id of the item. */
  readonly reranked: ReadonlyMap<string, RerankScore>;
}

/**
 * Reorders the best items by the relevance that a reranker gives them. Qualities and status count as before; a successor
 * stays before what it ended, and an update before what it updates. If the reranker fails or takes too long, the order
 * stays. Rejects only with the reason of an aborted signal.
 */
export async function rerankItems(
  ports: RerankingPorts & { readonly reranker: Reranker },
  input: RerankInput,
  call: CallOptions,
): Promise<RerankedItems> {
  const { reranker, meter } = ports;
  const { candidates, timeoutMs } = checkReranking(ports.reranking);
  const { options, ordered } = input;
  const given = ordered.slice(0, candidates);
  const texts = given.map(({ item }) => item.text.slice(0, MAX_TEXT_LENGTH).toWellFormed());
  const begun = performance.now();
  const { outcome, scores, error } = await requestScores(reranker, input.text, texts, { ...call, timeoutMs });
  if (texts.length > 0) {
    meter?.observe("memory_rerank_duration_ms", performance.now() - begun);
    meter?.count("memory_reranks_total", { outcome });
  }
  const reranked = rankScores(given, scores);
  const inOrder = scores
    ? [
        ...orderByScore(options.profile, given, { reranked, pairs: findPairs(input) }),
        ...ordered.slice(candidates),
      ]
    : ordered;
  return {
    placed: inOrder.slice(0, options.limit),
    dropped: inOrder
      .slice(options.limit)
      .map(({ unit: { id, type, score } }) => ({ id, type, score, why: "beyond the limit" })),
    reranking: {
      name: reranker.name,
      outcome,
      ...(error === undefined ? {} : { error }),
      candidates: texts.length,
    },
    reranked,
  };
}

interface ScoreOutcome {
  readonly outcome: RerankOutcome;
  readonly scores?: readonly number[];
  readonly error?: string;
}

async function requestScores(
  reranker: Reranker,
  query: string,
  texts: readonly string[],
  { timeoutMs, signal, ...rest }: CallOptions & { readonly timeoutMs: number },
): Promise<ScoreOutcome> {
  if (texts.length === 0) return { outcome: "reranked", scores: [] };
  const inFlight = requestsInFlight.get(reranker) ?? 0;
  if (inFlight >= MAX_IN_FLIGHT) return { outcome: "busy" };
  requestsInFlight.set(reranker, inFlight + 1);
  const late = new AbortController();
  const both = signal ? AbortSignal.any([late.signal, signal]) : late.signal;
  const { promise: ended, resolve } = Promise.withResolvers<ScoreOutcome>();
  both.addEventListener("abort", () => resolve({ outcome: "late" }), { once: true });
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const scoring = Promise.resolve()
    .then(() => reranker.score(query, texts, { ...rest, signal: both }))
    .then(
      (scores): ScoreOutcome =>
        isScoreList(scores, texts.length) ? { outcome: "reranked", scores } : { outcome: "failed" },
      (error: unknown): ScoreOutcome =>
        late.signal.aborted ? { outcome: "late" } : { outcome: "failed", error: getErrorCode(error) },
    )
    .finally(() => requestsInFlight.set(reranker, (requestsInFlight.get(reranker) ?? 1) - 1));
  const found = await Promise.race([scoring, ended]);
  clearTimeout(timer);
  signal?.throwIfAborted();
  return found;
}

function isScoreList(scores: unknown, count: number): scores is number[] {
  return (
    Array.isArray(scores) &&
    scores.length === count &&
    scores.every((score) => typeof score === "number" && score >= 0 && score <= 1)
  );
}

function rankScores(
  given: readonly PlacedItem[],
  scores: readonly number[] | undefined,
): ReadonlyMap<string, RerankScore> {
  if (!scores) return new Map();
  const ranked = given.map(({ item }, i): [string, RerankScore] => {
    const score = scores[i] as number;
    return [item.id, { rank: 1 + scores.filter((other) => other > score).length, score }];
  });
  return new Map(ranked);
}

/** Which item comes before which, whatever the reranker says: by id of the later one. */
type PrecedingIds = ReadonlyMap<string, string>;

function findPairs({ placed, ordered, successors }: RerankInput): PrecedingIds {
  const places = new Map(placed.map(({ item }, i) => [item.id, i]));
  const pairs = new Map(successors);
  for (const [i, { item }] of ordered.entries()) {
    const next = ordered[i + 1]?.item.id;
    // It was moved up to where it is.
    if (next !== undefined && (places.get(item.id) ?? 0) > (places.get(next) ?? 0)) pairs.set(next, item.id);
  }
  return pairs;
}

/**
 * The items in their new order. Each takes the score of its place, so that scores keep their meaning: a reranker's own
 * scale differs from model to model.
 */
function orderByScore(
  profile: RankingProfile,
  given: readonly PlacedItem[],
  { reranked, pairs }: { readonly reranked: ReadonlyMap<string, RerankScore>; readonly pairs: PrecedingIds },
): PlacedItem[] {
  const weighed = given.map((one, i) => ({
    one,
    i,
    weight: weighItem(profile, one, reranked.get(one.item.id)?.score ?? 0),
  }));
  weighed.sort((one, other) => other.weight - one.weight || one.i - other.i);
  const inOrder = weighed.map(({ one }) => one);
  for (const [later, earlier] of pairs) moveBefore(inOrder, earlier, later);
  const scores = given.map(({ item }) => item.score).sort((one, other) => other - one);
  return inOrder.map(({ item, unit }, i) => {
    const score = scores[i] as number;
    return {
      item: explainReranked({ ...item, score }, item.score, reranked.get(item.id)),
      unit: { ...unit, score },
    };
  });
}

/** The score of an item with the reranker's relevance in place of its own. */
function weighItem(
  profile: RankingProfile,
  { unit: { basis, status } }: PlacedItem,
  relevance: number,
): number {
  if (!basis) return relevance;
  const distinctness = basis.base > 0 ? basis.score / basis.base : 1;
  // A successor has the basis of what it ended.
  const factor = status === "current" ? 1 : basis.status;
  return scoreOf(profile, relevance, basis.qualities) * factor * basis.derived * distinctness;
}

function moveBefore(items: PlacedItem[], earlier: string, later: string): void {
  const from = items.findIndex(({ item }) => item.id === earlier);
  const to = items.findIndex(({ item }) => item.id === later);
  if (to < 0 || from <= to) return;
  items.splice(to, 0, ...items.splice(from, 1));
}

function explainReranked(item: Item, before: number, reranked: RerankScore | undefined): Item {
  if (!item.why || !reranked) return item;
  const { factors } = item.why;
  const moved = factors && before > 0 && before !== item.score ? { rerank: item.score / before } : {};
  return {
    ...item,
    why: { ...item.why, ...(factors ? { factors: { ...factors, ...moved } } : {}), reranked },
  };
}

/** The receipt of a recall after its items were reranked. */
export function withReranking(
  receipt: RecallReceipt,
  { placed, dropped, reranking, reranked }: RerankedItems,
): RecallReceipt {
  const noted = new Map(receipt.items.map((item) => [item.id, item]));
  return {
    ...receipt,
    reranking,
    items: placed.flatMap(({ item }) => {
      const before = noted.get(item.id);
      return before ? [toRerankedReceipt(before, item.score, reranked.get(item.id))] : [];
    }),
    dropped: [...dropped.map((one) => ({ ...one, score: roundScore(one.score) })), ...receipt.dropped].slice(
      0,
      MAX_RECEIPT_DROPPED,
    ),
  };
}

function toRerankedReceipt(
  before: RecalledItem,
  score: number,
  reranked: RerankScore | undefined,
): RecalledItem {
  if (!reranked) return before;
  const { factors } = before;
  const rounded = roundScore(score);
  const moved =
    factors && before.score > 0 && before.score !== rounded
      ? { rerank: roundScore(rounded / before.score) }
      : {};
  return {
    ...before,
    score: rounded,
    ...(factors ? { factors: { ...factors, ...moved } } : {}),
    reranked: { rank: reranked.rank, score: roundScore(reranked.score) },
  };
}
