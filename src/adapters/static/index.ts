import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MemoryError } from "../../errors.ts";
import { isOfOtherLanguage } from "../../language/en/detect-language.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import { toWordPieces } from "./word-pieces.ts";

/** The same path from `src/` and from `dist/`: both are three levels above this file. */
const ASSETS = new URL("../../../assets/", import.meta.url);
const DIMENSIONS = 256;

/**
 * The built-in embedder: a static table distilled from all-MiniLM-L6-v2. The vector of a text is the normalised mean of its tokens'
 * rows. It takes about 0.01 ms and needs no network. The table is read at the first use, once per process. A text in another
 * language than English gets zeros, and is found by its words only.
 */
export function staticEmbedder(options: { folder?: URL } = {}): Embedder {
  let table: EmbeddingTable | undefined;
  return {
    fingerprint: `static-minilm-1-en/${DIMENSIONS}`,
    dimensions: DIMENSIONS,
    local: true,
    floor: 0.35,
    async embed(texts, call) {
      call?.signal?.throwIfAborted();
      table ??= options.folder ? readEmbeddingTable(options.folder) : getShippedTable();
      const { vocabulary, scales, codes } = table;
      // The original model read English only, so its word pieces of another language would mislead.
      return texts.map((text) =>
        averageRows(isOfOtherLanguage(text) ? [] : toWordPieces(text, vocabulary), scales, codes),
      );
    },
  };
}

let cachedTable: EmbeddingTable | undefined;

/** Shared by all stores of a process: it never changes, takes 8 MB, and takes longer to read and check than a hundred recalls. */
function getShippedTable(): EmbeddingTable {
  cachedTable ??= readEmbeddingTable(ASSETS);
  return cachedTable;
}

function averageRows(rows: readonly number[], scales: Float32Array, codes: Int8Array): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const row of rows) {
    const scale = scales[row] ?? 0;
    const offset = row * DIMENSIONS;
    for (let i = 0; i < DIMENSIONS; i += 1) vector[i] = (vector[i] ?? 0) + scale * (codes[offset + i] ?? 0);
  }
  let squares = 0;
  for (const part of vector) squares += part * part;
  if (squares === 0) return vector;
  const length = Math.sqrt(squares);
  for (let i = 0; i < DIMENSIONS; i += 1) vector[i] = (vector[i] ?? 0) / length;
  return vector;
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
