/** What two ways of writing the same words differ in: spaces, quotation marks, dashes, case. */
const PLAIN_LETTERS: { readonly [letter: string]: string } = {
  "’": "'",
  "‘": "'",
  "“": '"',
  "”": '"',
  "–": "-",
  "—": "-",
  "…": ".",
};

interface PlainText {
  readonly text: string;
  /** Where each letter of it stood. */
  readonly places: readonly number[];
}

/** Where a quote stands in a text, word for word but for spaces, marks and case; nothing where it does not. */
export function locateQuote(quote: string, text: string): { start: number; end: number } | undefined {
  const wanted = quote.trim();
  if (wanted === "") return undefined;
  const exact = text.indexOf(wanted);
  if (exact >= 0) return { start: exact, end: exact + wanted.length };
  const { text: needle } = toPlainText(wanted.replace(/^["'“”‘’]+|["'“”‘’.…]+$/g, ""));
  if (needle.length < 2) return undefined;
  const hay = toPlainText(text);
  const at = hay.text.indexOf(needle);
  const start = hay.places[at];
  const last = hay.places[at + needle.length - 1];
  return start === undefined || last === undefined ? undefined : { start, end: last + 1 };
}

function toPlainText(text: string): PlainText {
  let letters = "";
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] as string;
    const isSpace = /\s/.test(letter);
    if (isSpace && (letters === "" || letters.endsWith(" "))) continue;
    const lower = isSpace ? " " : (PLAIN_LETTERS[letter] ?? letter.toLowerCase());
    // A letter whose small form is longer keeps its own, so that places stay right.
    letters += lower.length === 1 ? lower : letter;
    places.push(at);
  }
  return { text: letters.trimEnd(), places };
}
