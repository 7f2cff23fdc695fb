import { stripInvisible } from "../unseen.ts";

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
