import { type Span, sentencesOf } from "../../domain/sentences.ts";
import { analyse, stem } from "../../domain/words.ts";
import { isKin } from "./kin.ts";
import type { Wanted } from "./wanted.ts";

/** So much of what a note is about must stand in a stretch of it. */
const MOST_OF_IT = 0.75;
const NEGATED = /\b(?:not|never|no|don['’]?t|without|avoid)\b/i;
const BREAKS = /[;:,.!?]+\s|\s[–—-]\s|["“”]/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}'’]*/gu;

/** What a wording is about, where a phrase speaks of a note, an instruction or other words: "the note about the dog". */
export function aboutWording(phrase: string, wanted: Wanted): string[] {
  if (!wanted.slots.some(({ slot }) => slot.isText || slot.isWords)) return [];
  const [, said] =
    /\b(?:about|regarding|concerning|saying|that (?:said|says|says to|tells?|told)|to the effect that|on|not to|to)\b(.+)$/i.exec(
      phrase,
    ) ?? [];
  const terms = said === undefined ? wanted.terms : analyse(said);
  return [...new Set(terms)];
}

/** The stretches of a text that say such a thing: at most a sentence each. */
export function wordingsIn(text: string, terms: readonly string[], phrase: string): Span[] {
  const isNegated = NEGATED.test(phrase.replaceAll("-", " "));
  if (terms.length === 0 || (terms.length === 1 && !isNegated)) return [];
  return sentencesOf(text).flatMap((sentence) => {
    const inside = text.slice(sentence.start, sentence.end);
    if (terms.length === 1 && !NEGATED.test(inside)) return [];
    const met = metIn(inside, terms);
    if (met.terms < Math.max(1, Math.ceil(terms.length * MOST_OF_IT))) return [];
    const { start, end } = widened(inside, met);
    return [{ start: sentence.start + start, end: sentence.start + end }];
  });
}

/** How many of the terms stand in a sentence, and from where to where. */
function metIn(sentence: string, terms: readonly string[]): Span & { terms: number } {
  const left = new Set(terms);
  let start = sentence.length;
  let end = 0;
  for (const { 0: word, index } of sentence.matchAll(WORD)) {
    const stemmed = stem(word.toLowerCase());
    const met = terms.filter((term) => isKin(stemmed, term));
    if (met.length === 0) continue;
    for (const term of met) left.delete(term);
    start = Math.min(start, index);
    end = index + word.length;
  }
  return { terms: terms.length - left.size, start, end };
}

/** To the breaks around it. */
function widened(sentence: string, { start, end }: Span): Span {
  let from = 0;
  let to = sentence.replace(/[.!?"”]+$/, "").length;
  for (const { 0: mark, index } of sentence.matchAll(BREAKS)) {
    if (index + mark.length <= start) from = index + mark.length;
    else if (index >= end) {
      to = Math.min(to, index);
      break;
    }
  }
  return { start: from, end: Math.max(to, end) };
}
