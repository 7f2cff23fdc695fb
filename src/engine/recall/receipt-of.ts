import type { RecallBounds, RecalledItem, RecallReceipt } from "../../domain/recall-receipt.ts";
import { createRelevanceExplainer } from "../rank/score.ts";
import type { DroppedUnit, RankingResult } from "./rank.ts";
import { computeThreshold, type SearchResult } from "./search.ts";
import type { ParsedRecallOptions } from "./take-options.ts";

/** Which signal each arm ranks by. */
export const RETRIEVER_SIGNALS = { words: "words", vectors: "near", claims: "claim", time: "time" } as const;
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
