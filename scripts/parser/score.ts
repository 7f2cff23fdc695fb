import type { GoldText } from "./conllu.ts";

/** A word of a parse, in a text. */
export interface PredictedWord {
  readonly start: number;
  readonly end: number;
  readonly pos: string;
  readonly tag: string;
  /** The index of the head in the text; its own index for a root. */
  readonly head: number;
  readonly label: string;
}

export interface PredictedText {
  readonly words: readonly PredictedWord[];
  readonly starts: readonly number[];
}

/** Percentages. */
export interface ParseScores {
  readonly uas: number;
  readonly las: number;
  readonly upos: number;
  readonly xpos: number;
  readonly sentences: number;
}

interface Counts {
  right: number;
  predicted: number;
  gold: number;
}

/**
 * Scores as spaCy's scorer does: F1 over the words of the treebank, where a word of the parse counts if it lies in exactly one of
 * them; relations of punctuation are left out.
 */
export function scoreParses(gold: readonly GoldText[], predicted: readonly PredictedText[]): ParseScores {
  const counts = { uas: create(), las: create(), upos: create(), xpos: create(), sentences: create() };
  gold.forEach((text, index) => {
    const parse = predicted[index];
    if (!parse) return;
    const aligned = alignWords(text, parse);
    countAttributes(text, parse, aligned, counts);
    countArcs(text, parse, aligned, counts);
    countSentences(text, parse, counts.sentences);
  });
  return {
    uas: f1(counts.uas),
    las: f1(counts.las),
    upos: f1(counts.upos),
    xpos: f1(counts.xpos),
    sentences: f1(counts.sentences),
  };
}

const create = (): Counts => ({ right: 0, predicted: 0, gold: 0 });
const f1 = ({ right, predicted, gold }: Counts): number => (200 * right) / (predicted + gold);

/** The treebank's word for each word of the parse; -1 if it lies in several. */
function alignWords({ words }: GoldText, parse: PredictedText): number[] {
  let from = 0;
  return parse.words.map(({ start, end }) => {
    while (from < words.length && (words[from]?.end ?? 0) <= start) from += 1;
    const next = words[from + 1];
    return next && next.start < end ? -1 : from;
  });
}

type AllCounts = { readonly [name in keyof ParseScores]: Counts };

function countAttributes(text: GoldText, parse: PredictedText, aligned: number[], counts: AllCounts): void {
  for (const name of ["upos", "xpos"] as const) {
    const read = (word: PredictedWord | undefined): string => (name === "upos" ? word?.pos : word?.tag) ?? "";
    const pairs = new Set<string>();
    parse.words.forEach((word, i) => {
      if (aligned[i] !== -1) pairs.add(`${aligned[i]} ${read(word)}`);
    });
    counts[name].gold += text.words.length;
    counts[name].predicted += pairs.size;
    text.words.forEach((word, i) => {
      if (pairs.has(`${i} ${read(word)}`)) counts[name].right += 1;
    });
  }
}

const isPunctuation = (label: string): boolean => label === "punct" || label === "p";

function countArcs(text: GoldText, parse: PredictedText, aligned: number[], counts: AllCounts): void {
  const plain = new Set<string>();
  const labelled = new Set<string>();
  let lost = 0;
  parse.words.forEach((word, i) => {
    if (isPunctuation(word.label)) return;
    const child = aligned[i] as number;
    const head = aligned[word.head] as number;
    if (child < 0 || head < 0) lost += 1;
    else {
      plain.add(`${child} ${head}`);
      labelled.add(`${child} ${head} ${word.label}`);
    }
  });
  counts.uas.predicted += plain.size + lost;
  counts.las.predicted += labelled.size + lost;
  text.words.forEach((word, i) => {
    if (isPunctuation(word.label)) return;
    counts.uas.gold += 1;
    counts.las.gold += 1;
    if (plain.has(`${i} ${word.head}`)) counts.uas.right += 1;
    if (labelled.has(`${i} ${word.head} ${word.label}`)) counts.las.right += 1;
  });
}

function countSentences(text: GoldText, parse: PredictedText, counts: Counts): void {
  const spans = (of: PredictedText | GoldText): Set<string> =>
    new Set(
      of.starts.map((start, i) => {
        const last = (of.starts[i + 1] ?? of.words.length) - 1;
        return `${of.words[start]?.start} ${of.words[last]?.end}`;
      }),
    );
  const gold = spans(text);
  const predicted = spans(parse);
  counts.gold += gold.size;
  counts.predicted += predicted.size;
  for (const span of predicted) if (gold.has(span)) counts.right += 1;
}
