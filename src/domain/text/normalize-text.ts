import type { TextSpan } from "./split-text.ts";

/**
 * Folds letters for comparison: lower case, without marks that people omit in hasty typing. Marks are removed
 * if the word stays recognisable (Café, Ångström, Đà Nẵng, Arabic and Hebrew vowel points). They stay if they
 * make another letter: the vowels of Hindi and Thai, Japanese voicing, Russian й.
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const bare = text
    .normalize("NFKD")
    .replace(ACCENTED, "$1")
    .replace(LOOSE_MARKS, "")
    .normalize("NFC")
    .toLowerCase()
    // Lower-casing a decomposed İ leaves its dot behind.
    .replace(/i\u0307/g, "i");
  return NEEDS_LETTERS.test(bare) ? bare.replace(LETTERS, (letter) => SAME_LETTER[letter] ?? letter) : bare;
}

/** Like `foldText`, but letter for letter, so that positions in the text do not change. */
export function foldTextInPlace(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return Array.from(text, (letter) => {
    if (letter <= "\x7f") return letter.toLowerCase();
    const plain = foldText(letter);
    return plain.length === letter.length ? plain : letter.toLowerCase();
  }).join("");
}

const ASCII = /^\p{ASCII}*$/u;
/**
 * Latin and Greek letters with their accents. One match consumes all of them, so that a long row of marks is
 * not slow.
 */
const ACCENTED = /([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu;
/** Arabic vowel points, hamzas and tatweel; Hebrew points. */
const LOOSE_MARKS = /[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]|\u0640/gu;

/** Letters that Unicode does not decompose, but people type without a mark. One for one. */
const SAME_LETTER: Readonly<Record<string, string>> = {
  đ: "d",
  ø: "o",
  ł: "l",
  ı: "i",
  ħ: "h",
  ς: "σ",
  ё: "е",
  ى: "ي",
  ة: "ه",
  ی: "ي",
  ک: "ك",
  ٱ: "ا",
};
const LETTERS = new RegExp(`[${Object.keys(SAME_LETTER).join("")}]`, "gu");
const NEEDS_LETTERS = new RegExp(`[${Object.keys(SAME_LETTER).join("")}]`, "u");

/** Letters of other scripts that look like Latin ones, with the Latin letter. */
const LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    а: "a",
    в: "b",
    с: "c",
    ԁ: "d",
    е: "e",
    ҽ: "e",
    һ: "h",
    і: "i",
    ї: "i",
    ј: "j",
    к: "k",
    м: "m",
    н: "h",
    о: "o",
    р: "p",
    ԛ: "q",
    ѕ: "s",
    т: "t",
    у: "y",
    ѵ: "v",
    ԝ: "w",
    х: "x",
    α: "a",
    β: "b",
    ε: "e",
    ι: "i",
    κ: "k",
    ν: "v",
    ο: "o",
    ρ: "p",
    τ: "t",
    υ: "u",
    χ: "x",
    ɑ: "a",
    ɡ: "g",
    ı: "i",
    ⅼ: "l",
  }),
);
/** Most of the following steps do not affect such text. */
const PRINTABLE_ASCII = /^[ -~]*$/;
const MIXED = /[\p{L}]+/gu;

/**
 * Folds a text for comparison: without invisible characters, in lower case, with plain spaces. Look-alike
 * letters of other scripts become Latin if a word mixes both. A word entirely in Cyrillic or Greek is
 * unchanged.
 */
export function foldLookalikes(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text.toLowerCase().replaceAll("`", "'").replace(/ +/g, " ").trim();
  return stripInvisible(text)
    .normalize("NFKC")
    .toLowerCase()
    .replace(MIXED, (word) =>
      /[a-z]/.test(word) && /[^\p{Script=Latin}]/u.test(word) ? toLatin(word) : word,
    )
    .replace(/[’‘`´]/g, "'")
    .replace(/[“”«»„]/g, '"')
    .replace(/\s+/g, " ")
    .trim();
}

function toLatin(word: string): string {
  return Array.from(word, (letter) => LIKE.get(letter) ?? letter).join("");
}

const toTagLetters = (letters: string): string =>
  Array.from(letters, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
/**
 * Flags drawn from tag characters: England, Scotland, Wales. Any other row of tag characters is hidden text.
 */
const FLAGS = ["gbeng", "gbsct", "gbwls"].map((flag) => `\u{1f3f4}${toTagLetters(flag)}\u{e007f}`).join("|");
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g;
/**
 * Characters that Unicode renders as nothing: fillers, joiners, soft hyphens, direction marks, selectors,
 * tags.
 */
const UNSEEN = new RegExp(`${FLAGS}|[\\p{Default_Ignorable_Code_Point}\\ufff0-\\ufffb]`, "gu");
/** Text without any of them. */
const PLAIN = /^[\t\n -~]*$/;
/**
 * Joiners have a function inside an emoji (a person and a fire engine), and in words of scripts that need
 * them.
 */
const DRAWN = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const SCRIPTS = String.raw`\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}`;
const LETTER_BEFORE = new RegExp(`(?:[${SCRIPTS}]|\\p{M})$`, "u");
const LETTER_AFTER = new RegExp(`^[${SCRIPTS}]`, "u");
const PICTURE = /\p{Extended_Pictographic}$/u;
const KEYCAP = /^[0-9#*]$/;
const HAN = /\p{Script=Han}$/u;

/** Removes invisible characters. They hide words from people and from filters. */
export function stripInvisible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(UNSEEN, (sign, at: number) => (isDrawn(text, sign, at) ? sign : ""))
    .replace(CONTROLS, " ");
}

/** The spans that `stripInvisible` removes, in order. */
export function findInvisible(text: string): TextSpan[] {
  if (PLAIN.test(text)) return [];
  return Array.from(text.matchAll(UNSEEN)).flatMap(({ 0: sign, index }) =>
    isDrawn(text, sign, index) ? [] : [{ start: index, end: index + sign.length }],
  );
}

/** Whether an invisible character has a function here: in a flag, an emoji, a keycap, a word. */
function isDrawn(text: string, sign: string, at: number): boolean {
  if (sign.length > 2) return true;
  const before = text.slice(Math.max(0, at - 2), at);
  if (sign === "\u200c" || sign === "\u200d") return isJoiner(text, sign, before, at);
  if (sign === "\ufe0e" || sign === "\ufe0f")
    return PICTURE.test(before) || (KEYCAP.test(before.slice(-1)) && text[at + 1] === "\u20e3");
  return HAN.test(before) && /^[\ufe00-\ufe02\u{e0100}-\u{e01ef}]$/u.test(sign);
}

function isJoiner(text: string, sign: string, before: string, at: number): boolean {
  const after = text.slice(at + 1, at + 3);
  if (LETTER_BEFORE.test(before) && LETTER_AFTER.test(after)) return true;
  return sign === "\u200d" && DRAWN.test(before) && /^\p{Extended_Pictographic}/u.test(after);
}
