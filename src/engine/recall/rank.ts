import type { Status } from "../../domain/memory.ts";
import type { Item } from "../../domain/recall.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import type { PhraseReader } from "../../ports/language/vocabulary.ts";
import { type SearchIndex, unitIdAt } from "../search-index/search-index.ts";
import { TURN_FLAGS } from "../search-index/turn-table.ts";
import { type PostingRun, termFrequencyIn, termWeightOf } from "../search-index/word-index.ts";
import type { TurnPosition } from "./context.ts";
import { findExclusion, type IndexFilters, type ParsedRecallOptions, statusOfUnit } from "./options.ts";
import { computeCenteredCosine, getMeanCentering, type MeanCentering } from "./retrievers/mean-centering.ts";
import { selectTopK, selectTopKOf } from "./retrievers/top-k.ts";
import { diversifyUnits } from "./retrievers/word-retriever.ts";
import { accessOf, type Qualities, scoreOf } from "./scoring.ts";
import { computeThreshold, type SearchResult } from "./search.ts";

export interface RankingInput {
  readonly searchIndex: SearchIndex;
  readonly search: SearchResult;
  readonly options: ParsedRecallOptions;
  readonly filters: IndexFilters;
  /** Facts of units already examined, by slot, so that a second ranking reuses them. */
  readonly facts: Map<number, UnitFacts>;
  /** Uses of memories by id, if the profile asks for them. */
  readonly uses?: { readonly [id: string]: number } | undefined;
}

/** The facts that do not depend on the relevance of a unit. */
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

/** A unit with its final rank. */
export interface RankedUnit {
  readonly slot: number;
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly status: Status;
  /** For a passage: its position in the conversation. */
  readonly position: TurnPosition | undefined;
  /** For a passage: its message, and its position in it in characters. */
  readonly message: string;
  readonly span: { readonly start: number; readonly end: number } | undefined;
  /** Absent in the ranking for a context. */
  readonly basis?: ScoreBasis | undefined;
}

/** The numbers that a score was computed from, to explain it. */
export interface ScoreBasis {
  readonly relevance: number;
  readonly qualities: Qualities;
  /** Factors, 0 to 1: the status, whether a memory only repeats its message, and how sure the recall is. */
  readonly status: number;
  readonly derived: number;
  readonly certainty: number;
  /** The score before and after units that repeat others were lowered. */
  readonly base: number;
  readonly score: number;
}

export interface DroppedUnit {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly why: string;
}

/** Units below this share of the best relevance are left out. */
const MIN_RELEVANCE_SHARE = 0.35;
/** Outdated and never-true units rank below current ones. */
const STATUS_FACTORS: { readonly [status in Status]: number } = {
  current: 1,
  superseded: 0.5,
  retracted: 0.35,
};
/** An extracted memory tells less than its message, unless its claim relates to the query. */
const DERIVED_FACTOR = 0.9;
const UNASKED_FACTOR = 0.3;
/** Units examined closely beyond the requested ones. */
const SPARE_UNITS = 30;
const DAY_MS = 86_400_000;
/** A claim with at least this fit answers the question itself. */
const MIN_ANSWER_FIT = 0.5;

/** Ranks the search results: filters, threshold, qualities, status, order. */
export function rankUnits(ranking: RankingInput): RankingResult {
  const { searchIndex, search: found, options: wanted } = ranking;
  const considered = searchIndex.words.size;
  const { near, dropped } = gatherRelevant(ranking);
  const certainty = computeCertainty(near, found);
  const inOrder = arrangeCandidates(toCandidates(ranking, near, certainty));
  const arranged = found.isByCharacters ? diversifyUnits(searchIndex, found.terms, inOrder) : inOrder;
  const isSure = certainty >= computeThreshold(considered);
  const chosen: RankedUnit[] = [];
  for (const candidate of arranged) {
    const { id, type, score } = candidate;
    const why = isSure
      ? findDropReason(score, chosen.length, wanted)
      : "it has too little to do with the query";
    if (why === undefined)
      chosen.push(toRankedUnit(ranking, candidate, toScoreBasis(ranking, candidate, certainty)));
    else dropped.push({ id, type, score, why });
  }
  return { chosen, considered, dropped };
}

// Loops without closures: see `selectTopKOf`. With closures, a recall on PostgreSQL takes a quarter longer.

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

