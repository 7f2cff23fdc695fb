import type { TextSpan } from "./sentences.ts";

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
