import type { Status } from "../../domain/memory.ts";
import { type Block, unitId } from "../block/block.ts";
import type { Place } from "../context.ts";
import { type Qualities, scoreOf } from "../rank/score.ts";
import { type Limits, whyNot } from "./bounds.ts";
import { spreadOut } from "./by-characters.ts";
import { greatest, greatestOf } from "./greatest.ts";
import { type Found, thresholdFor } from "./search.ts";
import { arrange, type Candidate } from "./select.ts";
import { standingOf } from "./standing.ts";
import type { Wanted } from "./take-options.ts";

export interface Ranking {
  readonly block: Block;
  readonly found: Found;
  readonly wanted: Wanted;
  readonly limits: Limits;
  /** Of units that have been looked at closely, by slot: whoever ranks twice finds them here. */
  readonly cards: Map<number, Card>;
}

/** What does not hang on how relevant a unit is. */
interface Card extends Pick<Candidate, "id" | "type" | "turns" | "key"> {
  readonly status: Status;
  readonly qualities: Qualities;
}

export interface Ranked {
  /** Best first. */
  readonly chosen: readonly Chosen[];
  readonly considered: number;
  readonly dropped: readonly Dropped[];
}

/** A unit that has got a place. */
export interface Chosen {
  readonly slot: number;
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly status: Status;
  /** Of a passage: where it stands in the conversation. */
  readonly place: Place | undefined;
  /** Of a passage: its message, and its place in it in characters. */
  readonly message: string;
  readonly span: { readonly start: number; readonly end: number } | undefined;
}

export interface Dropped {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly why: string;
}

/** What is left out, as a share of the best relevance. */
const CUT = 0.35;
/** What no longer holds, and what never did, rank below what does. */
const KEEPS: { readonly [status in Status]: number } = { current: 1, superseded: 0.5, retracted: 0.35 };
/** Words that were read from a message tell less than the message, but for a claim that has to do with what is asked. */
const READ = 0.9;
const NOT_ASKED = 0.3;
/** How many units are looked at closely, besides those wanted. */
const SPARE = 30;
const DAY_MS = 86_400_000;
/** From this fit on, a claim answers the question itself. */
const ANSWERS = 0.5;

/** From what was found to what is given: bounds, threshold, qualities, standing, places. */
export function rank(ranking: Ranking): Ranked {
  const { block, found, wanted } = ranking;
  const considered = block.words.size;
  const { near, dropped } = gather(ranking);
  const certainty = certaintyOf(near, found);
  const inOrder = arrange(asCandidates(ranking, near, certainty));
  const arranged = found.isByCharacters ? spreadOut(block, found.terms, inOrder) : inOrder;
  const isSure = certainty >= thresholdFor(considered);
  const chosen: Chosen[] = [];
  for (const candidate of arranged) {
    const { id, type, score } = candidate;
    const why = isSure ? whyNoPlace(score, chosen.length, wanted) : "it has too little to do with the query";
    if (why === undefined) chosen.push(chosenOf(ranking, candidate));
    else dropped.push({ id, type, score, why });
  }
  return { chosen, considered, dropped };
}

// Loops, and no functions made on the way: see `fromGreatest`. A recall on PostgreSQL takes a quarter longer with them.

function certaintyOf(near: readonly Weighed[], { evidenceAt }: Found): number {
  let most = 0;
  for (const { slot } of near) most = Math.max(most, evidenceAt(slot));
  return most;
}

function asCandidates(ranking: Ranking, near: readonly Weighed[], certainty: number): Candidate[] {
  const candidates: Candidate[] = [];
  for (const one of near) candidates.push(candidateOf(ranking, one, certainty));
  return candidates;
}

function whyNoPlace(score: number, taken: number, { minScore, limit }: Wanted): string | undefined {
  if (score < minScore) return "below minScore";
  return taken < limit ? undefined : "beyond the limit";
}

function chosenOf(ranking: Ranking, { slot, id, type, score }: Candidate): Chosen {
  const { block } = ranking;
  const { turn, start, end } = block.units.columns;
  return {
    slot,
    id,
    type,
    score,
    status: cardOf(ranking, slot).status,
    place:
      type === "passage"
        ? { turn: turn[slot] as number, next: block.turns.columns.next[turn[slot] as number] as number }
        : undefined,
    message: block.turns.ids.at(turn[slot] as number) ?? "",
    span: type === "passage" ? { start: start[slot] as number, end: end[slot] as number } : undefined,
  };
}

/** A unit and its relevance. */
interface Weighed {
  readonly slot: number;
  readonly relevance: number;
}

