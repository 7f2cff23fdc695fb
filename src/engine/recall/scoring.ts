import { type RankingOptions, type RankingWeights, WEIGHT_NAMES } from "../../domain/recall.ts";
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

/** Fallback signals for units without a turn, which have no surroundings. */
const FALLBACK_SIGNALS: { readonly [signal in Signal]?: Signal } = {
  window: "words",
  session: "words",
  around: "near",
};

export type Qualities = { readonly [quality in Quality]: number };

/** Weights of a profile for a conversation with this share (0 to 1) of talk between people. */
export function blendWeights(profile: RankingProfile, talk: number): SignalWeights {
  const mixed = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNAL_NAMES) {
    mixed[signal] = talk * profile.talk[signal] + (1 - talk) * profile.chat[signal];
  }
  return mixed;
}

/** Factor for each signal: its share of all active weights, divided by its maximum. */
type SignalScales = { readonly [signal in Signal]: number };

/** A signal without values does not count, so that the best unit can reach 1 without names or claims. */
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
 * Writes the relevance of units into `relevance`, in the order of `slots`: the weighted mean of their
 * signals, 0 to 1. A unit without a turn is its own surroundings.
 */
export function computeRelevance(
  signals: Readonly<Signals>,
  weights: SignalWeights,
  places: UnitPlaces,
  slots: Int32Array,
  relevance: Float32Array = new Float32Array(slots.length),
): Float32Array {
  const scales = computeScales(weights, signals.tops);
  const unitTerms = toScoreTerms(signals, scales, "unit", weights);
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
  const byUnit = sumTerms(unitTerms, slots, turns);
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

/** A column with its weight, and its extra weight where a unit has no surroundings. */
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
 * Weighted sum of the columns for some positions. It goes column by column, which is several times as fast as
 * all columns at once. A negative cosine counts as 0, and so does a negative position, which means none.
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

/** The contribution of each bit pattern. */
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

/** The extra weight of a signal for a unit without a turn, in place of its missing surroundings. */
function fallbackShareOf(signal: Signal, weights: SignalWeights, scales: SignalScales): number {
  if (weights[signal] === 0) return 0;
  let sum = 0;
  for (const one of SIGNAL_NAMES) {
    if (FALLBACK_SIGNALS[one] === signal && scales[one] > 0)
      sum += (weights[one] / weights[signal]) * scales[signal];
  }
  return sum;
}

/** The contribution of each signal to the relevance of one unit. */
export function explainRelevance(
  signals: Readonly<Signals>,
  weights: SignalWeights,
  places: UnitPlaces,
  slot: number,
): Partial<Record<Signal, number>> {
  return createRelevanceExplainer(signals, weights, places)(slot);
}

/** The same for many units of one query; shared values are computed once. */
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

const QUALITIES: readonly Quality[] = ["recency", "access", "evidence", "importance", "confidence"];

/** Score of a unit from its relevance and its qualities (0 to 1 each): 0 to 1. */
export function scoreOf(profile: RankingProfile, relevance: number, qualities: Qualities): number {
  let score = profile.relevance * relevance;
  for (const quality of QUALITIES) score += (profile.adds[quality] ?? 0) * qualities[quality];
  return Math.min(1, score * boostOf(profile, qualities));
}

/** The factor by which the qualities reduce a score: a product of factors near 1. */
export function boostOf(profile: RankingProfile, qualities: Qualities): number {
  let left = 1;
  for (const quality of QUALITIES) left *= 1 - (profile.takes[quality] ?? 0) * (1 - qualities[quality]);
  return left;
}

export type SignalWeights = { readonly [signal in Signal]: number };

/** Values from 0 to 1 that are weighed after relevance. */
type Quality = "recency" | "access" | "evidence" | "importance" | "confidence";

/**
 * A ranking method, as data. Relevance is the weighted mean of the signals. Talk between people and chats
 * with an assistant (or alone) have separate weights.
 *
 * Score = (`relevance` x relevance + the sum of `adds`) x the product of `1 - most x (1 - quality)` over
 * `takes`.
 */
export interface RankingProfile {
  readonly name: string;
  readonly talk: SignalWeights;
  readonly chat: SignalWeights;
  readonly relevance: number;
  readonly adds: { readonly [quality in Quality]?: number };
  /**
   * The share of the score that a quality of 0 takes away. The product is bounded so that relevance
   * dominates.
   */
  readonly takes: { readonly [quality in Quality]?: number };
  /** Whether the newer of two items about the same thing comes first. */
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

/** The mix that many memory systems use: similarity, recency, access and confidence. */
const CLASSIC_PROFILE: RankingProfile = {
  name: "classic",
  talk: { ...NO_WEIGHTS, near: 1 },
  chat: { ...NO_WEIGHTS, near: 1 },
  relevance: 0.4,
  adds: { recency: 0.3, access: 0.2, confidence: 0.1 },
  takes: {},
  isNewestFirst: false,
};

const RANKING_PROFILES: readonly RankingProfile[] = [DEFAULT_PROFILE, CLASSIC_PROFILE];

/**
 * The profile with this name ("default" if absent), or with these weights. Throws `invalid_input` for an unknown name or
 * wrong weights.
 */
export function findRankingProfile({ profile: name, weights }: RankingOptions): RankingProfile {
  if (weights !== undefined) {
    if (name !== undefined && name !== CLASSIC_PROFILE.name)
      throw invalid('weights belong to the profile "classic". Leave the profile out.');
    return createWeightedProfile(weights);
  }
  const profile = RANKING_PROFILES.find((one) => one.name === (name ?? DEFAULT_PROFILE.name));
  if (profile) return profile;
  throw invalid(`profile must be one of ${RANKING_PROFILES.map((one) => one.name).join(", ")}.`);
}

const MAX_WEIGHT = 1_000_000;

function createWeightedProfile(weights: RankingWeights): RankingProfile {
  const shares = readShares(weights);
  const { similarity = 0, ...adds } = shares;
  return { ...CLASSIC_PROFILE, relevance: similarity, adds };
}

function readShares(weights: RankingWeights): { [name in (typeof WEIGHT_NAMES)[number]]?: number } {
  if (typeof weights !== "object" || weights === null || Array.isArray(weights))
    throw invalid("weights takes an object such as { similarity: 0.4, recency: 0.6 }.");
  const entries = Object.entries(weights).filter(([, weight]) => weight !== undefined);
  for (const [name, weight] of entries) {
    if (!WEIGHT_NAMES.some((one) => one === name))
      throw invalid(`unknown weight. Known weights: ${WEIGHT_NAMES.join(", ")}.`);
    if (typeof weight !== "number" || !(weight >= 0 && weight <= MAX_WEIGHT))
      throw invalid(`weights: each must be a number from 0 to ${MAX_WEIGHT.toLocaleString("en")}.`);
  }
  const sum = entries.reduce((total, [, weight]) => total + Number(weight), 0);
  if (sum <= 0) throw invalid("weights: at least one must be above 0.");
  return Object.fromEntries(entries.map(([name, weight]) => [name, Number(weight) / sum]));
}

/** Whether a profile asks how often memories were used. */
export function needsUsage({ adds, takes }: RankingProfile): boolean {
  return (adds.access ?? 0) > 0 || (takes.access ?? 0) > 0;
}

/** This many uses count as the most. */
const MANY_USES = 100;

/** The quality of a number of uses: 0 for none, 1 for 100 or more, on a logarithmic scale. */
export function accessOf(count: number): number {
  return Math.min(1, Math.log1p(count) / Math.log1p(MANY_USES));
}

/** What a profile adds up and multiplies for a unit, by name: `scoreOf` as its parts. */
export function explainScore(
  profile: RankingProfile,
  relevance: number,
  qualities: Qualities,
): { adds: Record<string, number>; factors: Record<string, number> } {
  const isClassic = profile.name === CLASSIC_PROFILE.name;
  const adds: Record<string, number> = {
    [isClassic ? "similarity" : "relevance"]: profile.relevance * relevance,
  };
  const factors: Record<string, number> = {};
  for (const quality of QUALITIES) {
    const added = profile.adds[quality] ?? 0;
    const taken = profile.takes[quality] ?? 0;
    if (added > 0) adds[quality] = added * qualities[quality];
    if (taken > 0) factors[quality] = 1 - taken * (1 - qualities[quality]);
  }
  return { adds, factors };
}
