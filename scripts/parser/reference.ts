import type { ParsedSentence } from "../../src/language/en/parser/parser.ts";

/** A word as `predict.py` writes it; the head is an index in the sentence, -1 for the root. */
export type ReferenceWord = readonly [text: string, tag: string, pos: string, head: number, label: string];

/** A text with spaCy's parse. */
export interface ReferenceText {
  readonly text: string;
  readonly sentences: readonly (readonly ReferenceWord[])[];
}

/** Words, and how many of them differ. */
export interface ParseDifference {
  words: number;
  /** Words of texts that were cut into other words or sentences; nothing else of them is counted. */
  tokens: number;
  tags: number;
  heads: number;
  labels: number;
}

/** Compares the parse of a text with spaCy's. */
export function compareSentences(
  parsed: readonly ParsedSentence[],
  reference: ReferenceText["sentences"],
): ParseDifference {
  const difference = { words: 0, tokens: 0, tags: 0, heads: 0, labels: 0 };
  const words = reference.flat();
  const tokens = parsed.flatMap((sentence) => sentence.tokens);
  difference.words = words.length;
  const isSameText = words.length === tokens.length && words.every(([text], i) => text === tokens[i]?.text);
  if (!isSameText) {
    difference.tokens = words.length;
    return difference;
  }
  const bases = findBases(reference.map(({ length }) => length));
  const parsedBases = findBases(parsed.map((sentence) => sentence.tokens.length));
  words.forEach(([, tag, pos, head, label], i) => {
    const token = tokens[i];
    if (!token) return;
    const expected = head < 0 ? -1 : head + (bases[i] as number);
    const given = token.head < 0 ? -1 : token.head + (parsedBases[i] as number);
    if (token.tag !== tag || token.pos !== pos) difference.tags += 1;
    if (given !== expected) difference.heads += 1;
    else if (token.label !== label) difference.labels += 1;
  });
  return difference;
}

/** For each word, the index of the first word of its sentence. */
function findBases(lengths: readonly number[]): number[] {
  const bases: number[] = [];
  for (const length of lengths) {
    const base = bases.length;
    for (let i = 0; i < length; i += 1) bases.push(base);
  }
  return bases;
}
