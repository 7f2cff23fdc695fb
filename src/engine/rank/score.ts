import type { Quality, RankingProfile, SignalWeights } from "./profiles.ts";
import {
  type ColumnSignal,
  hasBit,
  isBitSignal,
  SIGNAL_NAMES,
  SIGNALS,
  type Signal,
  type Signals,
  signalValueAt,
  type UnitPlaces,
} from "./signals.ts";

/** What stands in for the surroundings of a unit that is from no turn. */
const FALLBACK_SIGNALS: { readonly [signal in Signal]?: Signal } = {
  window: "words",
  session: "words",
  around: "near",
};

export type Qualities = { readonly [quality in Quality]: number };

/** The weights of a profile where a share (0 to 1) of the conversation is people talking among themselves. */
export function blendWeights(profile: RankingProfile, talk: number): SignalWeights {
  const mixed = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNAL_NAMES) {
    mixed[signal] = talk * profile.talk[signal] + (1 - talk) * profile.chat[signal];
  }
  return mixed;
}

/** What a signal is multiplied with: its weight's share of all weights that count, over its top. */
type SignalScales = { readonly [signal in Signal]: number };

/** A signal that nothing has does not count, so that without names or claims the best can reach 1 as well. */
function computeScales(weights: SignalWeights, tops: Signals["tops"]): SignalScales {
  let sum = 0;
  for (const signal of SIGNAL_NAMES) if (tops[signal] > 0) sum += weights[signal];
  const scales = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNAL_NAMES) {
    scales[signal] = tops[signal] > 0 && sum > 0 ? weights[signal] / sum / tops[signal] : 0;
  }
  return scales;
}

/**
 * The relevance of units, in the order of `slots`: the weighted mean of their signals, 0 to 1, written into `relevance`.
 * What lies around a unit from no turn is the unit itself.
 */
export function computeRelevance(
  signals: Readonly<Signals>,
  weights: SignalWeights,
  places: UnitPlaces,
  slots: Int32Array,
  relevance: Float32Array = new Float32Array(slots.length),
): Float32Array {
  const scales = computeScales(weights, signals.tops);
  const own = toScoreTerms(signals, scales, "unit", weights);
  const ofTurn = toScoreTerms(signals, scales, "turn");
  const ofSession = toScoreTerms(signals, scales, "session");
  const byBits = buildBitTable(signals, scales);
  const { named } = signals;
  const { length } = slots;
  const turns = new Int32Array(length);
  const sessions = new Int32Array(length);
  for (let i = 0; i < length; i += 1) {
    const turn = places.turn[slots[i] as number] as number;
    turns[i] = turn;
    sessions[i] = turn < 0 ? -1 : (places.session[turn] as number);
  }
  const byUnit = sumTerms(own, slots, turns);
  const byTurn = sumTerms(ofTurn, turns, turns);
  const bySession = sumTerms(ofSession, sessions, turns);
  for (let i = 0; i < length; i += 1) {
    let sum = byUnit[i] as number;
    const turn = turns[i] as number;
    if (turn >= 0) {
      sum += byTurn[i] as number;
      sum += bySession[i] as number;
      sum += byBits[places.bits[turn] as number] as number;
      sum += (named[places.speaker[turn] as number] ?? 0) * scales.named;
    }
    relevance[i] = sum;
  }
  return relevance;
}

/** A column that counts, by how much; and by how much where nothing is around. */
interface ScoreTerm {
  readonly column: Float32Array;
  readonly scale: number;
  readonly alone: number;
}

function toScoreTerms(
  signals: Readonly<Signals>,
  scales: SignalScales,
  level: "unit" | "turn" | "session",
  weights?: SignalWeights,
): ScoreTerm[] {
  const terms: ScoreTerm[] = [];
  for (const signal of SIGNAL_NAMES) {
    const scale = scales[signal];
    if (SIGNALS[signal] !== level || scale === 0) continue;
    const column = signals.columns[signal as ColumnSignal];
    const alone = scale + (weights ? fallbackShareOf(signal, weights, scales) : 0);
    if (column.length > 0) terms.push({ column, scale, alone });
  }
  return terms;
}

