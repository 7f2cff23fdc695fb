import { findRequestCandidates, type RequestCandidate } from "./request-features.ts";
import { readRequest } from "./request-network.ts";
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
  /** The same by the verb alone, and by all words of the sentence, where these are likely to ask. */
  readonly byVerb?: number;
  readonly byWords?: number;
}

/** In a message of more sentences, each is less likely a request: somebody who pastes a text asks for nothing in it. */
const FEW_SENTENCES = 4;

/** The candidates of a sentence, most probable first. Never empty. `among` is how many sentences its message has. */
export function scoreRequest(sentence: string, among = 1): ScoredCandidate[] {
  return findRequestCandidates(sentence)
    .map((candidate) => ({ ...candidate, probability: probabilityOf(candidate, among) }))
    .sort((one, other) => other.probability - one.probability);
}

/** The feature of a sentence that its words alone make a request. */
export const BY_WORDS = "by words";

/** From this probability on, the words of a sentence without a verb that asks make it a request. */
const LEAST_BY_WORDS = 0.65;
/** Below this probability, words speak against a verb that only may ask. */
const AGAINST = 0.1;
/** The most that they count by themselves: such a request is asked back. */
const MOST_BY_WORDS = 0.89;
/** How much each reading counts where both are taken together, in log-odds: by `scripts/forgetting/fit-certainty.ts`. */
const TOGETHER = { bias: 0.01, words: 1.1, verb: 0.17 };
/** What one reading counts at most: neither is surer than that. */
const MOST_ODDS = Math.log(0.998 / 0.002);

/**
 * A sentence that asks to forget by all its words: "I'd like the whole holiday out of there". Undefined where the network for requests does
 * not think so.
 */
export function requestByWords(sentence: string, among = 1): ScoredCandidate | undefined {
  const probability = probabilityByWords(sentence, among);
  if (probability < LEAST_BY_WORDS) return undefined;
  return {
    start: 0,
    end: 0,
    group: "none",
    isNegated: false,
    isPassive: false,
    features: [BY_WORDS],
    probability: Math.min(MOST_BY_WORDS, probability),
    ...bothReadings(sentence, among, probability),
  };
}

/** A candidate that may ask, as likely as all words of its sentence say, if they say more. */
export function supportedByWords(
  sentence: string,
  among: number,
  candidate: ScoredCandidate,
): ScoredCandidate {
  const byWords = probabilityByWords(sentence, among);
  const isToKeep = candidate.group === "keep" && !candidate.isNegated;
  if (isToKeep || byWords < LEAST_BY_WORDS) return candidate;
  const probability = Math.max(candidate.probability, Math.min(MOST_BY_WORDS, byWords));
  return { ...candidate, probability, ...bothReadings(sentence, among, byWords) };
}

/** Groups of verbs that ask to erase: denied, they ask to keep. */
const ERASING = /^(?:erase|discard|forget)$/;
/** Signs of words that somebody else said, or said before. */
const REPORTED = /^\w+ (?:reported|quoted)$/;

/** Both readings of a sentence. Neither where it denies the verb, or reports: all words together hardly tell "do not remove" from "remove". */
function bothReadings(
  sentence: string,
  among: number,
  byWords: number,
): Pick<ScoredCandidate, "byVerb" | "byWords"> {
  const verbs = scoreRequest(sentence, among);
  const isDenied = verbs.some(({ isNegated, group }) => isNegated && ERASING.test(group));
  const isReported = verbs.some(({ features }) => features.some((sign) => REPORTED.test(sign)));
  return isDenied || isReported ? {} : { byVerb: verbs[0]?.probability ?? 0, byWords };
}

/** The probability of a request by its verb and by all words of its sentence together; 0 where the words do not say that it is one. */
export function probabilityTogether({
  probability,
  byVerb = probability,
  byWords,
}: Pick<ScoredCandidate, "probability" | "byVerb" | "byWords">): number {
  if (byWords === undefined) return 0;
  return fromOdds(
    TOGETHER.bias + TOGETHER.words * toLimitedOdds(byWords) + TOGETHER.verb * toLimitedOdds(byVerb),
  );
}

/** The log-odds of a probability, within what one reading counts at most. */
export function toLimitedOdds(probability: number): number {
  return Math.max(-MOST_ODDS, Math.min(MOST_ODDS, Math.log(probability / (1 - probability))));
}

function fromOdds(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

function probabilityByWords(sentence: string, among: number): number {
  const { probability: alone } = readRequest(sentence);
  const odds = alone / (1 - alone) / Math.max(1, among / FEW_SENTENCES);
  return odds / (1 + odds);
}

/** Whether the words of a sentence say that a verb in it, which may ask to forget, does not. */
export function isDeniedByWords(sentence: string, { probability }: ScoredCandidate): boolean {
  return probability < SURE_REQUEST && readRequest(sentence).probability < AGAINST;
}

function probabilityOf({ features }: RequestCandidate, among: number): number {
  const score = [...new Set(features)].reduce(
    (sum, name) => sum + (REQUEST_WEIGHTS[name] ?? 0),
    (REQUEST_WEIGHTS.bias ?? 0) - Math.log(Math.max(1, among / FEW_SENTENCES)),
  );
  return 1 / (1 + Math.exp(-score));
}
