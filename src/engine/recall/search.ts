import { MEMORY_KINDS } from "../../domain/memory.ts";
import { extractTerms, isUnspacedText } from "../../domain/search/search-terms.ts";
import type { Question } from "../../ports/language/question-reader.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import { findQueryHints, findQueryStyle, type QueryStyle } from "./retrievers/query-hints.ts";
import { createSignals, type Scratch, type Signals, type UnitPlaces } from "./retrievers/signals.ts";
import {
  computeTalkShare,
  retrieveByClaims,
  retrieveByTime,
  retrieveByTurns,
  TURN_BITS,
} from "./retrievers/structured-retrievers.ts";
import { selectCandidates } from "./retrievers/top-k.ts";
import {
  computeMissingCosines,
  type QuerySimilarity,
  retrieveByCenteredVectors,
  retrieveByVectors,
} from "./retrievers/vector-retriever.ts";
import { parseCharacterQuery, retrieveByWords } from "./retrievers/word-retriever.ts";
import { blendWeights, computeRelevance, type RankingProfile, type SignalWeights } from "./scoring.ts";

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
interface SearchQuery {
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

const PREFERENCE_KIND = MEMORY_KINDS.indexOf("preference");
const INSTRUCTION_KIND = MEMORY_KINDS.indexOf("instruction");
const CURRENT_STATUS = 0;

/**
 * Above this share of the embedder's floor, a preference has to do with a request for advice: "I prefer hostels" lies
 * nearer to "Where should I stay?" than other preferences do, but far below what two statements of one thing share. Of
 * 15 preferences and 15 requests, 6 in 10 of those that belong together pass among a few memories, and 1 in 8 of the others.
 */
const MIN_FLOOR_SHARE = 0.3;

/**
 * How sure it is that what the user prefers has to do with a request for advice, by slot: 0 to 1, from its cosine with
 * the request. 0 for all that is no preference or instruction in force.
 */
function createWishEvidence(block: SearchIndex, near: Float32Array, floor: number): (slot: number) => number {
  const { row } = block.units.columns;
  const { kind, status } = block.memories.columns;
  const least = MIN_FLOOR_SHARE * floor;
  return (slot) => {
    const memory = row[slot] as number;
    if (memory < 0 || status[memory] !== CURRENT_STATUS) return 0;
    if (kind[memory] !== PREFERENCE_KIND && kind[memory] !== INSTRUCTION_KIND) return 0;
    return Math.max(0, ((near[slot] as number) - least) / (1 - floor));
  };
}