/**
 * What the columns add at each of some places: column by column, for a loop along one is several times as fast as one along all
 * of them. A cosine below 0 takes nothing away; nor does a place below 0, which is none.
 */
function sumTerms(terms: readonly ScoreTerm[], places: Int32Array, turns: Int32Array): Float64Array {
  const { length } = places;
  const sums = new Float64Array(length);
  for (const { column, scale, alone } of terms) {
    for (let i = 0; i < length; i += 1) {
      const place = places[i] as number;
      const value = place < 0 ? 0 : (column[place] as number);
      if (value > 0) sums[i] = (sums[i] as number) + value * ((turns[i] as number) < 0 ? alone : scale);
    }
  }
  return sums;
}

/** What each pattern of bits adds. */
function buildBitTable({ bits }: Readonly<Signals>, scales: SignalScales): Float32Array {
  const table = new Float32Array(256);
  for (const signal of SIGNAL_NAMES) {
    if (!isBitSignal(signal) || scales[signal] === 0) continue;
    for (let pattern = 0; pattern < 256; pattern += 1) {
      if (hasBit(pattern, bits[signal])) table[pattern] = (table[pattern] as number) + scales[signal];
    }
  }
  return table;
}

/** What a signal of a unit from no turn counts for besides, in place of the surroundings that it has not. */
function fallbackShareOf(signal: Signal, weights: SignalWeights, scales: SignalScales): number {
  if (weights[signal] === 0) return 0;
  let sum = 0;
  for (const one of SIGNAL_NAMES) {
    if (FALLBACK_SIGNALS[one] === signal && scales[one] > 0)
      sum += (weights[one] / weights[signal]) * scales[signal];
  }
  return sum;
}

/** What each signal added to the relevance of one unit. */
export function explainRelevance(
  signals: Readonly<Signals>,
  weights: SignalWeights,
  places: UnitPlaces,
  slot: number,
): Partial<Record<Signal, number>> {
  return createRelevanceExplainer(signals, weights, places)(slot);
}

/** The same for many units of one query: what they share is worked out once. */
export function createRelevanceExplainer(
  signals: Readonly<Signals>,
  weights: SignalWeights,
  places: UnitPlaces,
): (slot: number) => Partial<Record<Signal, number>> {
  const scales = computeScales(weights, signals.tops);
  return (slot) => explainWith(signals, { weights, scales }, places, slot);
}

function explainWith(
  signals: Readonly<Signals>,
  { weights, scales }: { readonly weights: SignalWeights; readonly scales: SignalScales },
  places: UnitPlaces,
  slot: number,
): Partial<Record<Signal, number>> {
  const isAlone = (places.turn[slot] as number) < 0;
  const parts: Partial<Record<Signal, number>> = {};
  for (const signal of SIGNAL_NAMES) {
    let scale = scales[signal];
    if (isAlone) scale += fallbackShareOf(signal, weights, scales);
    const value = signalValueAt(signals, signal, places, slot);
    if (value > 0 && scale > 0) parts[signal] = value * scale;
  }
  return parts;
}

const QUALITIES: readonly Quality[] = ["recency", "evidence", "importance", "confidence"];

/** The score of a unit from its relevance and its qualities (0 to 1 each): 0 to 1. */
export function scoreOf(profile: RankingProfile, relevance: number, qualities: Qualities): number {
  let score = profile.relevance * relevance;
  for (const quality of QUALITIES) score += (profile.adds[quality] ?? 0) * qualities[quality];
  return Math.min(1, score * boostOf(profile, qualities));
}

/** What the qualities leave of a score: a product of factors near 1. */
export function boostOf(profile: RankingProfile, qualities: Qualities): number {
  let left = 1;
  for (const quality of QUALITIES) left *= 1 - (profile.takes[quality] ?? 0) * (1 - qualities[quality]);
  return left;
}
