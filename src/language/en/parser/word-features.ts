import { createWordCache } from "../../../domain/search/search-terms.ts";
import { hashToRows, hashUtf8 } from "./murmur-hash.ts";
import type { WordSpan } from "./tokenizer.ts";

/** Rows of a word in one table. */
export const ROWS_PER_TABLE = 4;
/** Tables: norm, first letter, last three letters, shape. */
export const TABLES = 4;
const ROWS_PER_WORD = ROWS_PER_TABLE * TABLES;

/** Words whose rows are kept. They depend on the word alone, so that this changes nothing but the time. */
const CACHE_SIZE = 8192;
/** thinc numbers the seeds of its tables from 8. */
const FIRST_SEED = 8;

/** Gives the rows of a word in the four tables, which have the given numbers of rows. */
export function createRowFinder(
  tableRows: readonly number[],
  symbols: ReadonlyMap<string, number>,
): (word: WordSpan) => Uint16Array {
  const cache = createWordCache<Uint16Array>();
  return (word) => {
    const key = `${word.text}\n${word.norm}`;
    const known = cache.get(key);
    if (known) return known;
    const rows = new Uint16Array(ROWS_PER_WORD);
    const features = [word.norm, findPrefix(word.text), findSuffix(word.text), findShape(word.text)];
    features.forEach((feature, table) => {
      const symbol = symbols.get(feature);
      const hash = symbol === undefined ? hashUtf8(feature) : { low: symbol, high: 0 };
      hashToRows(hash, FIRST_SEED + table, tableRows[table] as number, rows, table * ROWS_PER_TABLE);
    });
    if (cache.size >= CACHE_SIZE) cache.clear();
    cache.set(key, rows);
    return rows;
  };
}

function findPrefix(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) as number);
}

function findSuffix(text: string): string {
  const end = text.slice(-6);
  return Array.from(end).slice(-3).join("");
}

const LONGEST_SHAPE = 100;
const LONGEST_SAME = 4;

/** `Xxxxx` for `Steven`, `dd:dd` for `10:30`: at most four of the same in a row, as in spaCy. */
export function findShape(text: string): string {
  const characters = Array.from(text);
  if (characters.length >= LONGEST_SHAPE) return "LONG";
  let shape = "";
  let last = "";
  let run = 0;
  for (const character of characters) {
    const kind = classify(character);
    run = kind === last ? run + 1 : 0;
    last = kind;
    if (run < LONGEST_SAME) shape += kind;
  }
  return shape;
}

function classify(character: string): string {
  if (/\p{L}/u.test(character)) return /\p{Lu}/u.test(character) ? "X" : "x";
  return /[\p{Nd}¹²³⁰-⁹₀-₉]/u.test(character) ? "d" : character;
}
