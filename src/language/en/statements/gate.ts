import { embedSentence } from "../embedding/sentence-vectors.ts";
import type { Features } from "./features.ts";
import { SIGN_WEIGHTS, VECTOR_WEIGHTS } from "./gate-weights.ts";

/** How likely a statement is one to keep, an intent, or neither. The three add up to 1. */
export interface Verdict {
  readonly keep: number;
  readonly intent: number;
  readonly drop: number;
}

const SIGNS: ReadonlyMap<string, readonly number[]> = new Map(
  SIGN_WEIGHTS.trim()
    .split(/;\s*/)
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [name = "", ...weights] = entry.split(" ");
      return [name.replaceAll("_", " "), weights.map(Number)] as const;
    }),
);
const VECTORS = VECTOR_WEIGHTS.map((line) => line.trim().split(/\s+/).map(Number));

/**
 * Scores a statement by its signs and the vector of its wording: a multinomial logistic regression, fitted by `scripts/statements/fit.ts`
 * on candidates that two readers judged. `source` says who worded it.
 */
export function scoreStatement(features: Features, text: string, source: "rules" | "trees"): Verdict {
  const scores = [0, 0, 0];
  const add = (weights: readonly number[] | undefined, value: number): void => {
    for (let c = 0; c < 3; c += 1) scores[c] = (scores[c] ?? 0) + (weights?.[c] ?? 0) * value;
  };
  for (const [name, value] of features) add(SIGNS.get(name), value);
  add(SIGNS.get(`source:${source}`), 1);
  add(SIGNS.get("bias"), 1);
  const vector = embedSentence(text);
  VECTORS.forEach((weights, c) => {
    scores[c] = (scores[c] ?? 0) + weights.reduce((sum, weight, d) => sum + weight * (vector[d] ?? 0), 0);
  });
  const most = Math.max(...scores);
  const [keep = 0, intent = 0, drop = 0] = scores.map((score) => Math.exp(score - most));
  const sum = keep + intent + drop;
  return { keep: keep / sum, intent: intent / sum, drop: drop / sum };
}
