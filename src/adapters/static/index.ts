import { isOfOtherLanguage } from "../../domain/language.ts";
import type { Embedder } from "../../ports/embedder.ts";
import { type EmbeddingTable, readEmbeddingTable } from "./table.ts";
import { toWordPieces } from "./word-piece.ts";

/** The same from `src/` and from `dist/`: both lie three levels above this file. */
const ASSETS = new URL("../../../assets/", import.meta.url);
const DIMENSIONS = 256;

/**
 * The built-in embedder: a static table distilled from all-MiniLM-L6-v2. A text's vector is the mean of its tokens'
 * rows, normalised; it takes about 0.01 ms and needs no network. The table is read at the first use, once in a process. A text that is not
 * English gets zeros, and is found by its words.
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
      // The teacher read English alone: what its pieces of words say of another language would only mislead.
      return texts.map((text) =>
        averageRows(isOfOtherLanguage(text) ? [] : toWordPieces(text, vocabulary), scales, codes),
      );
    },
  };
}

let cachedTable: EmbeddingTable | undefined;

/** However many memories a process opens: it never changes, takes 8 MB, and longer to read and check than a hundred recalls. */
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
