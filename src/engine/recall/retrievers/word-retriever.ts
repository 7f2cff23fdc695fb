import { BM25, extractTerms, isUnspaced, splitWords } from "../../../domain/search/search-terms.ts";
import { splitSentences } from "../../../domain/text/split-text.ts";
import type { SearchIndex } from "../../search-index/search-index.ts";
import { WINDOW_RADIUS } from "../../search-index/turn-table.ts";
import { type PostingRun, termFrequencyIn, termWeightOf } from "../../search-index/word-index.ts";
import type { Scratch, Signals } from "./signals.ts";

/** A unit with this many distinctive words of the query relates to it, however long the query is. */
const SUFFICIENT_WORDS = 6;
/**
 * In a memory with more units than this, a word found in one of forty units says nothing about its
 * surroundings.
 */
const LARGE_MEMORY_UNITS = 4096;
const COMMON_TERM_DIVISOR = 40;

interface WordMatches {
  /**
   * By slot, the weighted share of the query's words in the unit; of a long query, the share of six words.
   */
  readonly share: Float32Array;
  /** The slots with one of the words, and the turns with one in their window. */
  readonly slots: readonly number[];
  readonly turns: readonly number[];
}

/**
 * Fills the word signals: of the unit, of the turns around it, of its session. Exact BM25 for all units
 * (Robertson & Zaragoza 2009, with Lucene's idf). The work grows with the occurrences of the query's words,
 * not with the size of the memory. `trust` (0 to 1) says how far one term shows that a unit relates to the
 * query.
 */
export function retrieveByWords(
  searchIndex: SearchIndex,
  scratch: Scratch,
  terms: readonly string[],
  signals: Signals,
  trust: (term: string) => number = () => 1,
): WordMatches {
  const { words, units, turns } = searchIndex;
  const wordScores = scratch.column("words", units.count);
  const share = scratch.column("share", units.count);
  const window = createTermCounter(scratch, "window", turns.count);
  const session = createTermCounter(scratch, "session", turns.sessionCount);
  const slots: number[] = [];
  let top = 0;
  for (const { term, weight, part } of weighTerms(searchIndex, terms, trust)) {
    const runs = words.postings(term);
    const isCommon =
      units.count > LARGE_MEMORY_UNITS && words.frequency(term) > units.count / COMMON_TERM_DIVISOR;
    for (const run of runs) {
      top = Math.max(
        top,
        addTermScore(searchIndex, run, { weight, part }, { own: wordScores, share, slots }),
      );
      if (!isCommon) spreadToTurns(searchIndex, run, window, session);
    }
    flushTerm(window, weight);
    flushTerm(session, weight);
  }
  signals.columns.words = wordScores;
  signals.columns.window = window.sums;
  signals.columns.session = session.sums;
  signals.tops.words = top;
  signals.tops.window = window.top;
  signals.tops.session = session.top;
  return { share, slots, turns: window.all };
}

/** Adds the score of a term. Sums only grow, so the greatest seen on the way is the final maximum. */
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

/**
 * Each distinct term with its weight: its idf times its count in the query, and its share of the query's
 * total.
 */
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
  const totalWeight = most.slice(0, SUFFICIENT_WORDS).reduce((sum, one) => sum + one, 0) || 1;
  return tells.map(({ term, weight, proof }) => ({ term, weight, part: proof / totalWeight }));
}

/** Counts one term at a time by position; the scores of all terms are summed up there. */
interface TermCounter {
  readonly sums: Float32Array;
  readonly counts: Float32Array;
  /** Positions that contain the term: the first `used` entries. */
  readonly touched: number[];
  used: number;
  top: number;
  /** Positions that contain any term. */
  readonly all: number[];
}

function createTermCounter(scratch: Scratch, name: string, places: number): TermCounter {
  const sums = scratch.column(name, places);
  const counts = scratch.column(`${name} counts`, places);
  return { sums, counts, touched: [], used: 0, top: 0, all: [] };
}

/** Turns the counts of a term into scores and resets the counter. */
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

/** Counts a term in the windows and sessions of the turns that contain it. */
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
    // A memory's words are in its passage already; a deleted unit has no turn.
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

/**
 * Queries in scripts without spaces are searched by pairs of characters, because the built-in embedder reads
 * only English. Pairs know no synonyms and cross word boundaries, so such a query has its own search method.
 */

/** Weight of a question relative to a statement in a query of several sentences. */
const QUESTION_WEIGHT = 3;

/**
 * How far a pair of characters that is not a word, or a single character of a word, shows the topic of a text.
 * Measured on Chinese questions: at 0.8, 97 of 100 unrelated questions find nothing, and so do 3 of 100
 * related ones. At 1 it is 94 and 3, at 0.3 it is 100 and 6.
 */
const CHANCE_PAIR_WEIGHT = 0.8;
/** Weight of a word relative to a chance pair. */
const WORD_WEIGHT = 3;

