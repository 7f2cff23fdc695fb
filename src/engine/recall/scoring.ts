import { invalid } from "../../errors.ts";
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
} from "./retrievers/signals.ts";

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

export type SignalWeights = { readonly [signal in Signal]: number };

/** What is weighed once relevance is known, each from 0 to 1. */
type Quality = "recency" | "evidence" | "importance" | "confidence";

/**
 * A way to rank, as data. Relevance is the weighted mean of the signals; people who talk among themselves and a person
 * who talks with an assistant (or alone) are two situations, with weights of their own.
 * Score = (`relevance` x relevance + the sum of `adds`) x the product of `1 - most x (1 - quality)` over `takes`.
 */
export interface RankingProfile {
  readonly name: string;
  readonly talk: SignalWeights;
  readonly chat: SignalWeights;
  readonly relevance: number;
  readonly adds: { readonly [quality in Quality]?: number };
  /** How much of the score a quality of 0 takes away: a bounded product, so that relevance leads. */
  readonly takes: { readonly [quality in Quality]?: number };
  /** Whether the newer of two that tell the same comes first. */
  readonly isNewestFirst: boolean;
}

const NO_WEIGHTS: SignalWeights = {
  words: 0,
  window: 0,
  session: 0,
  near: 0,
  apart: 0,
  around: 0,
  named: 0,
  answers: 0,
  own: 0,
  theirs: 0,
  tells: 0,
  wish: 0,
  claim: 0,
  time: 0,
};

/** Fitted by `bench/quality/fit.ts` on the development data; `claim` and `time` are set by hand. */
const DEFAULT_PROFILE: RankingProfile = {
  name: "default",
  talk: {
    ...NO_WEIGHTS,
    words: 1.7,
    window: 3.3,
    session: 2,
    near: 1.6,
    apart: 0.9,
    around: 3.3,
    named: 2.3,
    answers: 0.6,
    tells: 0.7,
    wish: 0.8,
    claim: 1.5,
    time: 1,
  },
  chat: {
    ...NO_WEIGHTS,
    words: 3.3,
    window: 1.2,
    session: 1.6,
    near: 1.5,
    apart: 1.6,
    around: 0.8,
    own: 3.1,
    theirs: 1.4,
    tells: 0.2,
    wish: 2.2,
    claim: 4,
    time: 1,
  },
  relevance: 1,
  adds: {},
  takes: { recency: 0.06, evidence: 0.03, importance: 0.04, confidence: 0.04 },
  isNewestFirst: true,
};

/** The mix that many memory systems use. How often a memory was used is not tracked yet: evidence stands for it. */
const CLASSIC_PROFILE: RankingProfile = {
  name: "classic",
  talk: { ...NO_WEIGHTS, near: 1 },
  chat: { ...NO_WEIGHTS, near: 1 },
  relevance: 0.4,
  adds: { recency: 0.3, evidence: 0.2, confidence: 0.1 },
  takes: {},
  isNewestFirst: false,
};

const RANKING_PROFILES: readonly RankingProfile[] = [DEFAULT_PROFILE, CLASSIC_PROFILE];

/** The profile of a name; `invalid_input` for a name that none has. */
export function findRankingProfile(name: string): RankingProfile {
  const profile = RANKING_PROFILES.find((one) => one.name === name);
  if (profile) return profile;
  throw invalid(`profile must be one of ${RANKING_PROFILES.map((one) => one.name).join(", ")}.`);
}
