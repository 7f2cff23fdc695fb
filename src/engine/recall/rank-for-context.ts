import type { TextSpan } from "../../domain/text/split-text.ts";
import type { ContextDemand, MessageSpans } from "../../ports/recall-worker.ts";
import { type SearchIndex, unitIdAt } from "../search-index/search-index.ts";
import { TURN_FLAGS } from "../search-index/turn-table.ts";
import { findExclusion, type IndexFilters, isStatedAt, statusOfMemory, statusOfUnit } from "./options.ts";
import { type RankedUnit, type RankingInput, type RankingResult, toRankedUnit } from "./rank.ts";
import type { Scratch } from "./retrievers/signals.ts";
import { computeTalkShare } from "./retrievers/structured-retrievers.ts";
import { MAX_CANDIDATES, selectTopKOf } from "./retrievers/top-k.ts";
import { scoreOf } from "./scoring.ts";
import { computeThreshold } from "./search.ts";

/** Units for a context, best first, with the spans of the messages of all passages. */
export interface ContextRanking extends RankingResult {
  readonly spans: { readonly [message: string]: MessageSpans };
}

/** Weight of the need beside relevance. */
const NEED_WEIGHT = 1;
/** The need of a unit below this cosine does not count. */
const NEED_FLOOR = 0.2;
/** Factor for what an assistant said: it is not evidence about the user. */
const ASSISTANT_FACTOR = 0.75;
/** In a large memory: the number of units that come for the need alone. */
const MAX_BY_NEED = 96;
/** Of a long passage only some sentences are shown. */
const MAX_PASSAGE_TOKENS = 120;
/** How much more is selected than fits: duplicates and ended sentences are dropped later. */
const SPARE_FACTOR = 1.5;
const MAX_UNITS = 300;
/** The dropped units that a receipt lists. */
const MAX_DROPPED = 40;

/**
 * Ranks units for a context. A memory represents the words it was read from: the passage is chosen in its place, with
 * the better score of the two. Only what holds is chosen. In a memory that fits as a whole, nothing is left out.
 */
export function rankForContext(
  ranking: RankingInput,
  scratch: Scratch,
  { maxTokens, need }: ContextDemand,
): ContextRanking {
  const { searchIndex, filters } = ranking;
  const scores = scoreUnits(ranking, scratch, need);
  const ordered = [...scores].sort(([one, a], [other, b]) => b - a || one - other);
  const chosen: RankedUnit[] = [];
  const dropped: RankingResult["dropped"][number][] = [];
  const spans: { [message: string]: MessageSpans } = {};
  let tokens = 0;
  for (const [slot, score] of ordered) {
    const unit = toContextUnit(ranking, slot, Math.min(1, score));
    if (tokens > SPARE_FACTOR * maxTokens || chosen.length >= MAX_UNITS) {
      if (dropped.length < MAX_DROPPED) dropped.push({ ...unit, why: "beyond the limit" });
      continue;
    }
    chosen.push(unit);
    tokens += Math.min(MAX_PASSAGE_TOKENS, estimateUnitTokens(unit));
    if (unit.type === "passage") spans[unit.message] = readSpans(searchIndex, slot, filters);
  }
  return { chosen, considered: searchIndex.words.size, dropped, spans };
}

function toContextUnit(ranking: RankingInput, slot: number, score: number): RankedUnit {
  const { searchIndex } = ranking;
  const type = (searchIndex.units.columns.row[slot] as number) >= 0 ? "memory" : "passage";
  return toRankedUnit(ranking, { slot, id: unitIdAt(searchIndex, slot), type, score });
}

function estimateUnitTokens({ span }: RankedUnit): number {
  return span ? (span.end - span.start) / 4 + 2 : 20;
}

