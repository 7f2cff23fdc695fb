import type { Profile, Quality, Weights } from "./profiles.ts";
import { isBit, type Places, SIGNAL_NAMES, type Signal, type Signals, signalAt } from "./signals.ts";

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
 * The relevance of every unit, by number: the weighted mean of its signals, 0 to 1. `work` holds the columns that it is
 * worked out in: one by unit, one by turn.
 */
export function relevanceOf(
  signals: Readonly<Signals>,
  weights: Weights,
  places: Places,
  work: { readonly units: Float32Array; readonly turns: Float32Array } = {
    units: new Float32Array(places.slots),
    turns: new Float32Array(places.turns),
  },
): Float32Array {
  const scales = scalesOf(weights, signals.tops);
  const ofTurns = surroundingsOf(signals, scales, places, work.turns);
  const relevance = work.units;
  const { turn, slots } = places;
  const words = filled(signals.columns.words, slots);
  const near = filled(signals.columns.near, slots);
  const scaleWords = scales.words;
  const scaleNear = scales.near;
  const aloneWords = scaleWords + aloneShare("words", weights, scales);
  const aloneNear = scaleNear + aloneShare("near", weights, scales);
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] as number;
    const cosine = near[slot] as number;
    const above = cosine > 0 ? cosine : 0;
    relevance[slot] =
      at < 0
        ? (words[slot] as number) * aloneWords + above * aloneNear
        : (words[slot] as number) * scaleWords + above * scaleNear + (ofTurns[at] as number);
  }
  add(relevance, signals.columns.claim, scales.claim);
  add(relevance, signals.columns.time, scales.time);
  return relevance;
}

/** The column, or zeros where nothing has the signal. */
function filled(column: Float32Array, length: number): Float32Array {
  return column.length > 0 ? column : zeros(length);
}

let someZeros = new Float32Array(0);

function zeros(length: number): Float32Array {
  if (someZeros.length < length) someZeros = new Float32Array(length);
  return someZeros;
}

function add(sums: Float32Array, column: Float32Array, scale: number): void {
  const { length } = column;
  if (scale === 0) return;
  for (let place = 0; place < length; place += 1) {
    sums[place] = (sums[place] as number) + (column[place] as number) * scale;
  }
}

/** What the signals of turns and sessions add to the units of each turn. */
function surroundingsOf(
  signals: Readonly<Signals>,
  scales: Scales,
  { turns, session, speaker, bits }: Places,
  sums: Float32Array,
): Float32Array {
  const { columns } = signals;
  const window = filled(columns.window, turns);
  const around = filled(columns.around, turns);
  const sessions = filled(columns.session, turns);
  const byBits = bitTable(signals, scales);
  for (let turn = 0; turn < turns; turn += 1) {
    sums[turn] =
      (window[turn] as number) * scales.window +
      (around[turn] as number) * scales.around +
      (sessions[session[turn] as number] as number) * scales.session +
      (byBits[bits[turn] as number] as number);
  }
  if (scales.named === 0) return sums;
  for (let turn = 0; turn < turns; turn += 1) {
    const who = speaker[turn] as number;
    if (who >= 0) sums[turn] = (sums[turn] as number) + (signals.named[who] as number) * scales.named;
  }
  return sums;
}

/** What each pattern of bits adds. */
function bitTable({ bits }: Readonly<Signals>, scales: Scales): Float32Array {
  const table = new Float32Array(256);
  for (const signal of SIGNAL_NAMES) {
    if (!isBit(signal) || scales[signal] === 0) continue;
    for (let pattern = 0; pattern < 256; pattern += 1) {
      if ((pattern & bits[signal]) !== 0) table[pattern] = (table[pattern] as number) + scales[signal];
    }
  }
  return table;
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
  places: Places,
  slot: number,
): Partial<Record<Signal, number>> {
  const scales = scalesOf(weights, signals.tops);
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
