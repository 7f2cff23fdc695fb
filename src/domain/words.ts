import { toBaseForm } from "./english.ts";
import { foldText } from "./fold.ts";
import { stripInvisible } from "./unseen.ts";
import { extractUnspacedTerms, isUnspaced, segmentWords, UNSPACED } from "./unspaced.ts";
import { memoizeByWord } from "./word-cache.ts";

/**
 * The words of a text, for search and for comparing. Words are lower-cased, freed of loose accents, stripped of stop
 * words and light suffixes; scripts without spaces are taken apart as their writing asks for (see `unspaced.ts`).
 */
const WORD = new RegExp(`[${UNSPACED}]+|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+(?:['’]\\p{L}+)?`, "gv");
/** The same for text of the ASCII range, many times faster. */
const PLAIN_WORD = /[a-z0-9]+(?:'[a-z]+)?/g;
const ASCII = /^\p{ASCII}*$/u;
const HANGUL = /^\p{Script=Hangul}+$/u;

const LETTERS = /\p{L}/gu;
const UNSPACED_ALL = new RegExp(`[${UNSPACED}]`, "gv");

/** Whether a text is mostly in a script whose words no space parts. */
export function isUnspacedText(text: string): boolean {
  return (
    !ASCII.test(text) && countMatches(text, UNSPACED_ALL) * 2 >= Math.max(1, countMatches(text, LETTERS))
  );
}

function countMatches(text: string, letters: RegExp): number {
  return text.match(letters)?.length ?? 0;
}

const STOP: ReadonlySet<string> = new Set(
  (
    "a an the and or but if of to in on at by for with from as is are was were be been being am do does did doing " +
    "have has had having i you he she it we they me him her us them my your his its our their this that these those " +
    "there here what which who whom whose when where why how not no nor so than too very can could will would " +
    "should may might just about into over after before up down out off then once again more most some any all each " +
    "s t don"
  ).split(" "),
);

/** Suffix, what replaces it, and how many letters must be left before it. */
const SUFFIXES: readonly (readonly [string, string, number])[] = [
  ["ational", "ate", 3],
  ["ization", "ize", 3],
  ["fulness", "ful", 3],
  ["iveness", "ive", 3],
  ["ingly", "", 4],
  ["edly", "", 4],
  ["sses", "ss", 2],
  ["ies", "y", 2],
  ["ing", "", 3],
  ["ied", "y", 2],
  ["ed", "", 3],
  ["ly", "", 4],
  ["es", "e", 3],
  ["s", "", 3],
];

/** The search terms of a text, in order, repeats included. */
export function extractTerms(text: string): string[] {
  return findRuns(text).flatMap((word) => {
    if (isUnspaced(word)) return extractUnspacedTerms(word);
    return STOP.has(word) ? [] : toTerms(word);
  });
}

/** The search terms of a word that spaces part from others. */
function toTerms(word: string): string[] {
  if (ASCII.test(word)) return [stem(word)];
  if (ARABIC.test(word)) return splitClitics(word, ARABIC_CLITICS);
  if (HEBREW.test(word)) return splitClitics(word, HEBREW_CLITICS);
  return [stem(word.replaceAll("ß", "ss").replaceAll("æ", "ae").replaceAll("œ", "oe"))];
}

const ARABIC = /^\p{Script=Arabic}/u;
const HEBREW = /^\p{Script=Hebrew}/u;
/** "and", "in", "for", "the", written as one word with what follows. */
const ARABIC_CLITICS = /^(?:[وف]?(?:[بكل]?ال|لل)|[وف])(?=.{3})/u;
const HEBREW_CLITICS = /^[והבלמשכ](?=.{3})/u;

/** The word as it stands, and what is left of it without the small words at its head. */
function splitClitics(word: string, clitics: RegExp): string[] {
  const bare = word.replace(clitics, "");
  return bare === word ? [word] : [word, bare];
}

/** The plain words of a text: lower case, no loose accents, nothing after an apostrophe ("Ana's" -> "ana"). */
export function splitWords(text: string): string[] {
  return findRuns(text).flatMap((run) => (isUnspaced(run) && !HANGUL.test(run) ? segmentWords(run) : [run]));
}

/** Words, and whole runs of the scripts without spaces. */
function findRuns(text: string): string[] {
  if (ASCII.test(text)) return splitPlainWords(text);
  return Array.from(foldText(stripInvisible(text)).matchAll(WORD), ([word]) => word.split(/['’]/)[0] ?? word);
}

function splitPlainWords(text: string): string[] {
  return (text.toLowerCase().match(PLAIN_WORD) ?? []).map(cutAtApostrophe);
}

function cutAtApostrophe(word: string): string {
  const apostrophe = word.indexOf("'");
  return apostrophe < 0 ? word : word.slice(0, apostrophe);
}

/** Whether two short texts say the same but for case, accents, punctuation, articles and word endings. */
export function hasSameWords(one: string, other: string): boolean {
  return toExactKey(one) === toExactKey(other);
}

/** Signs that tell values apart and are no words: "C++" and "C#", "-5" and "5", "$20" and "€20", "20 %". */
const SIGNS = /(?<![\p{L}\p{N}])[-−](?=\p{N})|(?<=[\p{L}\p{N}])(?:\+\+?|#)(?![\p{L}\p{N}])|[$€£¥%°]/gu;

/** `wordKey` with the signs that tell values apart. */
export function toExactKey(text: string): string {
  const signs = text.match(SIGNS);
  return signs ? `${toWordKey(text)} ${signs.join("")}` : toWordKey(text);
}

/** With the signs of such names as letters, for what compares words alone: "C++" as "Cplusplus", "F#" as "Fsharp". */
export function spellOutSigns(text: string): string {
  return text.replace(/(?<=\p{Lu})(?:\+\+|#)(?![\p{L}\p{N}])/gu, (sign) =>
    sign === "#" ? "sharp" : "plusplus",
  );
}

/** What `sameWords` compares. */
export function toWordKey(text: string): string {
  const all = splitWords(text);
  const telling = all.filter((word) => !ARTICLES.has(word));
  return (telling.length > 0 ? telling : all).map(stem).join(" ");
}

/** Words that make no difference to what is said. */
export const ARTICLES: ReadonlySet<string> = new Set(["a", "an", "the", "my", "our", "some"]);

/** The words of a language are few, and come again. */
const MOST_STEMS = 20_000;

const findStem = memoizeByWord(MOST_STEMS, (word) => stripSuffix(isRegular(word) ? word : toBaseForm(word)));

/** A light stemmer: forms of a verb meet in its base ("uses", "using", "used", "went"), then one suffix goes. */
export function stem(word: string): string {
  return findStem(word);
}

/** Whether the suffixes below say all about a word; a short one ("used") would lose too much to them. */
function isRegular(word: string): boolean {
  return word.length > 5 && /(?:ing|ed|s)$/.test(word);
}

/** Without its suffix, and then without a final e. */
function stripSuffix(word: string): string {
  let stemmed = word;
  for (const [suffix, replacement, least] of SUFFIXES) {
    if (!word.endsWith(suffix) || word.length - suffix.length < least) continue;
    if (suffix === "s" && /(?:ss|us|is)$/.test(word)) return word;
    stemmed = word.slice(0, word.length - suffix.length) + replacement;
    if ((suffix === "ing" || suffix === "ed") && stemmed.length > 3 && /([^lsz])\1$/.test(stemmed)) {
      stemmed = stemmed.slice(0, -1);
    }
    break;
  }
  return stemmed.length > 4 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}
