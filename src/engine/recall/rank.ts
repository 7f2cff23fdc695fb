import type { Status } from "../../domain/memory.ts";
import { type SearchIndex, unitIdAt } from "../block/block.ts";
import type { TurnPosition } from "../context.ts";
import { type Qualities, scoreOf } from "../rank/score.ts";
import { findExclusion, type IndexFilters } from "./bounds.ts";
import { diversifyUnits } from "./by-characters.ts";
import { selectTopK, selectTopKOf } from "./greatest.ts";
import { computeThreshold, type SearchResult } from "./search.ts";
import { arrangeCandidates, type RankCandidate } from "./select.ts";
import { statusOfUnit } from "./standing.ts";
import type { ParsedRecallOptions } from "./take-options.ts";

export interface RankingInput {
  readonly block: SearchIndex;
  readonly search: SearchResult;
  readonly options: ParsedRecallOptions;
  readonly filters: IndexFilters;
  /** Of units that have been looked at closely, by slot: whoever ranks twice finds them here. */
  readonly facts: Map<number, UnitFacts>;
}

/** What does not hang on how relevant a unit is. */
interface UnitFacts extends Pick<RankCandidate, "id" | "type" | "turns" | "key"> {
  readonly status: Status;
  readonly qualities: Qualities;
}

export interface RankingResult {
  /** Best first. */
  readonly chosen: readonly RankedUnit[];
  readonly considered: number;
  readonly dropped: readonly DroppedUnit[];
}

/** A unit that has got a place. */
export interface RankedUnit {
  readonly slot: number;
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly status: Status;
  /** Of a passage: where it stands in the conversation. */
  readonly position: TurnPosition | undefined;
  /** Of a passage: its message, and its place in it in characters. */
  readonly message: string;
  readonly span: { readonly start: number; readonly end: number } | undefined;
}

export interface DroppedUnit {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly why: string;
}

/** What is left out, as a share of the best relevance. */
const MIN_RELEVANCE_SHARE = 0.35;
/** What no longer holds, and what never did, rank below what does. */
const STATUS_FACTORS: { readonly [status in Status]: number } = {
  current: 1,
  superseded: 0.5,
  retracted: 0.35,
};
/** Words that were read from a message tell less than the message, but for a claim that has to do with what is asked. */
const DERIVED_FACTOR = 0.9;
const UNASKED_FACTOR = 0.3;
/** How many units are looked at closely, besides those wanted. */
const SPARE_UNITS = 30;
const DAY_MS = 86_400_000;
/** From this fit on, a claim answers the question itself. */
const MIN_ANSWER_FIT = 0.5;

/** From what was found to what is given: bounds, threshold, qualities, standing, places. */
export function rankUnits(ranking: RankingInput): RankingResult {
  const { block, search: found, options: wanted } = ranking;
  const considered = block.words.size;
  const { near, dropped } = gatherRelevant(ranking);
  const certainty = computeCertainty(near, found);
  const inOrder = arrangeCandidates(toCandidates(ranking, near, certainty));
  const arranged = found.isByCharacters ? diversifyUnits(block, found.terms, inOrder) : inOrder;
  const isSure = certainty >= computeThreshold(considered);
  const chosen: RankedUnit[] = [];
  for (const candidate of arranged) {
    const { id, type, score } = candidate;
    const why = isSure
      ? findDropReason(score, chosen.length, wanted)
      : "it has too little to do with the query";
    if (why === undefined) chosen.push(toRankedUnit(ranking, candidate));
    else dropped.push({ id, type, score, why });
  }
  return { chosen, considered, dropped };
}

// Loops, and no functions made on the way: see `fromGreatest`. A recall on PostgreSQL takes a quarter longer with them.

function computeCertainty(near: readonly WeighedUnit[], { evidenceAt }: SearchResult): number {
  let most = 0;
  for (const { slot } of near) most = Math.max(most, evidenceAt(slot));
  return most;
}

function toCandidates(
  ranking: RankingInput,
  near: readonly WeighedUnit[],
  certainty: number,
): RankCandidate[] {
  const candidates: RankCandidate[] = [];
  for (const one of near) candidates.push(toCandidate(ranking, one, certainty));
  return candidates;
}

function findDropReason(
  score: number,
  taken: number,
  { minScore, limit }: ParsedRecallOptions,
): string | undefined {
  if (score < minScore) return "below minScore";
  return taken < limit ? undefined : "beyond the limit";
}

function toRankedUnit(ranking: RankingInput, { slot, id, type, score }: RankCandidate): RankedUnit {
  const { block } = ranking;
  const { turn, start, end } = block.units.columns;
  return {
    slot,
    id,
    type,
    score,
    status: getUnitFacts(ranking, slot).status,
    position:
      type === "passage"
        ? { turn: turn[slot] as number, next: block.turns.columns.next[turn[slot] as number] as number }
        : undefined,
    message: block.turns.ids.at(turn[slot] as number) ?? "",
    span: type === "passage" ? { start: start[slot] as number, end: end[slot] as number } : undefined,
  };
}

/** A unit and its relevance. */
interface WeighedUnit {
  readonly slot: number;
  readonly relevance: number;
}

/** The units to choose from: the most relevant of those that may be given, and not far below the best. */
interface RelevantUnits {
  readonly near: readonly WeighedUnit[];
  readonly best: number;
  readonly dropped: DroppedUnit[];
}