/** A candidate as a chosen unit, with its place in the conversation. */
export function toRankedUnit(
  ranking: RankingInput,
  { slot, id, type, score }: Pick<RankCandidate, "slot" | "id" | "type" | "score">,
  basis?: ScoreBasis,
): RankedUnit {
  const { searchIndex } = ranking;
  const { turn, start, end } = searchIndex.units.columns;
  return {
    slot,
    id,
    type,
    score,
    status: getUnitFacts(ranking, slot).status,
    position:
      type === "passage"
        ? { turn: turn[slot] as number, next: searchIndex.turns.columns.next[turn[slot] as number] as number }
        : undefined,
    message: searchIndex.turns.ids.at(turn[slot] as number) ?? "",
    span: type === "passage" ? { start: start[slot] as number, end: end[slot] as number } : undefined,
    basis,
  };
}

function toScoreBasis(
  ranking: RankingInput,
  { slot, relevance, derived, base, score }: RankCandidate,
  certainty: number,
): ScoreBasis {
  const { qualities, status } = getUnitFacts(ranking, slot);
  return { relevance, qualities, status: STATUS_FACTORS[status], derived, certainty, base, score };
}

/** A unit and its relevance. */
interface WeighedUnit {
  readonly slot: number;
  readonly relevance: number;
}

/** The units to choose from: the most relevant allowed ones, not far below the best. */
interface RelevantUnits {
  readonly near: readonly WeighedUnit[];
  readonly best: number;
  readonly dropped: DroppedUnit[];
}

function gatherRelevant(ranking: RankingInput): RelevantUnits {
  const top = selectTopK(ranking.search.relevance);
  const near = collectRelevant(ranking, top * minRelevanceOf(ranking));
  // If the filters exclude the most relevant units, those near the best of the rest may lie below.
  const isWhole = near.best >= top || near.near.length >= targetCountOf(ranking);
  return isWhole ? near : collectRelevant(ranking, near.best * minRelevanceOf(ranking));
}

function minRelevanceOf({ search: found }: RankingInput): number {
  return found.isByCharacters ? 0 : MIN_RELEVANCE_SHARE;
}

/** Examines units from the most relevant down to `least`, in batches, until there are enough. */
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
      const why = findExclusion(ranking.searchIndex, slot, ranking.filters) ?? findEvidenceGap(ranking, slot);
      if (why === undefined) near.push({ slot, relevance: value });
      else if (why !== "gone") dropped.push(toDropped(ranking, slot, why));
      if (why === undefined) best = Math.max(best, value);
    }
    if (near.length >= wanted) break;
  }
  return { near: filterByRelevance(near, best * minRelevanceOf(ranking)), best, dropped };
}

function filterByRelevance(near: readonly WeighedUnit[], least: number): WeighedUnit[] {
  const weighed: WeighedUnit[] = [];
  for (const one of near) if (one.relevance >= least) weighed.push(one);
  return weighed;
}

function toDropped({ searchIndex }: RankingInput, slot: number, why: string): DroppedUnit {
  const type = (searchIndex.units.columns.row[slot] as number) >= 0 ? "memory" : "passage";
  return { id: unitIdAt(searchIndex, slot), type, score: 0, why };
}

function targetCountOf({ options: wanted }: RankingInput): number {
  return SPARE_UNITS + 2 * wanted.limit;
}

/** Good neighbours alone do not suffice: among few messages everything is near to the query. */
function findEvidenceGap({ search: found }: RankingInput, slot: number): string | undefined {
  return found.evidenceAt(slot) > 0 ? undefined : "it shares nothing with the query";
}

/**
 * Iterates over the units from the most relevant down to `least`, in batches. Mostly the first few are
 * enough; each batch is eight times as large, because filters may exclude many.
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
  const derived = type === "memory" && fit < UNASKED_FACTOR ? DERIVED_FACTOR : 1;
  const score = scoreOf(wanted.profile, relevance, qualities) * STATUS_FACTORS[status] * derived * certainty;
  const answers = fit >= MIN_ANSWER_FIT;
  return { slot, id, type, score, turns, key, answers, relevance, derived, base: score };
}

function getUnitFacts(
  { searchIndex, options: wanted, filters: limits, facts: cards, uses }: RankingInput,
  slot: number,
): UnitFacts {
  const known = cards.get(slot);
  if (known) return known;
  const { row, turn, key } = searchIndex.units.columns;
  const memory = row[slot] as number;
  const id = unitIdAt(searchIndex, slot);
  const card: UnitFacts = {
    id,
    type: memory >= 0 ? "memory" : "passage",
    turns: memory >= 0 ? sourceTurnsOf(searchIndex, memory) : [turn[slot] as number],
    key: key[slot] as number,
    status: statusOfUnit(searchIndex, slot, limits),
    qualities: computeQualities(searchIndex, slot, wanted.decayDays, memory >= 0 ? uses?.[id] : undefined),
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

/** The importance and confidence of an unprocessed message are unknown: it is taken at face value. */
function computeQualities(
  { units, memories, turns, newest }: SearchIndex,
  slot: number,
  halfLifeDays: number,
  uses = 0,
): Qualities {
  const row = units.columns.row[slot] as number;
  const { columns } = memories;
  const at = row >= 0 ? columns.at[row] : turns.columns.at[units.columns.turn[slot] as number];
  const age = Math.max(0, newest - (at || 0)) / DAY_MS;
  return {
    recency: 2 ** (-age / halfLifeDays),
    access: accessOf(uses),
    evidence: row >= 0 ? 1 - 1 / (1 + (columns.evidence[row] as number)) : 0.5,
    importance: row >= 0 ? (columns.importance[row] as number) : 0.5,
    confidence: row >= 0 ? (columns.confidence[row] as number) : 0.9,
  };
}

