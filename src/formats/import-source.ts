import { createReadStream, type ReadStream, readFileSync, statSync } from "node:fs";
import { createGunzip, type Gunzip, gunzipSync } from "node:zlib";
import type { InputMessage } from "../engine/api.ts";
import { invalid, MemoryError } from "../errors.ts";

const LINE_FEED = 10;
/** Maximum length of a line in a file, which is held in memory. A longer one is not text. */
const MOST_LINE_BYTES = 64 * 1024 * 1024;
/** Maximum length of a line in a stream: a server holds it in memory. A message may have 1,000,000 bytes. */
const MOST_STREAMED_BYTES = 4 * 1024 * 1024;

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
  let pending: Buffer[] = [];
  let size = 0;
  for await (const piece of typeof source === "string" ? readChunks(source) : source) {
    const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...pending, chunk.subarray(from, end)]);
      pending = [];
      size = 0;
      from = end + 1;
    }
    pending.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > most)
      throw invalid(`a line is longer than ${most / 1024 / 1024} MB: is this a file of lines?`);
  }
  if (size > 0) yield Buffer.concat(pending);
}

/** Gives the beginning of a file, without leading white space. */
export async function readBeginning(path: string): Promise<string> {
  for await (const chunk of readChunks(path)) {
    const text = chunk.toString("utf8").trimStart();
    if (text !== "") return text;
  }
  return "";
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

/** Maximum size of one JSON value, which must fit into one string. */
const MOST_BYTES = 500_000_000;

/** Reads a file as one JSON value; decompresses `.gz`. Throws `invalid_input` if it is not JSON, or larger than 500 MB. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(readBytes(path)));
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw new MemoryError("invalid_input", "the file is not valid JSON.", { cause });
    if (cause instanceof TypeError)
      throw new MemoryError("invalid_input", "the file is not UTF-8.", { cause });
    throw cause;
  }
}

function readBytes(path: string): Buffer {
  try {
    if (statSync(path).size > MOST_BYTES) throw createTooLargeError();
    const bytes = readFileSync(path);
    return path.endsWith(".gz") ? gunzipSync(bytes, { maxOutputLength: MOST_BYTES }) : bytes;
  } catch (error) {
    const isLong =
      error instanceof RangeError || (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
    throw isLong ? createTooLargeError() : toReadError(error);
  }
}

function createTooLargeError(): MemoryError {
  return invalid("the file is larger than 500 MB: convert it to JSON lines first.");
}

/** Gives a message with the defined fields. Storing checks them later. */
export function toInputMessage(fields: { readonly [name in keyof InputMessage]?: unknown }): InputMessage {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as unknown as InputMessage;
}

/** A message from a file, with its place for error messages: "line 12", "conv-26:D1:3". */
export interface ImportedMessage {
  readonly place: string;
  readonly message: InputMessage;
}

/** Reads the messages of a file in order, with the same ids each time. */
export type ImportReader = (path: string) => AsyncIterable<ImportedMessage>;
