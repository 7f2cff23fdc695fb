import { createReadStream, type ReadStream, readFileSync, statSync } from "node:fs";
import { createGunzip, type Gunzip, gunzipSync } from "node:zlib";
import type { InputMessage } from "../engine/api.ts";
import { invalid, MemoryError } from "../errors.ts";

const LINE_FEED = 10;
/** A line is held whole; what has none for so long is no text. */
const MOST_LINE_BYTES = 64 * 1024 * 1024;
/** What comes in from outside is held by a server that serves others as well; a message may have 1,000,000 bytes. */
const MOST_STREAMED_BYTES = 4 * 1024 * 1024;

/** The path of a file; or what comes in, piece by piece. */
export type ImportSource = string | AsyncIterable<Uint8Array>;

export interface NumberedLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * The lines of a source, without empty ones; a file that ends with `.gz` is unpacked. One is held at a time. `invalid_input` for what is no
 * UTF-8, by its number; `unavailable` where the file cannot be read.
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
      throw new MemoryError("invalid_input", `line ${number} is no UTF-8.`, { cause });
    }
    if (text.trim() !== "") yield { number, text };
  }
}

/** Split as bytes: a chunk of the file may end inside a character. */
async function* splitLines(source: ImportSource): AsyncIterable<Buffer> {
  const most = typeof source === "string" ? MOST_LINE_BYTES : MOST_STREAMED_BYTES;
  let begun: Buffer[] = [];
  let size = 0;
  for await (const piece of typeof source === "string" ? readChunks(source) : source) {
    const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]);
      begun = [];
      size = 0;
      from = end + 1;
    }
    begun.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > most) throw invalid(`a line is longer than ${most / 1024 / 1024} MB: are these lines?`);
  }
  if (size > 0) yield Buffer.concat(begun);
}

/** The first words of a file, without the white space before them. */
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
  const unpacking = createGunzip();
  // A pipe passes no errors on.
  file.on("error", (error) => unpacking.destroy(error));
  return file.pipe(unpacking);
}

/** What went wrong with a file while it was read, as an error of ours. */
function toReadError(cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code.startsWith("Z_")) {
    return new MemoryError("invalid_input", "the file is no gzip, or is cut off.", { cause });
  }
  if (code === "ENOENT") return new MemoryError("unavailable", "the file is not there.", { cause });
  if (code === "EISDIR") {
    return new MemoryError("invalid_input", "this is a folder: name a file in it.", { cause });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new MemoryError("unavailable", "the file may not be read. Check its owner and mode.", { cause });
  }
  return cause;
}

/** A line that must be one JSON object. `invalid_input` names it by its number. */
export function parseObject({ number, text }: NumberedLine): { readonly [field: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MemoryError("invalid_input", `line ${number} is no JSON.`, { cause });
  }
  if (isObjectValue(value)) return value;
  throw invalid(`line ${number} is no JSON object.`);
}

export function isObjectValue(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One JSON value cannot be read piece by piece, and must fit into one string. */
const MOST_BYTES = 500_000_000;

/** A whole file as one JSON value; `.gz` is unpacked. `invalid_input` where it is none, or larger than 500 MB. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(readBytes(path)));
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw new MemoryError("invalid_input", "the file is no JSON.", { cause });
    if (cause instanceof TypeError)
      throw new MemoryError("invalid_input", "the file is no UTF-8.", { cause });
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
  return invalid("the file is larger than 500 MB: turn it into JSON lines first.");
}

/** The fields of a message as a file has them, checked later, without those that are not there. */
export function toInputMessage(fields: { readonly [name in keyof InputMessage]?: unknown }): InputMessage {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as unknown as InputMessage;
}

/** A message of a file, and where it stands there, for people: "line 12", "conv-26:D1:3". */
export interface ImportedMessage {
  readonly place: string;
  readonly message: InputMessage;
}

/** Gives the messages of a file in their order, with ids that are the same each time. */
export type ImportReader = (path: string) => AsyncIterable<ImportedMessage>;