/** A unit that may be returned, with the facts for its rank. */
interface RankCandidate {
  readonly slot: number;
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  /** The turns that it is based on. */
  readonly turns: readonly number[];
  /** Equal for two texts that say the same. */
  readonly key: number;
  /** True if it answers the question itself; then nothing else replaces it. */
  readonly answers: boolean;
  readonly relevance: number;
  /** The factor for a memory that only repeats its message. */
  readonly derived: number;
  /** The score before units that repeat others are lowered. */
  readonly base: number;
}

/** Factor for another passage of a message that is already placed. */
const SAME_MESSAGE_FACTOR = 0.8;
/** Factor for content that is already placed in other words. */
const DUPLICATE_FACTOR = 0.5;

/**
 * The candidates in final order, so that the top places cover different content. It lowers a unit whose
 * message is already placed as a passage or in another memory, unless it answers the question itself. It also
 * lowers a text that is already placed verbatim. The first places do not depend on the number of results.
 */
function arrangeCandidates(candidates: readonly RankCandidate[]): RankCandidate[] {
  const there: PlacedContent = { texts: new Set(), sourceTurns: new Set(), quotedTurns: new Set() };
  const arranged: RankCandidate[] = [];
  for (const candidate of [...candidates].sort(compareCandidates)) {
    const keeps = computeKeptShare(there, candidate);
    const { type, turns, key } = candidate;
    there.texts.add(key);
    for (const turn of turns) (type === "memory" ? there.sourceTurns : there.quotedTurns).add(turn);
    arranged.push(keeps < 1 ? { ...candidate, score: candidate.score * keeps } : candidate);
  }
  return arranged.sort(compareCandidates);
}

/** Placed content: texts by key, and the turns that memories were read from or that are placed verbatim. */
interface PlacedContent {
  readonly texts: Set<number>;
  readonly sourceTurns: Set<number>;
  readonly quotedTurns: Set<number>;
}

/** The share of its score that a candidate keeps, given the placed content. */
function computeKeptShare(
  { texts, sourceTurns: read, quotedTurns: quoted }: PlacedContent,
  { type, turns, key, answers }: RankCandidate,
): number {
  const isQuoted = hasAny(quoted, turns);
  // Passages of one long message differ in content; memories of one message mostly repeat it.
  const isSaid = !answers && (hasAny(read, turns) || (type === "memory" && isQuoted));
  if (isSaid || texts.has(key)) return DUPLICATE_FACTOR;
  return type === "passage" && isQuoted ? SAME_MESSAGE_FACTOR : 1;
}

function hasAny(known: ReadonlySet<number>, turns: readonly number[]): boolean {
  for (const turn of turns) if (known.has(turn)) return true;
  return false;
}

/** Best first; ties by the smaller id, so that the order does not depend on storage order. */
function compareCandidates(one: RankCandidate, other: RankCandidate): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}

/** Number of top items in which the newer of two versions comes first; the set of results stays the same. */
const MAX_COMPARED = 10;
/** Minimum `computeLikeness` of two units that give the same information. */
const MIN_LIKENESS = 0.8;
const CHANGE_BONUS = 0.2;
const NUMBER_BONUS = 0.2;

/** An item with its place in the order. */
export interface PlacedItem {
  readonly item: Item;
  readonly unit: RankedUnit;
}

interface RankedStatement extends PlacedItem {
  readonly at: number;
  readonly turn: number;
  /** By query term: whether the item contains it. */
  readonly holds: readonly boolean[];
}

