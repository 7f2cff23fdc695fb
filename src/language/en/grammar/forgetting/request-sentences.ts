import { findRequestCandidates, type RequestCandidate } from "./request-features.ts";
import { REQUEST_WEIGHTS } from "./request-weights.ts";

/** From this probability on, a sentence is taken for a request and carried out. */
export const SURE_REQUEST = 0.9;
/** From this probability on, a sentence may be a request and is asked back. */
export const LIKELY_REQUEST = 0.8;
/** From this probability on, it is asked back if it names what is stored: "get rid of Wildroot". */
export const POSSIBLE_REQUEST = 0.5;

/** A verb of a sentence with the probability that it asks to forget. */
export interface ScoredCandidate extends RequestCandidate {
  readonly probability: number;
}

/** In a message of more sentences, each is less likely a request: somebody who pastes a text asks for nothing in it. */
const FEW_SENTENCES = 4;

/** The candidates of a sentence, most probable first. Never empty. `among` is how many sentences its message has. */
export function scoreRequest(sentence: string, among = 1): ScoredCandidate[] {
  return findRequestCandidates(sentence)
    .map((candidate) => ({ ...candidate, probability: probabilityOf(candidate, among) }))
    .sort((one, other) => other.probability - one.probability);
}

function probabilityOf({ features }: RequestCandidate, among: number): number {
  const score = [...new Set(features)].reduce(
    (sum, name) => sum + (REQUEST_WEIGHTS[name] ?? 0),
    (REQUEST_WEIGHTS.bias ?? 0) - Math.log(Math.max(1, among / FEW_SENTENCES)),
  );
  return 1 / (1 + Math.exp(-score));
}
