import { MEMORY_KINDS } from "../../domain/memory.ts";
import { extractTerms, isUnspacedText } from "../../domain/search/search-terms.ts";
import type { Question } from "../../ports/language/question-reader.ts";
import type { QueryStyle, Vocabulary } from "../../ports/language/vocabulary.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import { findQueryHints } from "./retrievers/query-hints.ts";
import { createSignals, type Scratch, type Signals, type UnitPlaces } from "./retrievers/signals.ts";
import {
  computeTalkShare,
  retrieveByClaims,
  retrieveByKinds,
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

/** The results of all retrievers, by slot of the unit. */
export interface SearchResult {
  /** The search terms, and whether they were pairs of characters, without a vector. */
  readonly terms: readonly string[];
  readonly isByCharacters: boolean;
  readonly signals: Signals;
  readonly weights: SignalWeights;
  /** The scored units, in rising order. */
  readonly slots: Int32Array;
  /** Relevance of each scored unit, 0 to 1, relative to the other units; the ranking uses it. */
  readonly relevance: Float32Array;
  readonly places: UnitPlaces;
  /** Absolute evidence, 0 to 1: how certain it is that a unit relates to the query. */
  evidenceAt(slot: number): number;
}

/** The query as text and as a time span. */
interface SearchQuery {
  readonly query: string;
  readonly span: Pick<Question, "from" | "to">;
  /** The similarity of each unit by its codes, if the query has a vector. */
  readonly near: QuerySimilarity | undefined;
  readonly vocabulary: Vocabulary;
  /** The only slots to score, in rising order, if a filter has found them. */
  readonly only?: Int32Array | undefined;
}

/** The results that need no vectors. */
export interface TextSearchResult
  extends Pick<SearchResult, "terms" | "isByCharacters" | "signals" | "weights" | "slots"> {
  readonly share: Float32Array;
  readonly style: QueryStyle;
}

/**
 * Runs the retrievers that need no vector over every unit of the index, and selects the units to score. The
 * result is valid as long as that of `search`.
 */
export function searchByText(
  searchIndex: SearchIndex,
  scratch: Scratch,
  { query, span, near, vocabulary, only }: SearchQuery,
  profile: RankingProfile,
): TextSearchResult {
  const signals = createSignals(TURN_BITS);
  const isByCharacters = !near && isUnspacedText(query);
  const { terms, trust } = isByCharacters
    ? parseCharacterQuery(searchIndex, query)
    : { terms: extractTerms(query) };
  const {
    share,
    slots: wordSlots,
    turns: windowTurns,
  } = retrieveByWords(searchIndex, scratch, terms, signals, trust);
  const style = vocabulary.phrases.readQuery(query);
  retrieveByTurns(searchIndex, scratch, query, style, signals);
  const claimSlots = retrieveByClaims(
    searchIndex,
    scratch,
    findQueryHints(searchIndex, query, vocabulary),
    signals,
  ).concat(retrieveByKinds(searchIndex, scratch, terms, signals));
  retrieveByTime(searchIndex, scratch, span, signals);
  const weights = blendWeights(profile, computeTalkShare(searchIndex));
  const { words, window, claim } = signals.columns;
  const nearest = near?.foremost ?? [];
  const found = { words, wordSlots, window, windowTurns, nearest, claim, claimSlots };
  const slots = only ?? selectCandidates(searchIndex, scratch, found);
  if (near) computeMissingCosines(searchIndex, near, slots);
  return { terms, isByCharacters, signals, weights, slots, share, style };
}

// Objects passed to hot loops are literals. V8 forgets the shape of a spread object with its last instance,
// together with the code compiled for it.

/**
 * Runs the vector retrievers as well and scores the units by all signals. `near` is absent if the query has
 * no vector; `floor` is the cosine below which the embedder's vectors carry no information. The result is
 * valid while the scratch is lent and the index is unchanged, until the next call with more exact cosines.
 */
export function search(
  searchIndex: SearchIndex,
  scratch: Scratch,
  { terms, isByCharacters, signals, weights, slots, share, style }: TextSearchResult,
  { near, floor }: { readonly near: QuerySimilarity | undefined; readonly floor: number },
): SearchResult {
  const places = {
    slots: searchIndex.units.count,
    turn: searchIndex.units.columns.turn,
    turns: searchIndex.turns.count,
    session: searchIndex.turns.columns.session,
    speaker: searchIndex.turns.columns.speaker,
    bits: searchIndex.turns.columns.flags,
  };
  if (near) retrieveByVectors(searchIndex, scratch, near, slots, signals);
  if (near) {
    const { isRequest } = style;
    retrieveByCenteredVectors(
      searchIndex,
      scratch,
      { vector: near.vector, near: near.near, slots, isRequest },
      signals,
    );
  }
  const relevance = computeRelevance(signals, weights, places, slots, scratch.raw("relevance", slots.length));
  const plain = createEvidence(signals, share, floor);
  const wished =
    near && style.isRequest ? createWishEvidence(searchIndex, signals.columns.near, floor) : undefined;
  const evidenceAt = wished ? (slot: number): number => Math.max(plain(slot), wished(slot)) : plain;
  return { terms, isByCharacters, signals, weights, places, slots, relevance, evidenceAt };
}

/**
 * How certain it is that each unit relates to the query, regardless of the other units. It is the share of
 * the query's words in the unit and its cosine above the embedder's floor, or the fit of its claim.
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
 * The evidence that the best unit needs; below it, nothing stored relates to the query. It rises with the
 * number of units, because the nearest of many is nearer by chance. Calibrated on questions to their own
 * conversation and to others: among a handful of messages, 19 of 20 questions reach their answer. Of
 * questions put to a foreign conversation, 9 of 10 reach nothing.
 */
export function computeThreshold(units: number): number {
  return Math.min(0.6, 0.15 + 0.045 * Math.max(0, Math.log2(units / 8)));
}

const PREFERENCE_KIND = MEMORY_KINDS.indexOf("preference");
const INSTRUCTION_KIND = MEMORY_KINDS.indexOf("instruction");
const CURRENT_STATUS = 0;

/**
 * A preference above this share of the embedder's floor relates to a request for advice. "I prefer hostels"
 * is nearer to "Where should I stay?" than other preferences are, but far less near than two statements of
 * one fact. Of 15 preferences and 15 requests, 6 in 10 matching pairs pass among a few memories, and 1 in 8
 * of the others.
 */
const MIN_FLOOR_SHARE = 0.3;

/**
 * The certainty that a preference relates to a request for advice, by slot: 0 to 1, from its cosine with the request. It is 0 for
 * everything except active preferences and instructions.
 */
function createWishEvidence(
  searchIndex: SearchIndex,
  near: Float32Array,
  floor: number,
): (slot: number) => number {
  const { row } = searchIndex.units.columns;
  const { kind, status } = searchIndex.memories.columns;
  const least = MIN_FLOOR_SHARE * floor;
  return (slot) => {
    const memory = row[slot] as number;
    if (memory < 0 || status[memory] !== CURRENT_STATUS) return 0;
    if (kind[memory] !== PREFERENCE_KIND && kind[memory] !== INSTRUCTION_KIND) return 0;
    return Math.max(0, ((near[slot] as number) - least) / (1 - floor));
  };
}
