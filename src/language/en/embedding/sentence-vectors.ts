import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MemoryError } from "../../../errors.ts";
import { isOfOtherLanguage } from "../detect-language.ts";

/** The same path from `src/` and from `dist/`: both are four levels above this file. */
const ASSETS = new URL("../../../../assets/", import.meta.url);
/** The length of the vectors. */
export const SENTENCE_DIMENSIONS = 256;

/**
 * The vector of an English text: the normalised mean of its tokens' rows in a table that was distilled from all-MiniLM-L6-v2. It takes
 * about 0.01 ms. A text in another language, and a text without a known token, get zeros. The table (8 MB) is read at the first call,
 * once per process; `folder` names another place for it. Throws `unavailable` if it cannot be read, and `corrupt` if it is damaged.
 */
export function embedSentence(text: string, folder?: URL): Float32Array {
  const { vocabulary, scales, codes } = folder ? readEmbeddingTableOnce(folder) : getShippedTable();
  // The original model read English only, so its word pieces of another language would mislead.
  return averageRows(isOfOtherLanguage(text) ? [] : toWordPieces(text, vocabulary), scales, codes);
}

/** The vector of a word, without a look at its language. Zeros for a word that the table does not know. */
export function embedWord(word: string): Float32Array {
  const { vocabulary, scales, codes } = getShippedTable();
  return averageRows(toWordPieces(word, vocabulary), scales, codes);
}

let cachedTable: EmbeddingTable | undefined;

/** Shared by all stores of a process: it never changes, takes 8 MB, and takes longer to read and check than a hundred recalls. */
function getShippedTable(): EmbeddingTable {
  cachedTable ??= readEmbeddingTable(ASSETS);
  return cachedTable;
}

function averageRows(rows: readonly number[], scales: Float32Array, codes: Int8Array): Float32Array {
  const vector = new Float32Array(SENTENCE_DIMENSIONS);
  for (const row of rows) {
    const scale = scales[row] ?? 0;
    const offset = row * SENTENCE_DIMENSIONS;
    for (let i = 0; i < SENTENCE_DIMENSIONS; i += 1)
      vector[i] = (vector[i] as number) + scale * (codes[offset + i] as number);
  }
  let squares = 0;
  for (const part of vector) squares += part * part;
  if (squares === 0) return vector;
  const length = Math.sqrt(squares);
  for (let i = 0; i < SENTENCE_DIMENSIONS; i += 1) vector[i] = (vector[i] ?? 0) / length;
  return vector;
}

const otherTables = new Map<string, EmbeddingTable>();

function readEmbeddingTableOnce(folder: URL): EmbeddingTable {
  const table = otherTables.get(folder.href) ?? readEmbeddingTable(folder);
  otherTables.set(folder.href, table);
  return table;
}

const MAGIC = "KSEMBED1";

/** The shipped table: a row of 8-bit codes for each token, with one scale per row. */
interface EmbeddingTable {
  readonly dimensions: number;
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly scales: Float32Array;
  readonly codes: Int8Array;
}

/**
 * Reads the table, which `scripts/make-embedder.py` makes: magic, rows and dimensions (uint32), scales (float32), codes (int8), all
 * little-endian. Throws `corrupt` if its checksum differs from the shipped one, and `unavailable` if it cannot be read.
 */
function readEmbeddingTable(folder: URL): EmbeddingTable {
  const read = (name: string): Buffer => {
    try {
      return readFileSync(new URL(name, folder));
    } catch (cause) {
      throw new MemoryError(
        "unavailable",
        `${fileURLToPath(new URL(name, folder))} cannot be read. Install the package again.`,
        {
          cause,
        },
      );
    }
  };
  const manifest = JSON.parse(read("static-minilm.json").toString("utf8")) as {
    sha256: { readonly [file: string]: string };
  };
  const readChecked = (name: string): Buffer => {
    const bytes = read(name);
    if (createHash("sha256").update(bytes).digest("hex") === manifest.sha256[name]) return bytes;
    throw new MemoryError("corrupt", `${name} is damaged: its checksum is wrong. Install the package again.`);
  };
  const binary = readChecked("static-minilm.bin");
  if (binary.toString("latin1", 0, 8) !== MAGIC)
    throw new MemoryError("corrupt", "static-minilm.bin has another format. Install the package again.");
  const rows = binary.readUInt32LE(8);
  const dimensions = binary.readUInt32LE(12);
  // Copied, because a file's bytes may be unaligned for 32-bit floats. `Buffer.slice` would not copy.
  const from = binary.byteOffset + 16;
  const scales = new Float32Array(binary.buffer.slice(from, from + 4 * rows));
  const codes = new Int8Array(binary.buffer, binary.byteOffset + 16 + 4 * rows, rows * dimensions);
  const tokens = readChecked("static-minilm.vocab.txt").toString("utf8").trimEnd().split("\n");
  return { dimensions, scales, codes, vocabulary: new Map(tokens.map((token, row) => [token, row])) };
}

/** Longer words are hashes or encoded data, and have no meaning. */
const LONGEST_WORD = 100;
const WORD_PATTERN = /[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu;
const ASCII = /^\p{ASCII}*$/u;
const UNSPACED_SCRIPT = /\p{Script=Han}/u;

/**
 * The tokens of a text as row numbers. Words are lower-cased, stripped of accents, and cut greedily into the longest pieces of the
 * vocabulary (WordPiece, like BERT's uncased models). Words that cannot be cut are left out.
 */
export function toWordPieces(text: string, vocabulary: ReadonlyMap<string, number>): number[] {
  const lower = text.toLowerCase();
  const folded = ASCII.test(lower) ? lower : lower.normalize("NFD").replace(/\p{Mn}/gu, "");
  const rows: number[] = [];
  for (const word of folded.match(WORD_PATTERN) ?? []) {
    const wordRow = vocabulary.get(word);
    if (wordRow !== undefined) rows.push(wordRow);
    else if (UNSPACED_SCRIPT.test(word)) for (const letter of word) addRow(rows, vocabulary.get(letter));
    else if (word.length <= LONGEST_WORD) rows.push(...cutWord(word, vocabulary));
  }
  return rows;
}

/** A word piece: its row in the table, and where its word begins in the text. */
export interface WordPiece {
  readonly row: number;
  readonly start: number;
}

/** The pieces of a text with their places, by the vocabulary of the shipped table. */
export function splitIntoPieces(text: string): WordPiece[] {
  const { vocabulary } = getShippedTable();
  return Array.from(text.matchAll(WORD_PATTERN)).flatMap(({ 0: word, index }) =>
    toWordPieces(word, vocabulary).map((row) => ({ row, start: index })),
  );
}

/** The rows of the table. */
export function countPieces(): number {
  return getShippedTable().vocabulary.size;
}

function addRow(rows: number[], row: number | undefined): void {
  if (row !== undefined) rows.push(row);
}

function cutWord(word: string, vocabulary: ReadonlyMap<string, number>): number[] {
  const rows: number[] = [];
  let start = 0;
  while (start < word.length) {
    let end = word.length;
    let row: number | undefined;
    for (; end > start && row === undefined; end -= 1) {
      row = vocabulary.get(start > 0 ? `##${word.slice(start, end)}` : word.slice(start, end));
    }
    if (row === undefined) return [];
    rows.push(row);
    start = end + 1;
  }
  return rows;
}
