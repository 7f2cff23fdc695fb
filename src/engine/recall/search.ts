import { extractTerms, isUnspacedText } from "../../domain/words.ts";
import type { Question } from "../../ports/question-reader.ts";
import type { SearchIndex } from "../block/block.ts";
import type { RankingProfile, SignalWeights } from "../rank/profiles.ts";
import { blendWeights, computeRelevance } from "../rank/score.ts";
import { createSignals, type Signals, type UnitPlaces } from "../rank/signals.ts";
import { retrieveByCenteredVectors } from "./apart-arm.ts";
import { parseCharacterQuery } from "./by-characters.ts";
import { selectCandidates } from "./candidates.ts";
import { retrieveByClaims } from "./claim-arm.ts";
import { findQueryHints } from "./cues.ts";
import { findQueryStyle, type QueryStyle } from "./manner.ts";
import type { Scratch } from "./scratch.ts";
import { retrieveByTime } from "./time-arm.ts";
import { computeTalkShare, retrieveByTurns, TURN_BITS } from "./turn-arm.ts";
import { computeMissingCosines, type QuerySimilarity, retrieveByVectors } from "./vector-arm.ts";
import { createWishEvidence } from "./wishes.ts";
import { retrieveByWords } from "./word-arm.ts";

/** What all arms found, by slot of the unit. */
export interface SearchResult {
  /** What was searched for, and whether it was pairs of characters, with no vector. */
  readonly terms: readonly string[];
  readonly isByCharacters: boolean;
  readonly signals: Signals;
  readonly weights: SignalWeights;
  /** The units that were weighed, in rising order. */
  readonly slots: Int32Array;
  /** Of each of them, 0 to 1, relative to the other units: what is ranked by. */
  readonly relevance: Float32Array;
  readonly places: UnitPlaces;
  /** 0 to 1, by itself: how sure it is that a unit has to do with the query at all. */
  evidenceAt(slot: number): number;
}

/** What is asked, as text and as a span of time. */
export interface SearchQuery {
  readonly query: string;
  readonly span: Pick<Question, "from" | "to">;
  /** How near each unit is by its codes, where the query has a vector. */
  readonly near: QuerySimilarity | undefined;
}

/** What is found without the vectors themselves. */
export interface TextSearchResult
  extends Pick<SearchResult, "terms" | "isByCharacters" | "signals" | "weights" | "slots"> {
  readonly share: Float32Array;
  readonly manner: QueryStyle;
}

/**
 * Asks the arms that need no vector about every unit of the block, and tells which units are to be weighed. It is valid as what
 * `search` gives is.
 */
export function searchByText(
  block: SearchIndex,
  scratch: Scratch,
  { query, span, near }: SearchQuery,
  profile: RankingProfile,
): TextSearchResult {
  const signals = createSignals(TURN_BITS);
  const isByCharacters = !near && isUnspacedText(query);
  const { terms, trust } = isByCharacters
    ? parseCharacterQuery(block, query)
    : { terms: extractTerms(query) };
  const {
    share,
    slots: wordSlots,
    turns: windowTurns,
  } = retrieveByWords(block, scratch, terms, signals, trust);
  const manner = findQueryStyle(query);
  retrieveByTurns(block, scratch, query, manner, signals);
  const claimSlots = retrieveByClaims(block, scratch, findQueryHints(block, query), signals);
  retrieveByTime(block, scratch, span, signals);
  const weights = blendWeights(profile, computeTalkShare(block));
  const { words, window, claim } = signals.columns;
  const nearest = near?.foremost ?? [];
  const slots = selectCandidates(block, scratch, {
    words,
    wordSlots,
    window,
    windowTurns,
    nearest,
    claim,
    claimSlots,
  });
  if (near) computeMissingCosines(block, near, slots);
  return { terms, isByCharacters, signals, weights, slots, share, manner };
}

// What is passed to loops is written out: the shape of an object that was spread together is forgotten with the last such object, and
// what V8 compiled for it as well.

/**
 * Asks the arms that go by vectors as well, and weighs what all say. `near` is absent where the query has no vector; `floor`
 * is the cosine below which the embedder's vectors tell nothing. What it gives is valid as long as the scratch is lent and
 * the block does not change; and until it is asked again, with cosines that are more exact.
 */
export function search(
  block: SearchIndex,
  scratch: Scratch,
  { terms, isByCharacters, signals, weights, slots, share, manner }: TextSearchResult,
  { near, floor }: { readonly near: QuerySimilarity | undefined; readonly floor: number },
): SearchResult {
  const places = {
    slots: block.units.count,
    turn: block.units.columns.turn,
    turns: block.turns.count,
    session: block.turns.columns.session,
    speaker: block.turns.columns.speaker,
    bits: block.turns.columns.flags,
  };
  if (near) retrieveByVectors(block, scratch, near, slots, signals);
  if (near) {
    const { isRequest } = manner;
    retrieveByCenteredVectors(
      block,
      scratch,
      { vector: near.vector, near: near.near, slots, isRequest },
      signals,
    );
  }
  const relevance = computeRelevance(signals, weights, places, slots, scratch.raw("relevance", slots.length));
  const plain = createEvidence(signals, share, floor);
  const wished =
    near && manner.isRequest ? createWishEvidence(block, signals.columns.near, floor) : undefined;
  const evidenceAt = wished ? (slot: number): number => Math.max(plain(slot), wished(slot)) : plain;
  return { terms, isByCharacters, signals, weights, places, slots, relevance, evidenceAt };
}

/**
 * How sure each unit is to have to do with the query, without regard to the others: the share of the query's words
 * that it holds, and how far its cosine lies above the embedder's floor; or how well its claim fits.
 */
function createEvidence({ columns }: Signals, share: Float32Array, floor: number): (slot: number) => number {
  const { near, claim } = columns;
  return (slot) => {
    const above = near.length > 0 ? Math.max(0, ((near[slot] as number) - floor) / (1 - floor)) : 0;
    const fit = claim.length > 0 ? (claim[slot] as number) : 0;
    return Math.min(1, Math.max((share[slot] as number) + above, fit));
  };
}

/**
 * The evidence that the best unit must have, or else nothing stored has to do with the query. The more there is, the
 * nearer the nearest lies by chance. Calibrated on questions put to their own conversation and to others': among a
 * handful of messages 19 of 20 questions reach what answers them, and 9 of 10 put to a stranger reach nothing.
 */
export function computeThreshold(units: number): number {
  return Math.min(0.6, 0.15 + 0.045 * Math.max(0, Math.log2(units / 8)));
}
