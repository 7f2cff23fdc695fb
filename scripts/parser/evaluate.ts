/**
 * Scores the parser on a treebank: `node scripts/parser/evaluate.ts FILE.conllu [--model FILE] [--spacy PREDICTIONS.json]`. The
 * predictions are those of `predict.py`; they are scored by the same rule and compared word by word.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { loadParser } from "../../src/language/en/parser/parser.ts";
import { readConllu } from "./conllu.ts";
import { compareSentences, type ReferenceText } from "./reference.ts";
import { type ParseScores, type PredictedText, type PredictedWord, scoreParses } from "./score.ts";

const SENTENCES_PER_TEXT = 10;
const SHIPPED = new URL("../../assets/parser-en.bin", import.meta.url);

function main(): void {
  const { values, positionals } = parseArgs({
    options: { model: { type: "string" }, spacy: { type: "string" } },
    allowPositionals: true,
  });
  const [file] = positionals;
  if (!file) throw new Error("Give a CoNLL-U file.");
  const gold = readConllu(readFileSync(file, "utf8"), SENTENCES_PER_TEXT);
  const parser = loadParser(readFileSync(values.model ?? SHIPPED));
  const start = performance.now();
  const parses = gold.map(({ text }) => parser.parse(text));
  const seconds = (performance.now() - start) / 1000;
  const words = parses.flat().reduce((sum, { tokens }) => sum + tokens.length, 0);
  console.log(`${words} words in ${seconds.toFixed(1)} s: ${Math.round(words / seconds)} words a second`);
  print("TypeScript, 8 bits", scoreParses(gold, parses.map(flattenParse)));
  if (!values.spacy) return;
  const reference = JSON.parse(readFileSync(values.spacy, "utf8")) as ReferenceText[];
  print(
    "spaCy",
    scoreParses(
      gold,
      reference.map((r) => flattenReference(r)),
    ),
  );
  const total = { words: 0, tags: 0, heads: 0, labels: 0, tokens: 0 };
  reference.forEach(({ sentences }, i) => {
    const difference = compareSentences(parses[i] ?? [], sentences);
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += difference[name];
  });
  console.log("differences to spaCy:", total);
}

function print(name: string, { uas, las, upos, xpos, sentences }: ParseScores): void {
  const show = (value: number): string => value.toFixed(2);
  console.log(
    `${name}: UAS ${show(uas)}, LAS ${show(las)}, UPOS ${show(upos)}, XPOS ${show(xpos)}, sentences ${show(sentences)}`,
  );
}

type Tree = { readonly tokens: readonly PredictedWord[] };

/** Heads by their index in the text. */
function flattenParse(sentences: readonly Tree[]): PredictedText {
  const words: PredictedWord[] = [];
  const starts: number[] = [];
  for (const { tokens } of sentences) {
    const base = words.length;
    starts.push(base);
    tokens.forEach((token, i) => {
      words.push({ ...token, head: base + (token.head < 0 ? i : token.head) });
    });
  }
  return { words, starts };
}

function flattenReference({ text, sentences }: ReferenceText): PredictedText {
  let at = 0;
  const trees = sentences.map((words) => ({
    tokens: words.map(([word, tag, pos, head, label]) => {
      const start = text.indexOf(word, at);
      at = start + word.length;
      return { start, end: at, tag, pos, head, label };
    }),
  }));
  return flattenParse(trees);
}

main();
