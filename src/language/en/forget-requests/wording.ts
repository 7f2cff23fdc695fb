import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import { isKin } from "./kin.ts";
import type { Wanted } from "./wanted.ts";

/** So much of what a note is about must stand in a stretch of it. */
const MOST_OF_IT = 0.75;
const NEGATED = /\b(?:not|never|no|don['’]?t|without|avoid)\b/i;
const BREAKS = /[;:,.!?]+\s|\s[–—-]\s|["“”]/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}'’]*/gu;

/** What a wording is about, where a phrase speaks of a note, an instruction or other words: "the note about the dog". */
export function aboutWording(phrase: string, wanted: Wanted): Wording {
  if (!wanted.slots.some(({ slot }) => slot.isText || slot.isWords))
    return { terms: [], names: [], text: "" };
  const [, said] =
    /\b(?:about|regarding|concerning|saying|that (?:said|says|says to|tells?|told)|to the effect that|on|not to|to)\b(.+)$/i.exec(
      phrase,
    ) ?? [];
  const terms = [...new Set(said === undefined ? wanted.terms : extractTerms(said))];
  const names = Array.from((said ?? "").matchAll(OWNER), ([name]) => stem(splitWords(name)[0] ?? ""));
  return { terms, names, text: said?.trim() ?? "" };
}

/** What is looked for of a wording: its stems, those that say whose it is, and the words that the phrase gives of it. */
export interface Wording {
  readonly terms: readonly string[];
  readonly names: readonly string[];
  readonly text: string;
}

/** "Jonah's panic attacks" */
const OWNER = /\p{Lu}[\p{L}-]+(?=['’]s\b)/gu;
const OTHER_NAME = /(?<=[\p{Ll},]\s)\p{Lu}\p{Ll}/u;

/** The stretches of a text that say such a thing: at most a sentence each. */
export function wordingsIn(text: string, wording: Wording, phrase: string): TextSpan[] {
  const { terms: all, names } = wording;
  const isNegated = NEGATED.test(phrase.replaceAll("-", " "));
  if (all.length === 0 || (all.length === 1 && !isNegated)) return [];
  return splitSentences(text).flatMap((sentence) => {
    const inside = text.slice(sentence.start, sentence.end);
    // A sentence that names nobody else can be about the one who is named.
    const open = all.filter((term) => !names.includes(term));
    const terms = open.length > 1 && !OTHER_NAME.test(inside) ? open : all;
    if (terms.length === 1 && !NEGATED.test(inside)) return [];
    const met = metIn(inside, terms);
    if (met.terms < Math.max(1, Math.ceil(terms.length * MOST_OF_IT))) return [];
    const { start, end } = widened(inside, met);
    return [{ start: sentence.start + start, end: sentence.start + end }];
  });
}

/** How many of the terms stand in a sentence, and from where to where. */
function metIn(sentence: string, terms: readonly string[]): TextSpan & { terms: number } {
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
function widened(sentence: string, { start, end }: TextSpan): TextSpan {
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
