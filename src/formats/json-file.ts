import { readFileSync, statSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { invalid, MemoryError } from "../errors.ts";
import { toReadError } from "./lines.ts";

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