interface WeightedTerm {
  readonly weight: number;
  readonly runs: readonly PostingRun[];
}

interface StatementComparison {
  readonly searchIndex: SearchIndex;
  readonly centering: MeanCentering;
  readonly terms: readonly WeightedTerm[];
  readonly all: number;
  readonly isAfterNumber: boolean;
  readonly phrases: PhraseReader;
}

/**
 * The best items in reading order. If a query asks for one value that may have changed, the later of two
 * statements by one speaker comes right before the earlier one. Both must be about the same: they share the
 * distinctive words of the query and are near to each other. The later one must also state a change, or both
 * must contain numbers. It then takes the score of the earlier one. Nothing else moves, and nothing beyond
 * the first ten.
 */
export function orderNewerFirst(
  searchIndex: SearchIndex,
  query: string,
  placed: readonly PlacedItem[],
  phrases: PhraseReader,
): readonly PlacedItem[] {
  const { isAfterValue, isAfterNumber } = phrases.readQuery(query);
  if (!isAfterValue || placed.length < 2) return placed;
  const terms = toWeightedTerms(searchIndex, query);
  const all = terms.reduce((sum, { weight }) => sum + weight, 0);
  if (all === 0) return placed;
  const comparing = {
    searchIndex,
    centering: getMeanCentering(searchIndex),
    terms,
    all,
    isAfterNumber,
    phrases,
  };
  const ordered: RankedStatement[] = [];
  for (const one of placed.slice(0, MAX_COMPARED)) {
    const newer = toStatement(comparing, one);
    const place = ordered.findIndex((older) => isUpdateOf(comparing, newer, older));
    if (place < 0) ordered.push(newer);
    else ordered.splice(place, 0, withScore(newer, (ordered[place] as RankedStatement).item.score));
  }
  return [...ordered, ...placed.slice(MAX_COMPARED)];
}

function withScore(statement: RankedStatement, score: number): RankedStatement {
  return { ...statement, item: { ...statement.item, score }, unit: { ...statement.unit, score } };
}

function toWeightedTerms({ words }: SearchIndex, query: string): WeightedTerm[] {
  return [...new Set(extractTerms(query))].flatMap((term) => {
    const runs = words.postings(term);
    return runs.length === 0 ? [] : [{ weight: termWeightOf(words, term), runs }];
  });
}

function toStatement({ searchIndex, terms }: StatementComparison, placed: PlacedItem): RankedStatement {
  const { slot } = placed.unit;
  const turn = searchIndex.units.columns.turn[slot] as number;
  return {
    ...placed,
    turn,
    at: turn < 0 ? Number.NaN : (searchIndex.turns.columns.at[turn] as number),
    holds: terms.map(({ runs }) => runs.some((run) => termFrequencyIn(run, slot) > 0)),
  };
}

/** Whether the later statement updates the earlier one. */
function isUpdateOf(comparing: StatementComparison, newer: RankedStatement, older: RankedStatement): boolean {
  const { flags, speaker } = comparing.searchIndex.turns.columns;
  const isLater = newer.at > older.at || (newer.at === older.at && newer.turn > older.turn);
  if (!isLater || older.turn < 0) return false;
  // The words that ended a statement are its last source; that makes it no update.
  if (newer.item.status !== "current" && older.item.status === "current") return false;
  if (((flags[newer.turn] as number) & (flags[older.turn] as number) & TURN_FLAGS.byUser) === 0) return false;
  if (speaker[newer.turn] !== speaker[older.turn]) return false;
  return computeLikeness(comparing, newer, older) >= MIN_LIKENESS;
}

/**
 * How alike two statements are as answers. It adds the share of the query's distinctive words in both and
 * their mean-centred cosine. Signs of a change add a little, and so do numbers if the query asks for one.
 */
function computeLikeness(
  { searchIndex, centering: centre, terms, all, isAfterNumber, phrases }: StatementComparison,
  newer: RankedStatement,
  older: RankedStatement,
): number {
  let shared = 0;
  for (const [i, { weight }] of terms.entries()) {
    if (newer.holds[i] && older.holds[i]) shared += weight;
  }
  if (shared === 0) return 0;
  const near = computeCenteredCosine(searchIndex, centre, newer.unit.slot, older.unit.slot);
  const changed = phrases.tellsChange(newer.item.text) ? CHANGE_BONUS : 0;
  const bothCount = phrases.hasNumber(newer.item.text) && phrases.hasNumber(older.item.text);
  return shared / all + near + changed + (isAfterNumber ? Number(bothCount) : 0.5) * NUMBER_BONUS;
}
