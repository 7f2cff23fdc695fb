/** A stretch of a text: `text.slice(start, end)`. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

const ABBREVIATED = /(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|no|jr|sr)\.$/i;
/** Where a mark needs no space behind it: Chinese and Japanese; Hindi, Khmer, Burmese; Arabic and Urdu. */
const ENDINGS = /[.!?…。！？]+["'”’)\]]*(?=\s|$)|[。！？।॥។៕။؟۔]+|\n+/gu;

/**
 * The sentences of a text in order, without the white space around them; together they hold every word. It cuts at
 * line breaks and at marks that end a sentence, not after abbreviations such as "Dr." and "e.g.".
 */
export function splitSentences(text: string): TextSpan[] {
  const spans: TextSpan[] = [];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(ENDINGS)) {
    const end = index + mark.length;
    // A look at the last few characters is enough, and keeps a text of a megabyte linear.
    if (mark === "." && ABBREVIATED.test(text.slice(Math.max(start, end - 12), end))) continue;
    pushSpan(spans, text, start, end);
    start = end;
  }
  pushSpan(spans, text, start, text.length);
  return spans;
}

function pushSpan(spans: TextSpan[], text: string, start: number, end: number): void {
  const piece = text.slice(start, end);
  const trimmed = piece.trim();
  if (trimmed === "") return;
  const from = start + piece.indexOf(trimmed);
  spans.push({ start: from, end: from + trimmed.length });
}
