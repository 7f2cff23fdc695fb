import { foldText } from "./fold.ts";
import { ENGLISH_WORDS, FUNCTION_WORDS, LOAN_WORDS } from "./language-words.ts";
import type { TextSpan } from "./sentences.ts";

/** What the words of a text speak for; both 0 where nothing does ("Porto.", "34"). */
export interface LanguageScores {
  readonly english: number;
  /** Of the other language that most speaks for. */
  readonly other: number;
}

const toWordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const ENGLISH = toWordSet(ENGLISH_WORDS);
const LOANS = toWordSet(LOAN_WORDS);

/** Languages by word, without what is English too; and what is both. */
const LANGUAGES_OF = new Map<string, string[]>();
const SHARED = new Set<string>();
for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
  for (const word of toWordSet(words)) {
    if (ENGLISH.has(word)) SHARED.add(word);
    else LANGUAGES_OF.set(word, [...(LANGUAGES_OF.get(word) ?? []), language]);
  }
}

/** Heads of names (Los Angeles, La Croix, Van Dyke) and short forms that English texts are full of; one alone shows little. */
const IN_NAMES = toWordSet(
  "la le les el los las de del della di da das do dos du des der die den von van il un une al san sur mi ma sa mit na mon vet auto pas son far dos",
);
const IN_NAME = 0.5;
/** What a word that other languages have too ("in", "no", "me") says for English. */
const SHARED_WORD = 0.5;
/** A letter that English lacks, in a word that is no name. */
const STRANGE = 1;
const LETTERS = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/gu;
const WORDS = /\p{L}+(?:['’]\p{L}+)*/gu;
const ENGLISH_ENDINGS = /['’](?:s|m|re|ve|ll|d|t)$/i;

/**
 * What speaks for English and what for another language, word by word. It is made for single sentences of chat: English
 * is believed unless another language has more on its side, for names, slips and slang are in no list.
 */
export function scoreLanguages(text: string): LanguageScores {
  const sample = text.slice(0, 1500);
  const letters = sample.match(LETTERS)?.length ?? 0;
  const latin = sample.match(LATIN)?.length ?? 0;
  if (letters > 0 && latin / letters < 0.7) return { english: 0, other: letters };
  let english = 0;
  let strange = 0;
  const others = new Map<string, number>();
  for (const [place, [word]] of Array.from(sample.matchAll(WORDS)).entries()) {
    const said = scoreEnglishWord(word);
    english += said;
    if (said === 0) for (const part of word.split(/['’]/)) strange += addLanguages(part, place === 0, others);
  }
  return { english, other: strange + Math.max(0, ...others.values()) };
}

function scoreEnglishWord(word: string): number {
  const lower = word.toLowerCase();
  if (SHARED.has(lower)) return SHARED_WORD;
  return ENGLISH.has(lower) || ENGLISH_ENDINGS.test(word) ? 1 : 0;
}

/** Adds a word to the languages that it speaks for; gives what its letters say. */
function addLanguages(word: string, isFirst: boolean, others: Map<string, number>): number {
  const lower = word.toLowerCase();
  const bare = foldText(word).replaceAll("ß", "ss");
  const languages = LANGUAGES_OF.get(bare) ?? [];
  const weight = IN_NAMES.has(lower) || lower.length < 3 ? IN_NAME : 1;
  for (const language of languages) {
    others.set(language, (others.get(language) ?? 0) + weight);
  }
  const isName = !isFirst && word !== lower;
  return languages.length === 0 && bare !== lower && !isName && !LOANS.has(lower) ? STRANGE : 0;
}

/** Whether rules for English may read a text. What nothing speaks for gets the benefit of the doubt, if it has a letter. */
export function isEnglish(text: string): boolean {
  return LATIN_LETTER.test(text) && isMostlyEnglish(scoreLanguages(text));
}

/** Whether a text shows itself to be of another language. A number, a name and an emoji do not. */
export function isOfOtherLanguage(text: string): boolean {
  return !isMostlyEnglish(scoreLanguages(text));
}

/** Those sentences of a text that rules for English may read. One that shows nothing by itself goes with the text. */
export function findEnglishSpans(text: string, sentences: readonly TextSpan[]): TextSpan[] {
  let whole: boolean | undefined;
  return sentences.filter(({ start, end }) => {
    const signs = scoreLanguages(text.slice(start, end));
    if (signs.english > 0 || signs.other > 0) return isMostlyEnglish(signs);
    whole ??= isEnglish(text);
    return whole;
  });
}

function isMostlyEnglish({ english, other }: LanguageScores): boolean {
  return other <= Math.max(english, IN_NAME);
}

const LATIN_LETTER = /\p{Script=Latin}/u;
