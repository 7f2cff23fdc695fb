import { BM25 } from "../../domain/bm25.ts";
import type { SearchIndex } from "../block/block.ts";
import { WINDOW_RADIUS } from "../block/turns.ts";
import { type PostingRun, termWeightOf } from "../block/words.ts";
import type { Signals } from "../rank/signals.ts";
import type { Scratch } from "./scratch.ts";

/** A unit that holds this many telling words of the query has to do with it, however long the query is. */
const SUFFICIENT_WORDS = 6;
/** In a memory of more units than this, a word that stands in one of forty says nothing of its surroundings. */
const LARGE_MEMORY_UNITS = 4096;
const COMMON_TERM_DIVISOR = 40;

export interface WordMatches {
  /**
   * By slot, the share of the query's words that the unit holds, each weighed by how much it tells; of a long query, the
   * share of six.
   */
  readonly share: Float32Array;
  /** The slots that hold one of the words, and the turns with one in their window. */
  readonly slots: readonly number[];
  readonly turns: readonly number[];
}

/**
 * Fills the signals that words give: of the unit, of the turns around it, of its session. Exact BM25 for all units
 * (Robertson & Zaragoza 2009, with Lucene's idf); the work grows with how often the query's words occur, not with how
 * much there is. `trust` (0 to 1) says how far a term by itself shows that a unit has to do with the query.
 */
export function retrieveByWords(
  block: SearchIndex,
  scratch: Scratch,
  terms: readonly string[],
  signals: Signals,
  trust: (term: string) => number = () => 1,
): WordMatches {
  const { words, units, turns } = block;
  const own = scratch.column("words", units.count);
  const share = scratch.column("share", units.count);
  const window = createTermCounter(scratch, "window", turns.count);
  const session = createTermCounter(scratch, "session", turns.sessionCount);
  const slots: number[] = [];
  let top = 0;
  for (const { term, weight, part } of weighTerms(block, terms, trust)) {
    const runs = words.postings(term);
    const isCommon =
      units.count > LARGE_MEMORY_UNITS && words.frequency(term) > units.count / COMMON_TERM_DIVISOR;
    for (const run of runs) {
      top = Math.max(top, addTermScore(block, run, { weight, part }, { own, share, slots }));
      if (!isCommon) spreadToTurns(block, run, window, session);
    }
    flushTerm(window, weight);
    flushTerm(session, weight);
  }
  signals.columns.words = own;
  signals.columns.window = window.sums;
  signals.columns.session = session.sums;
  signals.tops.words = top;
  signals.tops.window = window.top;
  signals.tops.session = session.top;
  return { share, slots, turns: window.all };
}

/** Adds what a term gives; sums only grow, so the greatest seen on the way is the greatest at the end. */
function addTermScore(
  { words }: SearchIndex,
  { slots, counts, from, to }: PostingRun,
  { weight, part: partOfQuery }: { weight: number; part: number },
  { own: sums, share, slots: found }: { own: Float32Array; share: Float32Array; slots: number[] },
): number {
  let top = 0;
  const { k1, b } = BM25;
  const { lengths, alive, hasDead } = words;
  const fixed = k1 * (1 - b);
  const perTerm = (k1 * b) / words.meanLength;
  for (let i = from; i < to; i += 1) {
    const slot = slots[i] as number;
    if (hasDead && alive[slot] !== 1) continue;
    const times = counts[i] as number;
    const part = times / (times + fixed + perTerm * (lengths[slot] as number));
    const before = sums[slot] as number;
    if (before === 0) found.push(slot);
    const sum = before + part * weight;
    sums[slot] = sum;
    share[slot] = (share[slot] as number) + partOfQuery;
    if (sum > top) top = sum;
  }
  return top;
}

/** Each term once: what it tells, times how often it was asked for; and its part of what the query asks in all. */
function weighTerms(
  { words }: SearchIndex,
  terms: readonly string[],
  trust: (term: string) => number,
): { term: string; weight: number; part: number }[] {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const tells = [...counts].map(([term, count]) => {
    const one = termWeightOf(words, term);
    return { term, weight: one * count, proof: one * trust(term) };
  });
  const most = tells.map(({ proof }) => proof).sort((one, other) => other - one);
  const all = most.slice(0, SUFFICIENT_WORDS).reduce((sum, one) => sum + one, 0) || 1;
  return tells.map(({ term, weight, proof }) => ({ term, weight, part: proof / all }));
}

/** One term at a time is counted by place; what the terms give there is summed up. */
interface TermCounter {
  readonly sums: Float32Array;
  readonly counts: Float32Array;
  /** Places that the term stands in, in the first `used`. */
  readonly touched: number[];
  used: number;
  top: number;
  /** All places that any term stands in. */
  readonly all: number[];
}

function createTermCounter(scratch: Scratch, name: string, places: number): TermCounter {
  const sums = scratch.column(name, places);
  const counts = scratch.column(`${name} counts`, places);
  return { sums, counts, touched: [], used: 0, top: 0, all: [] };
}

/** Turns the counts of a term into what it gives, and starts anew. */
function flushTerm(counter: TermCounter, weight: number): void {
  const { sums, counts, touched, used, all } = counter;
  const { k1 } = BM25;
  let { top } = counter;
  for (let i = 0; i < used; i += 1) {
    const place = touched[i] as number;
    const found = counts[place] as number;
    const before = sums[place] as number;
    if (before === 0) all.push(place);
    const sum = before + (found / (found + k1)) * weight;
    sums[place] = sum;
    if (sum > top) top = sum;
    counts[place] = 0;
  }
  counter.top = top;
  counter.used = 0;
}

/** Counts a term in the windows and sessions of the turns that hold it. */
function spreadToTurns(
  { units, turns }: SearchIndex,
  { slots, counts, from, to }: PostingRun,
  window: TermCounter,
  session: TermCounter,
): void {
  const { turn: turnOf, piece } = units.columns;
  const { previous, next, session: sessionOf } = turns.columns;
  for (let i = from; i < to; i += 1) {
    const slot = slots[i] as number;
    const turn = turnOf[slot] as number;
    // A memory's words stand in its passage already; what is gone is from no turn.
    if (turn < 0 || (piece[slot] as number) < 0) continue;
    const found = counts[i] as number;
    countTerm(session, sessionOf[turn] as number, found);
    countTerm(window, turn, found);
    let near = previous[turn] as number;
    for (let step = 0; near >= 0 && step < WINDOW_RADIUS; step += 1) {
      countTerm(window, near, found);
      near = previous[near] as number;
    }
    near = next[turn] as number;
    for (let step = 0; near >= 0 && step < WINDOW_RADIUS; step += 1) {
      countTerm(window, near, found);
      near = next[near] as number;
    }
  }
}

function countTerm(counter: TermCounter, place: number, found: number): void {
  const before = counter.counts[place] as number;
  if (before === 0) {
    counter.touched[counter.used] = place;
    counter.used += 1;
  }
  counter.counts[place] = before + found;
}