function gatherRelevant(ranking: RankingInput): RelevantUnits {
  const top = selectTopK(ranking.search.relevance);
  const near = collectRelevant(ranking, top * minRelevanceOf(ranking));
  // Where the bounds leave out the most relevant, what is near to the best of the rest may lie below.
  const isWhole = near.best >= top || near.near.length >= targetCountOf(ranking);
  return isWhole ? near : collectRelevant(ranking, near.best * minRelevanceOf(ranking));
}

function minRelevanceOf({ search: found }: RankingInput): number {
  return found.isByCharacters ? 0 : MIN_RELEVANCE_SHARE;
}

/** Looks closely at units from the most relevant down to `least`, some at a time, until there are enough. */
function collectRelevant(ranking: RankingInput, least: number): RelevantUnits {
  const { relevance, slots } = ranking.search;
  const near: WeighedUnit[] = [];
  const dropped: DroppedUnit[] = [];
  let best = 0;
  const wanted = targetCountOf(ranking);
  for (const some of eachByRelevance(relevance, Math.max(least, Number.MIN_VALUE), wanted)) {
    for (const place of some) {
      const slot = slots[place] as number;
      const value = relevance[place] as number;
      const why = findExclusion(ranking.block, slot, ranking.filters) ?? findEvidenceGap(ranking, slot);
      if (why === undefined) near.push({ slot, relevance: value });
      else if (why !== "gone") dropped.push(toDropped(ranking, slot, why));
      if (why === undefined) best = Math.max(best, value);
    }
    if (near.length >= wanted) break;
  }
  return { near: filterByRelevance(near, best * minRelevanceOf(ranking)), best, dropped };
}

function filterByRelevance(near: readonly WeighedUnit[], least: number): WeighedUnit[] {
  const kept: WeighedUnit[] = [];
  for (const one of near) if (one.relevance >= least) kept.push(one);
  return kept;
}

function toDropped({ block }: RankingInput, slot: number, why: string): DroppedUnit {
  const type = (block.units.columns.row[slot] as number) >= 0 ? "memory" : "passage";
  return { id: unitIdAt(block, slot), type, score: 0, why };
}

function targetCountOf({ options: wanted }: RankingInput): number {
  return SPARE_UNITS + 2 * wanted.limit;
}

/** Good neighbours alone bring nothing up: among few messages everything is near to what is asked after. */
function findEvidenceGap({ search: found }: RankingInput, slot: number): string | undefined {
  return found.evidenceAt(slot) > 0 ? undefined : "it shares nothing with the query";
}

/**
 * The units from the most relevant down to `least`, some at a time: mostly the first few are enough, and where bounds
 * leave many out, each round has eight times as many.
 */
function* eachByRelevance(
  relevance: Float32Array,
  least: number,
  wanted: number,
): Generator<readonly number[]> {
  let seen = 0;
  for (let most = wanted; seen < relevance.length; most *= 8) {
    const best = selectTopKOf(relevance, most, least);
    yield best.slice(seen);
    if (best.length < most) return;
    seen = best.length;
  }
}

function toCandidate(
  ranking: RankingInput,
  { slot, relevance }: WeighedUnit,
  certainty: number,
): RankCandidate {
  const { search: found, options: wanted } = ranking;
  const { id, type, turns, key, status, qualities } = getUnitFacts(ranking, slot);
  const fit = found.signals.columns.claim[slot] ?? 0;
  const score =
    scoreOf(wanted.profile, relevance, qualities) *
    STATUS_FACTORS[status] *
    (type === "memory" && fit < UNASKED_FACTOR ? DERIVED_FACTOR : 1) *
    certainty;
  return { slot, id, type, score, turns, key, answers: fit >= MIN_ANSWER_FIT };
}

function getUnitFacts(
  { block, options: wanted, filters: limits, facts: cards }: RankingInput,
  slot: number,
): UnitFacts {
  const known = cards.get(slot);
  if (known) return known;
  const { row, turn, key } = block.units.columns;
  const memory = row[slot] as number;
  const card: UnitFacts = {
    id: unitIdAt(block, slot),
    type: memory >= 0 ? "memory" : "passage",
    turns: memory >= 0 ? sourceTurnsOf(block, memory) : [turn[slot] as number],
    key: key[slot] as number,
    status: statusOfUnit(block, slot, limits),
    qualities: computeQualities(block, slot, wanted.decayDays),
  };
  cards.set(slot, card);
  return card;
}

function sourceTurnsOf({ memories }: SearchIndex, row: number): number[] {
  const turns: number[] = [];
  const { sources, columns } = memories;
  for (let place = columns.sources[row] as number; place >= 0; place = sources.nextOfRow[place] as number) {
    turns.push(sources.turn[place] as number);
  }
  return turns;
}

/** Of what was said without being understood, nobody knows how important or sure it is: it is taken as it stands. */
function computeQualities(
  { units, memories, turns, newest }: SearchIndex,
  slot: number,
  halfLifeDays: number,
): Qualities {
  const row = units.columns.row[slot] as number;
  const { columns } = memories;
  const at = row >= 0 ? columns.at[row] : turns.columns.at[units.columns.turn[slot] as number];
  const age = Math.max(0, newest - (at || 0)) / DAY_MS;
  return {
    recency: 2 ** (-age / halfLifeDays),
    evidence: row >= 0 ? 1 - 1 / (1 + (columns.evidence[row] as number)) : 0.5,
    importance: row >= 0 ? (columns.importance[row] as number) : 0.5,
    confidence: row >= 0 ? (columns.confidence[row] as number) : 0.9,
  };
}