/** The units to choose from: the most relevant of those that may be given, and not far below the best. */
interface Near {
  readonly near: readonly Weighed[];
  readonly best: number;
  readonly dropped: Dropped[];
}

function gather(ranking: Ranking): Near {
  const top = greatest(ranking.found.relevance);
  const near = look(ranking, top * cutOf(ranking));
  // Where the bounds leave out the most relevant, what is near to the best of the rest may lie below.
  const isWhole = near.best >= top || near.near.length >= enoughFor(ranking);
  return isWhole ? near : look(ranking, near.best * cutOf(ranking));
}

function cutOf({ found }: Ranking): number {
  return found.isByCharacters ? 0 : CUT;
}

/** Looks closely at units from the most relevant down to `least`, some at a time, until there are enough. */
function look(ranking: Ranking, least: number): Near {
  const { relevance, slots } = ranking.found;
  const near: Weighed[] = [];
  const dropped: Dropped[] = [];
  let best = 0;
  const wanted = enoughFor(ranking);
  for (const some of fromTop(relevance, Math.max(least, Number.MIN_VALUE), wanted)) {
    for (const place of some) {
      const slot = slots[place] as number;
      const value = relevance[place] as number;
      const why = whyNot(ranking.block, slot, ranking.limits) ?? whyNothing(ranking, slot);
      if (why === undefined) near.push({ slot, relevance: value });
      else if (why !== "gone") dropped.push(droppedOf(ranking, slot, why));
      if (why === undefined) best = Math.max(best, value);
    }
    if (near.length >= wanted) break;
  }
  return { near: atLeast(near, best * cutOf(ranking)), best, dropped };
}

function atLeast(near: readonly Weighed[], least: number): Weighed[] {
  const kept: Weighed[] = [];
  for (const one of near) if (one.relevance >= least) kept.push(one);
  return kept;
}

function droppedOf({ block }: Ranking, slot: number, why: string): Dropped {
  const type = (block.units.columns.row[slot] as number) >= 0 ? "memory" : "passage";
  return { id: unitId(block, slot), type, score: 0, why };
}

function enoughFor({ wanted }: Ranking): number {
  return SPARE + 2 * wanted.limit;
}

/** Good neighbours alone bring nothing up: among few messages everything is near to what is asked after. */
function whyNothing({ found }: Ranking, slot: number): string | undefined {
  return found.evidenceAt(slot) > 0 ? undefined : "it shares nothing with the query";
}

/**
 * The units from the most relevant down to `least`, some at a time: mostly the first few are enough, and where bounds
 * leave many out, each round has eight times as many.
 */
function* fromTop(relevance: Float32Array, least: number, wanted: number): Generator<readonly number[]> {
  let seen = 0;
  for (let most = wanted; seen < relevance.length; most *= 8) {
    const best = greatestOf(relevance, most, least);
    yield best.slice(seen);
    if (best.length < most) return;
    seen = best.length;
  }
}

function candidateOf(ranking: Ranking, { slot, relevance }: Weighed, certainty: number): Candidate {
  const { found, wanted } = ranking;
  const { id, type, turns, key, status, qualities } = cardOf(ranking, slot);
  const fit = found.signals.columns.claim[slot] ?? 0;
  const score =
    scoreOf(wanted.profile, relevance, qualities) *
    KEEPS[status] *
    (type === "memory" && fit < NOT_ASKED ? READ : 1) *
    certainty;
  return { slot, id, type, score, turns, key, answers: fit >= ANSWERS };
}

function cardOf({ block, wanted, limits, cards }: Ranking, slot: number): Card {
  const known = cards.get(slot);
  if (known) return known;
  const { row, turn, key } = block.units.columns;
  const memory = row[slot] as number;
  const card: Card = {
    id: unitId(block, slot),
    type: memory >= 0 ? "memory" : "passage",
    turns: memory >= 0 ? turnsOf(block, memory) : [turn[slot] as number],
    key: key[slot] as number,
    status: standingOf(block, slot, limits),
    qualities: qualitiesOf(block, slot, wanted.decayDays),
  };
  cards.set(slot, card);
  return card;
}

function turnsOf({ memories }: Block, row: number): number[] {
  const turns: number[] = [];
  const { sources, columns } = memories;
  for (let place = columns.sources[row] as number; place >= 0; place = sources.nextOfRow[place] as number) {
    turns.push(sources.turn[place] as number);
  }
  return turns;
}

/** Of what was said without being understood, nobody knows how important or sure it is: it is taken as it stands. */
function qualitiesOf(
  { units, memories, turns, newest }: Block,
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
