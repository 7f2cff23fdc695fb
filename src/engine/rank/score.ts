import type { Profile, Quality, Weights } from "./profiles.ts";
import {
  type ColumnSignal,
  isBit,
  type Places,
  SIGNAL_NAMES,
  SIGNALS,
  type Signal,
  type Signals,
  signalAt,
  tells,
} from "./signals.ts";

/** What stands in for the surroundings of a unit that is from no turn. */
const ALONE: { readonly [signal in Signal]?: Signal } = { window: "words", session: "words", around: "near" };

export type Qualities = { readonly [quality in Quality]: number };

/** The weights of a profile where a share (0 to 1) of the conversation is people talking among themselves. */
export function weightsFor(profile: Profile, talk: number): Weights {
  const mixed = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNAL_NAMES) {
    mixed[signal] = talk * profile.talk[signal] + (1 - talk) * profile.chat[signal];
  }
  return mixed;
}

/** What a signal is multiplied with: its weight's share of all weights that count, over its top. */
type Scales = { readonly [signal in Signal]: number };

/** A signal that nothing has does not count, so that without names or claims the best can reach 1 as well. */
function scalesOf(weights: Weights, tops: Signals["tops"]): Scales {
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
export function relevanceOf(
  signals: Readonly<Signals>,
  weights: Weights,
  places: Places,
  slots: Int32Array,
  relevance: Float32Array = new Float32Array(slots.length),
): Float32Array {
  const scales = scalesOf(weights, signals.tops);
  const own = termsOf(signals, scales, "unit", weights);
  const ofTurn = termsOf(signals, scales, "turn");
  const ofSession = termsOf(signals, scales, "session");
  const byBits = bitTable(signals, scales);
  const { named } = signals;
  const { length } = slots;
  const turns = new Int32Array(length);
  const sessions = new Int32Array(length);
  for (let i = 0; i < length; i += 1) {
    const turn = places.turn[slots[i] as number] as number;
    turns[i] = turn;
    sessions[i] = turn < 0 ? -1 : (places.session[turn] as number);
  }
  const byUnit = sumsOf(own, slots, turns);
  const byTurn = sumsOf(ofTurn, turns, turns);
  const bySession = sumsOf(ofSession, sessions, turns);
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
interface Term {
  readonly column: Float32Array;
  readonly scale: number;
  readonly alone: number;
}

function termsOf(
  signals: Readonly<Signals>,
  scales: Scales,
  level: "unit" | "turn" | "session",
  weights?: Weights,
): Term[] {
  const terms: Term[] = [];
  for (const signal of SIGNAL_NAMES) {
    const scale = scales[signal];
    if (SIGNALS[signal] !== level || scale === 0) continue;
    const column = signals.columns[signal as ColumnSignal];
    const alone = scale + (weights ? aloneShare(signal, weights, scales) : 0);
    if (column.length > 0) terms.push({ column, scale, alone });
  }
  return terms;
}

/**
 * What the columns add at each of some places: column by column, for a loop along one is several times as fast as one along all
 * of them. A cosine below 0 takes nothing away; nor does a place below 0, which is none.
 */
function sumsOf(terms: readonly Term[], places: Int32Array, turns: Int32Array): Float64Array {
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
function bitTable({ bits }: Readonly<Signals>, scales: Scales): Float32Array {
  const table = new Float32Array(256);
  for (const signal of SIGNAL_NAMES) {
    if (!isBit(signal) || scales[signal] === 0) continue;
    for (let pattern = 0; pattern < 256; pattern += 1) {
      if (tells(pattern, bits[signal])) table[pattern] = (table[pattern] as number) + scales[signal];
    }
  }
  return table;
}

/** What a signal of a unit from no turn counts for besides, in place of the surroundings that it has not. */
function aloneShare(signal: Signal, weights: Weights, scales: Scales): number {
  if (weights[signal] === 0) return 0;
  let sum = 0;
  for (const one of SIGNAL_NAMES) {
    if (ALONE[one] === signal && scales[one] > 0) sum += (weights[one] / weights[signal]) * scales[signal];
  }
  return sum;
}

/** What each signal added to the relevance of one unit. */
export function partsOf(
  signals: Readonly<Signals>,
  weights: Weights,
  places: Places,
  slot: number,
): Partial<Record<Signal, number>> {
  return partsTeller(signals, weights, places)(slot);
}

/** The same for many units of one query: what they share is worked out once. */
export function partsTeller(
  signals: Readonly<Signals>,
  weights: Weights,
  places: Places,
): (slot: number) => Partial<Record<Signal, number>> {
  const scales = scalesOf(weights, signals.tops);
  return (slot) => partsBy(signals, { weights, scales }, places, slot);
}

function partsBy(
  signals: Readonly<Signals>,
  { weights, scales }: { readonly weights: Weights; readonly scales: Scales },
  places: Places,
  slot: number,
): Partial<Record<Signal, number>> {
  const isAlone = (places.turn[slot] as number) < 0;
  const parts: Partial<Record<Signal, number>> = {};
  for (const signal of SIGNAL_NAMES) {
    let scale = scales[signal];
    if (isAlone) scale += aloneShare(signal, weights, scales);
    const value = signalAt(signals, signal, places, slot);
    if (value > 0 && scale > 0) parts[signal] = value * scale;
  }
  return parts;
}

const QUALITIES: readonly Quality[] = ["recency", "evidence", "importance", "confidence"];

/** The score of a unit from its relevance and its qualities (0 to 1 each): 0 to 1. */
export function scoreOf(profile: Profile, relevance: number, qualities: Qualities): number {
  let score = profile.relevance * relevance;
  for (const quality of QUALITIES) score += (profile.adds[quality] ?? 0) * qualities[quality];
  return Math.min(1, score * boostOf(profile, qualities));
}

/** What the qualities leave of a score: a product of factors near 1. */
export function boostOf(profile: Profile, qualities: Qualities): number {
  let left = 1;
  for (const quality of QUALITIES) left *= 1 - (profile.takes[quality] ?? 0) * (1 - qualities[quality]);
  return left;
}
