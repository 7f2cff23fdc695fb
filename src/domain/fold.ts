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