interface CharacterQuery {
  readonly terms: readonly string[];
  /** How far one term shows that a text relates to the query: 1 for words, little for chance pairs. */
  trust(term: string): number;
}

/**
 * The search terms of such a query. Terms of questions count several times, and words count more than pairs
 * that join two words. Omits pairs of the latter kind that occur in no unit.
 */
export function parseCharacterQuery(searchIndex: SearchIndex, query: string): CharacterQuery {
  const sentences = splitSentences(query).map(({ start, end }) => query.slice(start, end));
  const hasQuestion = sentences.some(isQuestion);
  const whole = new Set(sentences.flatMap(termsOfWords));
  const terms = sentences.flatMap((sentence) => {
    const often = hasQuestion && isQuestion(sentence) ? QUESTION_WEIGHT : 1;
    const parts = termsOfWords(sentence);
    const weightedTerms = [
      ...extractTerms(sentence),
      ...Array.from({ length: WORD_WEIGHT - 1 }, () => parts).flat(),
    ];
    return Array.from({ length: often }, () => weightedTerms).flat();
  });
  return {
    terms: terms.filter(
      (term) => whole.has(term) || !isUnspaced(term) || searchIndex.words.frequency(term) > 0,
    ),
    trust: (term) => (whole.has(term) || !isUnspaced(term) ? 1 : CHANCE_PAIR_WEIGHT),
  };
}

/** The terms of each word by itself, without the single characters of words that have several. */
function termsOfWords(sentence: string): string[] {
  return splitWords(sentence).flatMap((word) => {
    const terms = extractTerms(word);
    return terms.length > 1 ? terms.filter((term) => Array.from(term).length > 1) : terms;
  });
}

function isQuestion(sentence: string): boolean {
  return /[?？]["'”’」』）)]*$/u.test(sentence);
}

/** A unit that may be returned. */
interface ScoredUnit {
  readonly slot: number;
  readonly score: number;
}

/** Remaining weight of a term that a higher unit already contains. */
const COVERED_WEIGHT = 0.35;
/** Scores closer than this share of the best are equal; then the earlier statement comes first. */
const TIE_SHARE = 0.04;

/**
 * Reorders units so that every part of the query is covered. The weight of a query term halves with each
 * placed unit that contains it. The scores fall with it.
 */
export function diversifyUnits<One extends ScoredUnit>(
  searchIndex: SearchIndex,
  terms: readonly string[],
  units: readonly One[],
): One[] {
  const parts = units.map(() => new Map<string, number>());
  for (const term of new Set(terms)) {
    const weight = termWeightOf(searchIndex.words, term) * terms.filter((one) => one === term).length;
    const runs = searchIndex.words.postings(term);
    for (const [i, { slot }] of units.entries()) {
      const count = runs.reduce((sum, run) => sum + termFrequencyIn(run, slot), 0);
      const length = (searchIndex.words.lengths[slot] ?? 0) / searchIndex.words.meanLength;
      if (count > 0) parts[i]?.set(term, weight * saturateFrequency(count, length));
    }
  }
  const coveredTerms = new Map<string, number>();
  const left = units.map((unit, i) => ({ unit, parts: parts[i] ?? new Map<string, number>() }));
  const equal = Math.max(0, ...units.map(({ score }) => score)) * TIE_SHARE;
  const spread: One[] = [];
  let most = Number.POSITIVE_INFINITY;
  while (left.length > 0) {
    const scored = left.map((one) => ({
      one,
      score: one.unit.score * computeRemainingShare(one.parts, coveredTerms),
    }));
    const best = scored.reduce((a, b) => (isBefore(searchIndex, b, a, equal) ? b : a));
    left.splice(left.indexOf(best.one), 1);
    most = Math.min(most, best.score);
    spread.push({ ...best.one.unit, score: most });
    for (const term of best.one.parts.keys())
      coveredTerms.set(term, (coveredTerms.get(term) ?? 1) * COVERED_WEIGHT);
  }
  return spread;
}

/** The remaining weight of the query terms in a unit: 0 to 1. */
function computeRemainingShare(
  parts: ReadonlyMap<string, number>,
  held: ReadonlyMap<string, number>,
): number {
  let all = 0;
  let left = 0;
  for (const [term, part] of parts) {
    all += part;
    left += part * (held.get(term) ?? 1);
  }
  return all > 0 ? left / all : 1;
}

interface ScoredEntry {
  readonly one: { readonly unit: ScoredUnit };
  readonly score: number;
}

function isBefore({ units }: SearchIndex, one: ScoredEntry, other: ScoredEntry, equal: number): boolean {
  if (Math.abs(one.score - other.score) > equal) return one.score > other.score;
  const { turn } = units.columns;
  return (turn[one.one.unit.slot] as number) < (turn[other.one.unit.slot] as number);
}

/** BM25's share of a term that occurs `found` times in a text of `length` mean lengths: below 1. */
function saturateFrequency(found: number, length: number): number {
  const { k1, b } = BM25;
  return found / (found + k1 * (1 - b + b * length));
}
