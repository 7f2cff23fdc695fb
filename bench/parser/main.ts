import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadParser } from "../../src/language/en/parser/parser.ts";

/**
 * node bench/parser/main.ts [FILE.conllu]: the time of the parser and of the tagger `compromise` for a sentence of about 20 words,
 * in turns, in one process. Prints medians in milliseconds. Each sentence is read once a round. Without a treebank it takes the
 * sentences of scripts/parser, joined to 20 words.
 */

const ROUNDS = 5;
const LENGTH = 20;
const SPREAD = 2;
const MAX_SENTENCES = 1000;
const ROOT = new URL("../../", import.meta.url);

type Reader = (text: string) => unknown;

function readTreebank(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/^# text = (.*)$/gm)].map(([, text]) => text ?? "");
}

/** Our own sentences, as many as make 20 words, in one line: each word is read as often as in the list. */
function joinSentences(): string[] {
  const words = readFileSync(new URL("scripts/parser/sentences.txt", ROOT), "utf8").split(/\s+/);
  return words.map((_, at) => [...words, ...words].slice(at, at + LENGTH).join(" "));
}

/** Sentences of 18 to 22 words, as the parser counts them. */
function chooseSentences(file: string | undefined, count: (text: string) => number): string[] {
  const texts = file ? readTreebank(file) : joinSentences();
  return texts.filter((text) => Math.abs(count(text) - LENGTH) <= SPREAD).slice(0, MAX_SENTENCES);
}

function measure(readers: readonly Reader[], texts: readonly string[]): number[][] {
  const times = readers.map((): number[] => []);
  for (let round = -1; round < ROUNDS; round += 1) {
    texts.forEach((text, i) => {
      // Each takes its turn at being first.
      for (let k = 0; k < readers.length; k += 1) {
        const which = (i + round + 1 + k) % readers.length;
        const start = performance.now();
        readers[which]?.(text);
        if (round >= 0) times[which]?.push(performance.now() - start);
      }
    });
  }
  return times;
}

const at = (values: readonly number[], part: number): number =>
  Number((values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN).toFixed(3));

const bytes = readFileSync(new URL("assets/parser-en.bin", ROOT));
const start = performance.now();
const parser = loadParser(bytes);
const load = performance.now() - start;
const compromise = createRequire(import.meta.url)("compromise/two") as Reader;
const texts = chooseSentences(process.argv[2], (text) => parser.parse(text).flatMap((s) => s.tokens).length);
const [parse = [], tag = []] = measure([(text) => parser.parse(text), compromise], texts);
console.log(
  JSON.stringify({
    sentences: texts.length,
    rounds: ROUNDS,
    load_ms: Number(load.toFixed(1)),
    parser_p50_ms: at(parse, 0.5),
    parser_p10_ms: at(parse, 0.1),
    compromise_p50_ms: at(tag, 0.5),
    compromise_p10_ms: at(tag, 0.1),
  }),
);
