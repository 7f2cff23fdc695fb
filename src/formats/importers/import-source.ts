import { createReadStream, type ReadStream } from "node:fs";
import { createGunzip, type Gunzip } from "node:zlib";
import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import type { InputMessage } from "../../engine/api/writing-types.ts";
import { invalid, MemoryError } from "../../errors.ts";

const LINE_FEED = 10;
/** Maximum length of a line in a file, which is held in memory. A longer one is not text. */
const MOST_LINE_BYTES = 64 * 1024 * 1024;
/** Maximum length of a line in a stream: a server holds it in memory. A message may have an image of 8 MiB, in base64. */
const MOST_STREAMED_BYTES = 16 * 1024 * 1024;

/** The path of a file, or a stream of bytes. */
export type ImportSource = string | AsyncIterable<Uint8Array>;

export interface NumberedLine {
  /** Counts from 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * Gives the non-empty lines of a source, one at a time. Decompresses a file that ends in `.gz`. Throws `invalid_input` with
 * the number of a line that is not UTF-8, and `unavailable` if the file cannot be read.
 */
export async function* readLines(source: ImportSource): AsyncIterable<NumberedLine> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let number = 0;
  for await (const bytes of splitLines(source)) {
    number += 1;
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch (cause) {
      throw new MemoryError("invalid_input", `line ${number} is not UTF-8.`, { cause });
    }
    if (text.trim() !== "") yield { number, text };
  }
}

/** Splits bytes, not text: a chunk may end inside a character. */
async function* splitLines(source: ImportSource): AsyncIterable<Buffer> {
  const most = typeof source === "string" ? MOST_LINE_BYTES : MOST_STREAMED_BYTES;
  const line = createByteCollector(most);
  const takeLine = (): Buffer => {
    const bytes = line.take();
    if (bytes) return bytes;
    throw invalid(`a line is longer than ${most / 1024 / 1024} MB: is this a file of lines?`);
  };
  for await (const chunk of readBytes(source)) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      line.add(chunk.subarray(from, end));
      yield takeLine();
      from = end + 1;
    }
    if (!line.add(chunk.subarray(from))) takeLine();
  }
  const last = takeLine();
  if (last.length > 0) yield last;
}

/** Bytes that arrive in pieces of any size. */
interface ByteCollector {
  /** Adds a piece. False once there are too many bytes; then none of them is kept. */
  add(piece: Buffer): boolean;
  /** Gives the bytes, or undefined if there were too many, and begins anew. */
  take(): Buffer | undefined;
}

/** Creates a collector of at most `most` bytes. Each byte is copied a few times at most, however small the pieces are. */
export function createByteCollector(most: number): ByteCollector {
  let bytes: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    add(piece) {
      const before = size;
      size += piece.length;
      if (size > most) bytes = Buffer.alloc(0);
      else if (before === 0) bytes = piece;
      else {
        if (size > bytes.length) {
          const larger = Buffer.allocUnsafe(Math.max(size, 2 * before));
          bytes.copy(larger, 0, 0, before);
          bytes = larger;
        }
        piece.copy(bytes, before);
      }
      return size <= most;
    },
    take() {
      const taken = size > most ? undefined : bytes.subarray(0, size);
      bytes = Buffer.alloc(0);
      size = 0;
      return taken;
    },
  };
}

/** Gives the bytes of a source, without a byte order mark. Decompresses a file that ends in `.gz`. */
export async function* readBytes(source: ImportSource): AsyncGenerator<Buffer, void, void> {
  let isFirst = true;
  for await (const piece of typeof source === "string" ? readChunks(source) : source) {
    const chunk = Buffer.isBuffer(piece)
      ? piece
      : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (chunk.length === 0) continue;
    const hasMark = isFirst && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK);
    isFirst = false;
    yield hasMark ? chunk.subarray(3) : chunk;
  }
}

export const BYTE_ORDER_MARK: Buffer = Buffer.from([0xef, 0xbb, 0xbf]);

/** Gives all bytes of a source, at most `most`. */
export async function readAll(source: ImportSource, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const bytes of readBytes(source)) {
    size += bytes.length;
    if (size > most) throw invalid(`the file is larger than ${most / 1024 / 1024} MB.`);
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}

async function* readChunks(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path);
  const input = path.endsWith(".gz") ? gunzip(file) : file;
  try {
    yield* input as AsyncIterable<Buffer>;
  } catch (error) {
    throw toReadError(error);
  } finally {
    file.destroy();
  }
}

function gunzip(file: ReadStream): Gunzip {
  const decompressor = createGunzip();
  // A pipe does not forward errors.
  file.on("error", (error) => decompressor.destroy(error));
  return file.pipe(decompressor);
}

/** Turns an error from reading a file into a `MemoryError`. */
function toReadError(cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code.startsWith("Z_")) {
    return new MemoryError("invalid_input", "the file is not gzip, or is truncated.", { cause });
  }
  if (code === "ENOENT") return new MemoryError("unavailable", "the file does not exist.", { cause });
  if (code === "EISDIR") {
    return new MemoryError("invalid_input", "this is a folder: name a file in it.", { cause });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new MemoryError(
      "unavailable",
      "permission to read the file is denied. Check its owner and mode.",
      { cause },
    );
  }
  if (code === "EIO") {
    const problem = "reading the file failed (EIO). Check the disk and try again.";
    return new MemoryError("unavailable", problem, { cause });
  }
  return cause;
}

/** Parses a line as one JSON object. Throws `invalid_input` with the line's number. */
export function parseObject({ number, text }: NumberedLine): { readonly [field: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MemoryError("invalid_input", `line ${number} is not valid JSON.`, { cause });
  }
  if (isObjectValue(value)) return value;
  throw invalid(`line ${number} is not a JSON object.`);
}

export function isObjectValue(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Gives a message with the defined fields. Storing checks them later. */
export function toInputMessage(fields: { readonly [name in keyof InputMessage]?: unknown }): InputMessage {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as unknown as InputMessage;
}

/** Reads the entries of a file in order, with the same ids each time. */
export type ImportReader = (source: ImportSource) => AsyncIterable<ImportEntry>;
