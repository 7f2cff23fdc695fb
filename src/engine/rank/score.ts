import type { Profile, Quality, Weights } from "./profiles.ts";
import { SIGNALS, type Signal, type Signals } from "./signals.ts";

/**
 * Signals without a natural top: each counts as a share of what the best unit has, so that a weight means the same
 * for a short question and a long one. What is not relevant changes no top, and so no order.
 */
const RELATIVE: ReadonlySet<Signal> = new Set(["words", "window", "session", "near", "around"]);

/** What each signal is divided by: the greatest value there is, or 1; 0 where no unit has any of it. */
export type Tops = { readonly [signal in Signal]: number };

export type Qualities = { readonly [quality in Quality]: number };

export function topsOf(signals: Readonly<Signals>): Tops {
  const tops = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNALS) {
    const top = greatest(signals[signal]);
    tops[signal] = RELATIVE.has(signal) ? top : Math.ceil(top);
  }
  return tops;
}

function greatest(column: Float32Array): number {
  let top = 0;
  for (let slot = 0; slot < column.length; slot += 1)
    if ((column[slot] as number) > top) top = column[slot] as number;
  return top;
}

/** The weights of a profile where a share (0 to 1) of the conversation is people talking among themselves. */
export function weightsFor(profile: Profile, talk: number): Weights {
  const mixed = {} as { -readonly [signal in Signal]: number };
  for (const signal of SIGNALS)
    mixed[signal] = talk * profile.talk[signal] + (1 - talk) * profile.chat[signal];
  return mixed;
}

/**
 * The relevance of every unit: the weighted mean of its signals, 0 to 1. A signal that no unit has is left out of
 * the mean, so that the best unit of a conversation without names or claims can reach 1 as well.
 */
export function relevanceOf(
  signals: Readonly<Signals>,
  weights: Weights,
  tops: Tops,
  slots: number,
): Float32Array {
  const relevance = new Float32Array(slots);
  let sum = 0;
  for (const signal of SIGNALS) if (tops[signal] > 0) sum += weights[signal];
  for (const signal of SIGNALS) {
    if (weights[signal] === 0 || tops[signal] <= 0) continue;
    const scale = weights[signal] / tops[signal] / sum;
    const column = signals[signal];
    for (let slot = 0; slot < slots; slot += 1) {
      const value = column[slot] as number;
      if (value > 0) relevance[slot] = (relevance[slot] as number) + value * scale;
    }
  }
  return relevance;
}

/** What each signal added to the relevance of one unit. */
export function partsOf(
  signals: Signals,
  weights: Weights,
  tops: Tops,
  slot: number,
): Partial<Record<Signal, number>> {
  const sum = SIGNALS.reduce((all, signal) => all + (tops[signal] > 0 ? weights[signal] : 0), 0);
  const parts: Partial<Record<Signal, number>> = {};
  for (const signal of SIGNALS) {
    const value = signals[signal][slot] ?? 0;
    if (value > 0 && weights[signal] !== 0) parts[signal] = (value / tops[signal]) * (weights[signal] / sum);
  }
  return parts;
}

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

const QUALITIES: readonly Quality[] = ["recency", "evidence", "importance", "confidence"];
