import { findRequestCandidates, type RequestCandidate } from "./request-features.ts";
import { REQUEST_WEIGHTS } from "./request-weights.ts";

/** From this probability on, a sentence is taken for a request and carried out. */
export const SURE_REQUEST = 0.9;
/** From this probability on, a sentence may be a request and is asked back. */
export const LIKELY_REQUEST = 0.8;

/** A verb of a sentence with the probability that it asks to forget. */
export interface ScoredCandidate extends RequestCandidate {
  readonly probability: number;
}

/** The candidates of a sentence, most probable first. Never empty. */
export function scoreRequest(sentence: string): ScoredCandidate[] {
  return findRequestCandidates(sentence)
    .map((candidate) => ({ ...candidate, probability: probabilityOf(candidate) }))
    .sort((one, other) => other.probability - one.probability);
}

function probabilityOf({ features }: RequestCandidate): number {
  const score = [...new Set(features)].reduce(
    (sum, name) => sum + (REQUEST_WEIGHTS[name] ?? 0),
    REQUEST_WEIGHTS.bias ?? 0,
  );
  return 1 / (1 + Math.exp(-score));
}
