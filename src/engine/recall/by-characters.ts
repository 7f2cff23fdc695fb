import { BM25 } from "../../domain/bm25.ts";
import { splitSentences } from "../../domain/sentences.ts";
import { isUnspaced } from "../../domain/unspaced.ts";
import { extractTerms, splitWords } from "../../domain/words.ts";
import type { SearchIndex } from "../block/block.ts";
import { termFrequencyIn, termWeightOf } from "../block/words.ts";

/**
 * Queries in scripts without spaces are searched by pairs of characters, for the built-in embedder reads English alone.
 * Pairs know no synonyms and run over the ends of words, so such a query is searched in a way of its own.
 */

/** In a query of several sentences what is asked counts so much more than what is told. */
const QUESTION_WEIGHT = 3;

/**
 * What a pair of characters that is no word, or a single one of a word, shows of what a text is about. Measured on Chinese
 * questions: at 0.8 of 100 about something else 97 find nothing, and of 100 about what is there 3; at 1 it is 94 and 3, at
 * 0.3 it is 100 and 6.
 */
const CHANCE_PAIR_WEIGHT = 0.8;
/** A word counts so many times what a chance pair counts. */
const WORD_WEIGHT = 3;

export interface CharacterQuery {
  readonly terms: readonly string[];
  /** How far a term by itself shows that a text has to do with the query: 1 for words, little for what only looks alike. */
  trust(term: string): number;
}

/**
 * The search terms of such a query; those of its questions several times, and its words more often than pairs that only
 * join the end of one word to the beginning of the next. Of those, such as nobody ever said are left out.
 */
export function parseCharacterQuery(block: SearchIndex, query: string): CharacterQuery {
  const sentences = splitSentences(query).map(({ start, end }) => query.slice(start, end));
  const hasQuestion = sentences.some(isQuestion);
  const whole = new Set(sentences.flatMap(termsOfWords));
  const terms = sentences.flatMap((sentence) => {
    const often = hasQuestion && isQuestion(sentence) ? QUESTION_WEIGHT : 1;
    const parts = termsOfWords(sentence);
    const own = [...extractTerms(sentence), ...Array.from({ length: WORD_WEIGHT - 1 }, () => parts).flat()];
    return Array.from({ length: often }, () => own).flat();
  });
  return {
    terms: terms.filter((term) => whole.has(term) || !isUnspaced(term) || block.words.frequency(term) > 0),
    trust: (term) => (whole.has(term) || !isUnspaced(term) ? 1 : CHANCE_PAIR_WEIGHT),
  };
}

/** The terms of each word by itself, without the single characters of those that have more than one. */
function termsOfWords(sentence: string): string[] {
  return splitWords(sentence).flatMap((word) => {
    const terms = extractTerms(word);
    return terms.length > 1 ? terms.filter((term) => Array.from(term).length > 1) : terms;
  });
}

function isQuestion(sentence: string): boolean {
  return /[?？]["'”’」』）)]*$/u.test(sentence);
}

/** A unit that may be given. */
export interface ScoredUnit {
  readonly slot: number;
  readonly score: number;
}

/** What a term still counts once a unit that stands above holds it. */
const COVERED_WEIGHT = 0.35;
/** Scores that differ by less than this share of the best are equal; then what was said earlier comes first. */
const TIE_SHARE = 0.04;

/**
 * The same in the order in which they get places, such that all that is asked gets some: what a term of the query counts
 * for halves with each place that goes to a unit which holds it. The scores fall with it.
 */
export function diversifyUnits<One extends ScoredUnit>(
  block: SearchIndex,
  terms: readonly string[],
  units: readonly One[],
): One[] {
  const parts = units.map(() => new Map<string, number>());
  for (const term of new Set(terms)) {
    const weight = termWeightOf(block.words, term) * terms.filter((one) => one === term).length;
    const runs = block.words.postings(term);
    for (const [i, { slot }] of units.entries()) {
      const count = runs.reduce((sum, run) => sum + termFrequencyIn(run, slot), 0);
      const length = (block.words.lengths[slot] ?? 0) / block.words.meanLength;
      if (count > 0) parts[i]?.set(term, weight * saturateFrequency(count, length));
    }
  }
  const held = new Map<string, number>();
  const left = units.map((unit, i) => ({ unit, parts: parts[i] ?? new Map<string, number>() }));
  const equal = Math.max(0, ...units.map(({ score }) => score)) * TIE_SHARE;
  const spread: One[] = [];
  let most = Number.POSITIVE_INFINITY;
  while (left.length > 0) {
    const scored = left.map((one) => ({
      one,
      score: one.unit.score * computeRemainingShare(one.parts, held),
    }));
    const best = scored.reduce((a, b) => (isBefore(block, b, a, equal) ? b : a));
    left.splice(left.indexOf(best.one), 1);
    most = Math.min(most, best.score);
    spread.push({ ...best.one.unit, score: most });
    for (const term of best.one.parts.keys()) held.set(term, (held.get(term) ?? 1) * COVERED_WEIGHT);
  }
  return spread;
}

/** How much of what a unit holds of the query still counts: 0 to 1. */
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

/** BM25's share of a term that stands `found` times in a text of `length` mean lengths: below 1. */
function saturateFrequency(found: number, length: number): number {
  const { k1, b } = BM25;
  return found / (found + k1 * (1 - b + b * length));
}
