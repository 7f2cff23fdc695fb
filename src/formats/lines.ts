import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { MemoryError } from "../errors.ts";

/** The lines of a file with their numbers from 1, without empty ones; `.gz` is unpacked. One is held at a time. */
export async function* linesOf(path: string): AsyncIterable<{ number: number; text: string }> {
  const file = createReadStream(path);
  const input = path.endsWith(".gz") ? file.pipe(createGunzip()) : file;
  file.on("error", (error) => input.destroy(error));
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let number = 0;
  // Read as bytes that stand for themselves, so that what is no UTF-8 is found and not silently replaced.
  input.setEncoding("latin1");
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === "") continue;
    try {
      yield { number, text: decoder.decode(Buffer.from(line, "latin1")) };
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new MemoryError("invalid_input", `line ${number} is no UTF-8.`, { cause });
    }
  }
}

/** A line that must be one JSON object. `invalid_input` names it by its number. */
export function objectOf(text: string, number: number): { readonly [field: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MemoryError("invalid_input", `line ${number} is no JSON.`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as { [field: string]: unknown };
  throw new MemoryError("invalid_input", `line ${number} is no JSON object.`);
}
