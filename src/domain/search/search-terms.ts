import { foldText, stripInvisible } from "../text/normalize-text.ts";
import { toBaseForm } from "./base-forms.ts";

/**
 * Text without spaces between words, or with endings that a search must ignore: Chinese, Japanese, Korean,
 * Thai, Lao, Khmer and Burmese. It uses only what Node includes (Intl.Segmenter), no dictionary of its own.
 */

const EAST = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々`;
const SOUTH = String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;

/** The letters of these scripts, for a pattern with the flag `v`. */
export const UNSPACED: string = EAST + SOUTH;

const RUN = new RegExp(`^[${UNSPACED}]`, "v");
const SOUTHERN = new RegExp(`^[${SOUTH}]`, "v");
const PARTS = /\p{Script=Han}+|[\p{Script=Katakana}ー]+|[\p{Script=Hiragana}ー]+|\p{Script=Hangul}+/gu;

/** Whether a word begins in one of these scripts. */
export function isUnspaced(word: string): boolean {
  return RUN.test(word);
}

/** Characters that occur in most Chinese sentences. A pair of two of them carries no information. */
const COMMON_CHARACTERS: ReadonlySet<string> = new Set(
  "的了是我你他她它们吗呢吧啊呀哦嘛和与在有就都也还很那这个么什哪谁几多少来着请问一下想要知道",
);

/** Hiragana pairs that are grammar, and words that occur in most Thai, Lao, Khmer or Burmese sentences. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "です でし ます まし まし ませ せん した して しま いま いる いた いて ある あり あっ この その あの どの これ それ あれ どれ ここ そこ どこ " +
    "から まで なに なん いつ だれ とき こと もの もう よう ので のは のが のに のを とは とい いう って った たい たち ない なか なっ なの " +
    "では には への での とか さん ちゃ くだ ださ さい わた たし わた ぼく あな なた です すか ます すよ すね るの てい てる れた れて られ てく " +
    "ฉัน ผม ดิฉัน คุณ เขา เธอ เรา มัน ที่ ใน ของ และ คือ เป็น มี อยู่ ไม่ ได้ จะ ให้ กับ นี้ นั้น อะไร ไหน ใคร เมื่อไร เมื่อไหร่ อย่างไร ทำไม ไหม ครับ ค่ะ คะ ชอบ " +
    "ຂ້ອຍ ເຈົ້າ ຢູ່ ໃນ ຂອງ ແລະ ເປັນ ມີ ບໍ່ ຫຍັງ ໃສ ໃຜ ບໍ ទី ខ្ញុំ អ្នក គាត់ នៅ ក្នុង របស់ និង ជា មាន មិន អ្វី ណា ទេ ដែល ကျွန်တော် ကျွန်မ မှာ ကို က တယ် ပါ သည် လဲ ဘာ ဘယ် "
  )
    .split(" ")
    .filter(Boolean),
);

/** Korean particles and sentence endings. They carry no topic. */
const PARTICLE =
  /(?<=.)(?:은|는|이|가|을|를|에|의|로|와|과|도|만|에서|으로|에게|한테|까지|부터|처럼|보다|이랑|랑|하고|이나|에는|에서는|이라고|라고)$/u;
const ENDING =
  /(?:(?:했|었|았|있|였)?(?:습니다|습니까|어요|아요)|합니다|합니까|입니다|입니까|해요|이에요|예요|에요|세요|네요|군요|지요|나요|인가요|할까요|죠|니다|니까|었다|았다|했다|있다|한다|이다|(?<=..)[요다])$/u;
const KOREAN_COMMON: ReadonlySet<string> = new Set(
  "나 저 제 내 너 우리 그 이 저희 무엇 뭐 어디 언제 누구 왜 어떻게 어떤 무슨 있 없 하 것 거 수 때".split(" "),
);

/** The search terms of a run of these scripts. The terms of a word do not depend on its neighbours. */
function extractUnspacedTerms(run: string): string[] {
  if (SOUTHERN.test(run)) return extractSouthernTerms(run);
  return Array.from(run.matchAll(PARTS), ([part]) => part).flatMap((part) => {
    if (/^\p{Script=Han}/u.test(part)) return extractChineseTerms(part);
    if (/^\p{Script=Hangul}/u.test(part)) return extractKoreanTerms(part);
    // A single hiragana letter between characters is a particle.
    if (/^[\p{Script=Hiragana}ー]$/u.test(part)) return [];
    return toPairs(part).filter((pair) => !COMMON.has(pair));
  });
}

/**
 * Pairs of neighbouring characters, and single ones: 38岁 in one text is 年龄 or 几岁 in another. The segmenter's
 * word ends depend on the neighbours (it makes 猫叫 one word), and search terms must not.
 */
function extractChineseTerms(run: string): string[] {
  const singles = Array.from(run).filter((letter) => !COMMON_CHARACTERS.has(letter));
  const pairs = Array.from(run).length === 1 ? [] : toPairs(run);
  return [
    ...singles,
    ...pairs.filter((pair) => !Array.from(pair).every((one) => COMMON_CHARACTERS.has(one))),
  ];
}

/** Pairs of syllables of a word without its ending and particle. A one-syllable noun is kept as it is. */
function extractKoreanTerms(word: string): string[] {
  const stem = word.replace(ENDING, "").replace(PARTICLE, "");
  if (stem === "" || KOREAN_COMMON.has(stem)) return [];
  return toPairs(stem);
}

/**
 * Words. Long ones are split into runs of three letters: กรุงเทพ is found in กรุงเทพมหานคร, which is one word
 * too.
 */
function extractSouthernTerms(run: string): string[] {
  return segmentWords(run).flatMap((word) => {
    if (COMMON.has(word)) return [];
    const letters = Array.from(word);
    if (letters.length < 5) return [word];
    return letters.slice(2).map((_one, i) => letters.slice(i, i + 3).join(""));
  });
}

function toPairs(text: string): string[] {
  const letters = Array.from(text);
  if (letters.length === 1) return letters;
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

let segmenter: Intl.Segmenter | undefined;

/** Splits a run into words by a dictionary, which covers all these scripts regardless of its locale. */
function segmentWords(run: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "word" });
  return Array.from(segmenter.segment(run)).flatMap(({ segment, isWordLike }) =>
    isWordLike ? [segment] : [],
  );
}

const caches = new Set<Map<string, unknown>>();

/** Caches the result for each word: at most `most` words, and only until the next erasure. */
export function memoizeByWord<Value>(most: number, make: (word: string) => Value): (word: string) => Value {
  const made = createWordCache<Value>();
  return (word) => {
    const known = made.get(word);
    if (known !== undefined) return known;
    const value = make(word);
    // Long words are rare, and a bound on the number of words would not bound the bytes.
    if (word.length > LONGEST) return value;
    if (made.size >= most) made.clear();
    made.set(word, value);
    return value;
  };
}

/** A cache whose keys or values hold words of users: `clearWordCaches` empties it. */
export function createWordCache<Value>(): Map<string, Value> {
  const made = new Map<string, Value>();
  caches.add(made);
  return made;
}

/** In characters. */
const LONGEST = 64;

/** Clears every such cache in this thread, because one of the words may have been erased. */
export function clearWordCaches(): void {
  for (const made of caches) made.clear();
}

/**
 * The words of a text, for search and comparison. Words are lower-cased and lose accents, stop words and
 * light suffixes. Scripts without spaces are split by their own rules (see `UNSPACED` above).
 */
const WORD = new RegExp(`[${UNSPACED}]+|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+(?:['’]\\p{L}+)?`, "gv");
/** The same for ASCII text, many times faster. */
const PLAIN_WORD = /[a-z0-9]+(?:'[a-z]+)?/g;
const ASCII = /^\p{ASCII}*$/u;
const HANGUL = /^\p{Script=Hangul}+$/u;

const LETTERS = /\p{L}/gu;
const UNSPACED_ALL = new RegExp(`[${UNSPACED}]`, "gv");

/** Whether a text is mostly in a script without spaces between words. */
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

/** The suffix, its replacement, and the number of letters that must remain before it. */
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

/** The search terms of a space-separated word. */
function toTerms(word: string): string[] {
  if (ASCII.test(word)) return [stem(word)];
  if (ARABIC.test(word)) return splitClitics(word, ARABIC_CLITICS);
  if (HEBREW.test(word)) return splitClitics(word, HEBREW_CLITICS);
  return [stem(word.replaceAll("ß", "ss").replaceAll("æ", "ae").replaceAll("œ", "oe"))];
}

const ARABIC = /^\p{Script=Arabic}/u;
const HEBREW = /^\p{Script=Hebrew}/u;
/** "and", "in", "for", "the", written together with the following word. */
const ARABIC_CLITICS = /^(?:[وف]?(?:[بكل]?ال|لل)|[وف])(?=.{3})/u;
const HEBREW_CLITICS = /^[והבלמשכ](?=.{3})/u;

/** The word itself, and the rest of it without its leading clitics. */
function splitClitics(word: string, clitics: RegExp): string[] {
  const bare = word.replace(clitics, "");
  return bare === word ? [word] : [word, bare];
}

/**
 * The plain words of a text: lower case, without accents and without what follows an apostrophe ("Ana's" ->
 * "ana").
 */
export function splitWords(text: string): string[] {
  return findRuns(text).flatMap((run) => (isUnspaced(run) && !HANGUL.test(run) ? segmentWords(run) : [run]));
}

/** Words, and complete runs of the scripts without spaces. */
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

/** Whether two short texts are equal apart from case, accents, punctuation, articles and word endings. */
export function hasSameWords(one: string, other: string): boolean {
  return toExactKey(one) === toExactKey(other);
}

/** Signs that distinguish values and are not words: "C++" and "C#", "-5" and "5", "$20" and "€20", "20 %". */
const SIGNS = /(?<![\p{L}\p{N}])[-−](?=\p{N})|(?<=[\p{L}\p{N}])(?:\+\+?|#)(?![\p{L}\p{N}])|[$€£¥%°]/gu;

/** Like `toWordKey`, plus the signs that distinguish values. */
export function toExactKey(text: string): string {
  const signs = text.match(SIGNS);
  return signs ? `${toWordKey(text)} ${signs.join("")}` : toWordKey(text);
}

/**
 * Writes the signs of such names as letters, for code that compares only words: "C++" as "Cplusplus", "F#" as
 * "Fsharp".
 */
export function spellOutSigns(text: string): string {
  return text.replace(/(?<=\p{Lu})(?:\+\+|#)(?![\p{L}\p{N}])/gu, (sign) =>
    sign === "#" ? "sharp" : "plusplus",
  );
}

/** The key that `hasSameWords` compares. */
export function toWordKey(text: string): string {
  const all = splitWords(text);
  const telling = all.filter((word) => !ARTICLES.has(word));
  return (telling.length > 0 ? telling : all).map(stem).join(" ");
}

/** Words that do not affect the meaning. */
export const ARTICLES: ReadonlySet<string> = new Set(["a", "an", "the", "my", "our", "some"]);

/** A language has few distinct words, and they repeat. */
const MOST_STEMS = 20_000;

const findStem = memoizeByWord(MOST_STEMS, (word) => stripSuffix(isRegular(word) ? word : toBaseForm(word)));

/**
 * A light stemmer: reduces verb forms to their base ("uses", "using", "used", "went"), then removes one
 * suffix.
 */
export function stem(word: string): string {
  return findStem(word);
}

/** Whether the suffix rules below suffice for a word. A short one ("used") would lose too much. */
function isRegular(word: string): boolean {
  return word.length > 5 && /(?:ing|ed|s)$/.test(word);
}

/** Removes the suffix, and then a final e. */
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

/** The constants of BM25, as Lucene sets them. */
export const BM25 = { k1: 1.2, b: 0.75 } as const;

/**
 * The information of a term (Lucene's idf, never negative): `ln(1 + (n - df + 0.5) / (df + 0.5))`, where `df`
 * of `n` texts contain it.
 */
export function computeIdf(texts: number, holding: number): number {
  return Math.log(1 + (texts - holding + 0.5) / (holding + 0.5));
}
