import { baseForm } from "./english.ts";

/**
 * The words of a text, for search and for comparing. Latin text is lower-cased, freed of accents, stripped of stop
 * words and light suffixes; runs of Chinese, Japanese and Korean become pairs of characters.
 */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+|[[\p{L}\p{N}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]]+(?:['’]\p{L}+)?/gv;
/** The same for text of the ASCII range, many times faster. */
const PLAIN_WORD = /[a-z0-9]+(?:'[a-z]+)?/g;
const ASCII = /^\p{ASCII}*$/u;
const PAIRED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

const PAIRED_ALL = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const LETTERS = /\p{L}/gu;

/** Whether a text is mostly in characters that become pairs. */
export function isPaired(text: string): boolean {
  if (ASCII.test(text)) return false;
  const paired = text.match(PAIRED_ALL)?.length ?? 0;
  return paired > 0 && paired * 2 >= (text.match(LETTERS)?.length ?? 0);
}

/** Chinese characters that stand in every sentence; a pair of two of them tells nothing. */
const COMMON_CHARACTERS: ReadonlySet<string> = new Set(
  "的了是我你他她它们吗呢吧啊呀哦嘛和与在有就都也还很那这个么什哪谁几多少来着请问一下想要知道",
);

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
export function analyse(text: string): string[] {
  const terms: string[] = [];
  for (const word of words(text)) {
    if (PAIRED.test(word)) terms.push(...pairs(word));
    else if (!STOP.has(word)) terms.push(stem(word));
  }
  return terms;
}

/** The plain words of a text: lower case, no accents, nothing after an apostrophe ("Ana's" -> "ana"). */
export function words(text: string): string[] {
  if (ASCII.test(text)) return plainWords(text);
  const folded = text.normalize("NFKD").replace(/\p{M}/gu, "").normalize("NFC").toLowerCase();
  return Array.from(folded.matchAll(WORD), ([word]) => word.split(/['’]/)[0] ?? word);
}

function plainWords(text: string): string[] {
  const found = text.toLowerCase().match(PLAIN_WORD) ?? [];
  return found.map((word) => {
    const apostrophe = word.indexOf("'");
    return apostrophe < 0 ? word : word.slice(0, apostrophe);
  });
}

/** Whether two short texts say the same but for case, accents, punctuation, articles and word endings. */
export function sameWords(one: string, other: string): boolean {
  return wordKey(one) === wordKey(other);
}

/** What `sameWords` compares. */
export function wordKey(text: string): string {
  const all = words(text);
  const telling = all.filter((word) => !ARTICLES.has(word));
  return (telling.length > 0 ? telling : all).map(stem).join(" ");
}

/** Words that make no difference to what is said. */
export const ARTICLES: ReadonlySet<string> = new Set(["a", "an", "the", "my", "our", "some"]);

/** Stems looked up before; the words of a language are few, and come again. */
const STEMS = new Map<string, string>();
const MOST_STEMS = 50_000;

/** A light stemmer: forms of a verb meet in its base ("uses", "using", "used", "went"), then one suffix goes. */
export function stem(word: string): string {
  const known = STEMS.get(word);
  if (known !== undefined) return known;
  const stemmed = unsuffixed(isRegular(word) ? word : baseForm(word));
  if (STEMS.size >= MOST_STEMS) STEMS.clear();
  STEMS.set(word, stemmed);
  return stemmed;
}

/** Whether the suffixes below say all about a word; a short one ("used") would lose too much to them. */
function isRegular(word: string): boolean {
  return word.length > 5 && /(?:ing|ed|s)$/.test(word);
}

/** Without its suffix, and then without a final e. */
function unsuffixed(word: string): string {
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

/**
 * Pairs of neighbouring characters, and the single ones: what is 38岁 in one place is 年龄 or 几岁 in the other. A
 * dictionary that could tell where words end is as large as everything else here.
 */
function pairs(run: string): string[] {
  const letters = Array.from(run);
  if (letters.length === 1) return COMMON_CHARACTERS.has(run) ? [] : letters;
  const singles = letters.filter((letter) => !COMMON_CHARACTERS.has(letter));
  const both = letters.slice(1).flatMap((letter, i) => {
    const before = letters[i] ?? "";
    return COMMON_CHARACTERS.has(letter) && COMMON_CHARACTERS.has(before) ? [] : [`${before}${letter}`];
  });
  return [...singles, ...both];
}
