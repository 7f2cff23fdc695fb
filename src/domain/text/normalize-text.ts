import type { TextSpan } from "./split-text.ts";

/**
 * Letters as they are compared: lower case, without what people leave out when they type in haste. Marks go where a
 * reader would still know the word (Café, Ångström, Đà Nẵng, Arabic and Hebrew vowel points) and stay where they make
 * another letter: the vowels of Hindi and Thai, Japanese voicing, Russian й.
 */
export function foldText(text: string): string {
  const bare = text
    .normalize("NFKD")
    .replace(ACCENTED, "$1")
    .replace(LOOSE_MARKS, "")
    .normalize("NFC")
    .toLowerCase()
    // Of an İ that was decomposed, lower case leaves the dot behind.
    .replace(/i\u0307/g, "i");
  return NEEDS_LETTERS.test(bare) ? bare.replace(LETTERS, (letter) => SAME_LETTER[letter] ?? letter) : bare;
}

/** The same, letter for letter, so that places in the text stay where they are. */
export function foldTextInPlace(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return Array.from(text, (letter) => {
    if (letter <= "\x7f") return letter.toLowerCase();
    const plain = foldText(letter);
    return plain.length === letter.length ? plain : letter.toLowerCase();
  }).join("");
}

const ASCII = /^\p{ASCII}*$/u;
/** Latin and Greek letters with their accents; one match takes them all, so that no row of marks is slow. */
const ACCENTED = /([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu;
/** Vowel points and hamzas of Arabic, its filling stroke, points of Hebrew. */
const LOOSE_MARKS = /[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]|\u0640/gu;

/** Letters that are no letter with a mark to Unicode, and are to those who type them. One for one. */
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

/** Letters of other scripts that look like Latin ones, and what they look like. */
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
/** Then most of what follows changes nothing. */
const PRINTABLE_ASCII = /^[ -~]*$/;
const MIXED = /[\p{L}]+/gu;

/**
 * A text as it is compared: without what nobody sees, in small letters, with plain spaces, and with look-alike letters
 * of other scripts read as Latin ones where a word mixes both. A word that is all Cyrillic or Greek stays what it is.
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
/** The flags that are drawn from tag characters: England, Scotland, Wales. Any other row of them is hidden text. */
const FLAGS = ["gbeng", "gbsct", "gbwls"].map((flag) => `\u{1f3f4}${toTagLetters(flag)}\u{e007f}`).join("|");
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g;
/** What Unicode draws as nothing: fillers, joiners, soft hyphens, marks of direction, selectors, tags. */
const UNSEEN = new RegExp(`${FLAGS}|[\\p{Default_Ignorable_Code_Point}\\ufff0-\\ufffb]`, "gu");
/** Text without any of it. */
const PLAIN = /^[\t\n -~]*$/;
/** Joiners do work inside of a drawn sign (a person and a fire engine) and of words in the scripts that need them. */
const DRAWN = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const SCRIPTS = String.raw`\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}`;
const LETTER_BEFORE = new RegExp(`(?:[${SCRIPTS}]|\\p{M})$`, "u");
const LETTER_AFTER = new RegExp(`^[${SCRIPTS}]`, "u");
const PICTURE = /\p{Extended_Pictographic}$/u;
const KEYCAP = /^[0-9#*]$/;
const HAN = /\p{Script=Han}$/u;

/** A text without characters that nobody sees: they hide words from people, and from whoever looks for them. */
export function stripInvisible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(UNSEEN, (sign, at: number) => (isDrawn(text, sign, at) ? sign : ""))
    .replace(CONTROLS, " ");
}

/** Where the characters stand that `seen` takes out. In order. */
export function findInvisible(text: string): TextSpan[] {
  if (PLAIN.test(text)) return [];
  return Array.from(text.matchAll(UNSEEN)).flatMap(({ 0: sign, index }) =>
    isDrawn(text, sign, index) ? [] : [{ start: index, end: index + sign.length }],
  );
}

/** Whether a sign that is not drawn by itself does its work here: in a flag, a picture, a keycap, a word. */
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
