// Writes what `train.py` learns from into a folder: node scripts/forgetting/request-rows.ts FOLDER [--data DIR]
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { embedWord, SENTENCE_DIMENSIONS } from "../../src/language/en/embedding/sentence-vectors.ts";
import { tokenizeEnglish } from "../../src/language/en/parser/english-trees.ts";
import { shapeOf } from "../../src/language/en/word-encoder.ts";
import { readSentenceRows } from "./sentence-rows.ts";

const { values: options, positionals } = parseArgs({
  options: { data: { type: "string", default: "../shared/data" } },
  allowPositionals: true,
});
const folder = positionals[0] ?? "reports/requests";
/** Longer sentences are left out. */
const MOST_WORDS = 80;
const places = new Map<string, number>();

function placeOf(word: string): number {
  const place = places.get(word) ?? places.size;
  places.set(word, place);
  return place;
}

const rows = readSentenceRows(options.data).flatMap(({ set, text, isRequest, parts }) => {
  const words = tokenizeEnglish(text);
  if (words.length === 0 || words.length > MOST_WORDS) return [];
  return JSON.stringify({
    set,
    isRequest,
    words: words.map(({ norm }) => placeOf(norm.toLowerCase())),
    shapes: words.map((word, i) => shapeOf(word.text, i)),
    ...(parts?.some((part) => part > 0) ? { parts: words.map(({ start }) => parts[start] ?? 0) } : {}),
  });
});
const vectors = new Float32Array(places.size * SENTENCE_DIMENSIONS);
for (const [word, place] of places) vectors.set(embedWord(word), place * SENTENCE_DIMENSIONS);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "rows.jsonl"), `${rows.join("\n")}\n`);
writeFileSync(join(folder, "words.json"), JSON.stringify([...places.keys()]));
writeFileSync(join(folder, "vectors.bin"), new Uint8Array(vectors.buffer));
console.log(`${rows.length} sentences, ${places.size} words`);
