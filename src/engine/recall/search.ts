import type { Memory } from "../../domain/memory.ts";
import { analyse } from "../../domain/words.ts";
import type { Question } from "../../ports/question-reader.ts";
import type { Profile, Weights } from "../rank/profiles.ts";
import { relevanceOf, type Tops, topsOf, weightsFor } from "../rank/score.ts";
import { noSignals, type Signals } from "../rank/signals.ts";
import { searchClaims, searchTime } from "./claim-arm.ts";
import type { Corpus } from "./corpus.ts";
import { searchTurns } from "./turn-arm.ts";
import { searchVectors } from "./vector-arm.ts";
import { searchWords } from "./word-arm.ts";

/** A query longer than this is judged by its first words. */
const MOST_TERMS = 512;

/** What all arms found, by number of the unit. */
export interface Found {
  readonly terms: readonly string[];
  readonly signals: Signals;
  readonly weights: Weights;
  readonly tops: Tops;
  /** 0 to 1, relative to the other units: what is ranked by. */
  readonly relevance: Float32Array;
  /** 0 to 1, by itself: how sure it is that the unit has to do with the query at all. */
  readonly evidence: Float32Array;
}

/** What is asked: as text, as a vector, as a question. */
export interface Asked {
  readonly query: string;
  readonly vector: Float32Array;
  readonly question: Question;
  /** Cosine below which the embedder's vectors tell nothing. */
  readonly floor: number;
}

/** Asks every arm about every unit of the corpus, and weighs what they say. */
export function search(
  corpus: Corpus,
  memories: ReadonlyMap<string, Memory>,
  { query, vector, question, floor }: Asked,
  profile: Profile,
): Found {
  const terms = analyse(query).slice(0, MOST_TERMS);
  const signals = noSignals(corpus.slots);
  const share = searchWords(corpus, terms, signals);
  searchVectors(corpus, vector, signals);
  searchTurns(corpus, query, signals);
  searchClaims(corpus, memories, question, signals);
  searchTime(corpus, memories, question, signals);
  const weights = weightsFor(profile, talkShare(corpus));
  const tops = topsOf(signals);
  return {
    terms,
    signals,
    weights,
    tops,
    relevance: relevanceOf(signals, weights, tops),
    evidence: evidenceOf(signals, share, floor),
  };
}

/** The share of turns in which people talk among themselves: under a name, with no assistant in the session. */
function talkShare({ turns }: Corpus): number {
  let talk = 0;
  for (const places of turns.names.values()) {
    for (const at of places) if ((turns.assistantTurns[turns.session[at] ?? -1] ?? 0) === 0) talk += 1;
  }
  return turns.names.size < 2 ? 0 : talk / turns.messages.length;
}

/**
 * How sure each unit is to have to do with the query, without regard to the others: the share of the query's words
 * that it holds, and how far its cosine lies above the embedder's floor; or how well its claim fits.
 */
function evidenceOf(signals: Signals, share: Float32Array, floor: number): Float32Array {
  const evidence = new Float32Array(share.length);
  for (let slot = 0; slot < share.length; slot += 1) {
    const near = Math.max(0, ((signals.near[slot] as number) - floor) / (1 - floor));
    evidence[slot] = Math.min(1, Math.max((share[slot] as number) + near, signals.claim[slot] as number));
  }
  return evidence;
}

/**
 * The evidence that the best unit must have, or else nothing stored has to do with the query. The more there is, the
 * nearer the nearest lies by chance. Calibrated on questions put to their own conversation and to others': among a
 * handful of messages it lets 19 of 20 questions pass to what answers them and stops 19 of 20 put to strangers.
 */
export function thresholdFor(units: number): number {
  return Math.min(0.6, 0.2 + 0.04 * Math.max(0, Math.log2(units / 8)));
}
