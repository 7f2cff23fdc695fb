import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MemoryError } from "../../errors.ts";

const MAGIC = "KSEMBED1";

/** The shipped table: a row of 8-bit codes for each token, with one scale a row. */
export interface EmbeddingTable {
  readonly dimensions: number;
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly scales: Float32Array;
  readonly codes: Int8Array;
}

/**
 * Reads the table, made by `scripts/make-embedder.py`: magic, rows and dimensions (uint32), scales (float32), codes
 * (int8), all little-endian. `corrupt` where its checksum is not the one shipped with it, `unavailable` where it
 * cannot be read.
 */
export function readEmbeddingTable(folder: URL): EmbeddingTable {
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
  const about = JSON.parse(read("static-minilm.json").toString("utf8")) as {
    sha256: { readonly [file: string]: string };
  };
  const checked = (name: string): Buffer => {
    const bytes = read(name);
    if (createHash("sha256").update(bytes).digest("hex") === about.sha256[name]) return bytes;
    throw new MemoryError("corrupt", `${name} is damaged: its checksum is wrong. Install the package again.`);
  };
  const binary = checked("static-minilm.bin");
  if (binary.toString("latin1", 0, 8) !== MAGIC)
    throw new MemoryError("corrupt", "static-minilm.bin is of another format.");
  const rows = binary.readUInt32LE(8);
  const dimensions = binary.readUInt32LE(12);
  // Copied, because a file's bytes need not start where a 32-bit float may. `Buffer.slice` would copy nothing.
  const from = binary.byteOffset + 16;
  const scales = new Float32Array(binary.buffer.slice(from, from + 4 * rows));
  const codes = new Int8Array(binary.buffer, binary.byteOffset + 16 + 4 * rows, rows * dimensions);
  const tokens = checked("static-minilm.vocab.txt").toString("utf8").trimEnd().split("\n");
  return { dimensions, scales, codes, vocabulary: new Map(tokens.map((token, row) => [token, row])) };
}