/** The score of each unit that may be shown, by slot. */
function scoreUnits(
  ranking: RankingInput,
  scratch: Scratch,
  need: Float32Array | undefined,
): Map<number, number> {
  const { searchIndex, search, filters } = ranking;
  const { relevance, slots } = search;
  const { count } = searchIndex.units;
  const isSmall = count <= MAX_CANDIDATES;
  // Talk among people is about what they tell each other, not about what to do for one of them.
  const weight = NEED_WEIGHT * (1 - computeTalkShare(searchIndex));
  const needs = need && weight > 0 ? scanNeeds(searchIndex, scratch, need) : undefined;
  const scores = new Map<number, number>();
  let certainty = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i] as number;
    if (findExclusion(searchIndex, slot, filters) !== undefined) continue;
    certainty = Math.max(certainty, search.evidenceAt(slot));
  }
  // Where nothing relates to the request, a large memory gives only what such requests need.
  const isSure = isSmall || certainty >= computeThreshold(searchIndex.words.size);
  const add = (slot: number, value: number): void => {
    if (findExclusion(searchIndex, slot, filters) !== undefined) return;
    const score = weighUnit(ranking, slot, value) + weight * needOf(needs, slot);
    const shown = toShownSlot(searchIndex, slot, filters);
    if (shown !== undefined && score > (scores.get(shown) ?? -1)) scores.set(shown, score);
  };
  if (isSure) for (let i = 0; i < slots.length; i += 1) add(slots[i] as number, relevance[i] as number);
  if (needs && !isSmall) for (const slot of selectTopKOf(needs, MAX_BY_NEED, NEED_FLOOR)) add(slot, 0);
  return scores;
}

function weighUnit({ searchIndex, options }: RankingInput, slot: number, relevance: number): number {
  const { turn, row } = searchIndex.units.columns;
  const at = turn[slot] as number;
  const isReply =
    (row[slot] as number) < 0 &&
    at >= 0 &&
    ((searchIndex.turns.columns.flags[at] as number) & TURN_FLAGS.byAssistant) !== 0;
  const score = scoreOf(options.profile, relevance, {
    recency: 1,
    access: 1,
    evidence: 1,
    importance: 1,
    confidence: 1,
  });
  return score * (isReply ? ASSISTANT_FACTOR : 1);
}

function scanNeeds(searchIndex: SearchIndex, scratch: Scratch, need: Float32Array): Float32Array {
  const needs = scratch.raw("needs", searchIndex.units.count);
  searchIndex.vectors.dot(need, searchIndex.units.count, needs);
  return needs;
}

function needOf(needs: Float32Array | undefined, slot: number): number {
  return needs ? Math.max(0, (needs[slot] as number) - NEED_FLOOR) : 0;
}

/** The slot that is shown for a unit: the passage that a memory was read from, if there is one. */
function toShownSlot(searchIndex: SearchIndex, slot: number, filters: IndexFilters): number | undefined {
  if (statusOfUnit(searchIndex, slot, filters) !== "current") return undefined;
  const row = searchIndex.units.columns.row[slot] as number;
  if (row < 0) return slot;
  const { sources, columns } = searchIndex.memories;
  const place = columns.sources[row] as number;
  if (place < 0) return slot;
  const { turns, units } = searchIndex;
  const turn = sources.turn[place] as number;
  let passage = turn < 0 ? -1 : (turns.columns.passage[turn] as number);
  for (; passage >= 0; passage = units.columns.nextOfTurn[passage] as number) {
    const isWithin =
      (sources.start[place] as number) < (units.columns.end[passage] as number) &&
      (sources.end[place] as number) > (units.columns.start[passage] as number);
    if (!isWithin) continue;
    const isShown =
      findExclusion(searchIndex, passage, filters) === undefined &&
      statusOfUnit(searchIndex, passage, filters) === "current";
    return isShown ? passage : slot;
  }
  return slot;
}

/** The spans of statements in the message of a passage, and whether they hold. */
function readSpans(searchIndex: SearchIndex, slot: number, filters: IndexFilters): MessageSpans {
  const { memories, turns, units, memoryIds } = searchIndex;
  const { row, start, end, nextOfTurn } = memories.sources;
  const ended: TextSpan[] = [];
  const current: (TextSpan & { id: string })[] = [];
  let place = turns.columns.sources[units.columns.turn[slot] as number] as number;
  for (; place >= 0; place = nextOfTurn[place] as number) {
    const memory = row[place] as number;
    if (memory < 0 || !isStatedAt(searchIndex, place)) continue;
    const span = { start: start[place] as number, end: end[place] as number };
    if (statusOfMemory(searchIndex, memory, filters) === "current")
      current.push({ ...span, id: memoryIds.at(memory) ?? "" });
    else ended.push(span);
  }
  return { ended, current };
}
