import type { Profile, Quality, Weights } from "./profiles.ts";
import { type Places, SIGNAL_NAMES, SIGNALS, type Signal, type Signals, signalAt } from "./signals.ts";

/**
 * Signals without a natural top: each counts as a share of the best, so that a weight means the same for a short
 * question and a long one. What is not relevant changes no top, and so no order.
 */
const RELATIVE: ReadonlySet<Signal> = new Set(["words", "window", "session", "near", "around"]);

/** What stands in for the surroundings of a unit that is from no turn. */
const ALONE: { readonly [signal in Signal]?: Signal } = { window: "words", session: "words", around: "near" };

/** What each signal is divided by: the greatest value there is, or 1; 0 where there is no column of it. */
export type Tops = { readonly [signal in Signal]: number };

export type Qualities = { readonly [quality in Quality]: number };

export function topsOf(signals: Readonly<Signals>): Tops {
  const tops = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNAL_NAMES) {
    const column = signals[signal];
    tops[signal] = RELATIVE.has(signal) ? greatest(column) : Math.sign(column.length);
  }
  return tops;
}

/** The greatest value of a column, at least 0. */
export function greatest(column: Float32Array): number {
  const { length } = column;
  let top = 0;
  // The length is read once and each value once: over a column of ten thousand that is three times as fast.
  for (let place = 0; place < length; place += 1) {
    const value = column[place] as number;
    if (value > top) top = value;
  }
  return top;
}

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
function scalesOf(weights: Weights, tops: Tops): Scales {
  let sum = 0;
  for (const signal of SIGNAL_NAMES) if (tops[signal] > 0) sum += weights[signal];
  const scales = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNAL_NAMES) {
    scales[signal] = tops[signal] > 0 && sum > 0 ? weights[signal] / sum / tops[signal] : 0;
  }
  return scales;
}

/**
 * The relevance of every unit, by number: the weighted mean of its signals, 0 to 1. `work` holds the columns of zeros
 * that it is worked out in: one by unit, one by turn.
 */
export function relevanceOf(
  signals: Readonly<Signals>,
  weights: Weights,
  tops: Tops,
  places: Places,
  work: { readonly units: Float32Array; readonly turns: Float32Array } = {
    units: new Float32Array(places.slots),
    turns: new Float32Array(places.turns),
  },
): Float32Array {
  const scales = scalesOf(weights, tops);
  const ofTurns = surroundingsOf(signals, scales, places, work.turns);
  const { turn, slots } = places;
  const relevance = work.units;
  const words = { column: signals.words, scale: scales.words, alone: aloneShare("words", weights, scales) };
  const near = { column: signals.near, scale: scales.near, alone: aloneShare("near", weights, scales) };
  for (const { column, scale, alone } of [words, near]) {
    if (scale === 0) continue;
    for (let slot = 0; slot < slots; slot += 1) {
      const value = column[slot] as number;
      if (value <= 0) continue;
      const whole = (turn[slot] as number) < 0 ? scale + alone : scale;
      relevance[slot] = (relevance[slot] as number) + value * whole;
    }
  }
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] as number;
    if (at >= 0) relevance[slot] = (relevance[slot] as number) + (ofTurns[at] as number);
  }
  add(relevance, signals.claim, scales.claim);
  add(relevance, signals.time, scales.time);
  return relevance;
}

function add(sums: Float32Array, column: Float32Array, scale: number): void {
  const { length } = column;
  for (let place = 0; place < length; place += 1) {
    sums[place] = (sums[place] as number) + (column[place] as number) * scale;
  }
}

/** What the signals of turns and sessions add to the units of each turn. */
function surroundingsOf(
  signals: Readonly<Signals>,
  scales: Scales,
  { session }: Places,
  sums: Float32Array,
): Float32Array {
  const turns = sums.length;
  for (const signal of SIGNAL_NAMES) {
    const column = signals[signal];
    const scale = scales[signal];
    if (SIGNALS[signal] === "unit" || scale === 0 || column.length === 0) continue;
    if (SIGNALS[signal] === "turn") {
      add(sums, column, scale);
      continue;
    }
    for (let turn = 0; turn < turns; turn += 1) {
      sums[turn] = (sums[turn] as number) + (column[session[turn] as number] as number) * scale;
    }
  }
  return sums;
}

/** What a signal of a unit from no turn counts for besides, in place of the surroundings that it has not. */
function aloneShare(signal: "words" | "near", weights: Weights, scales: Scales): number {
  if (weights[signal] === 0) return 0;
  const around = SIGNAL_NAMES.filter((one) => ALONE[one] === signal && scales[one] > 0);
  return around.reduce((sum, one) => sum + (weights[one] / weights[signal]) * scales[signal], 0);
}

/** What each signal added to the relevance of one unit. */
export function partsOf(
  signals: Readonly<Signals>,
  weights: Weights,
  tops: Tops,
  places: Places,
  slot: number,
): Partial<Record<Signal, number>> {
  const scales = scalesOf(weights, tops);
  const isAlone = (places.turn[slot] as number) < 0;
  const parts: Partial<Record<Signal, number>> = {};
  for (const signal of SIGNAL_NAMES) {
    let scale = scales[signal];
    if (isAlone && (signal === "words" || signal === "near")) scale += aloneShare(signal, weights, scales);
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
