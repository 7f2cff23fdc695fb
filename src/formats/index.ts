import { statSync } from "node:fs";
import { invalid } from "../errors.ts";
import type { Reader } from "./entry.ts";
import { jsonFile } from "./json-file.ts";
import { readJsonl } from "./jsonl.ts";
import { readKeepsake } from "./keepsake.ts";
import { beginningOf, isObject, linesOf } from "./lines.ts";
import { isLocomo, readLocomo } from "./locomo.ts";
import { isQuestion, readLongMemEval } from "./longmemeval.ts";

export type { Entry, Reader } from "./entry.ts";
export { readAddedMemories } from "./keepsake.ts";
export { readStreamed, type StreamedEntry } from "./streamed.ts";

/** By the names that `--format` takes. */
export const FORMATS: {
  readonly [name in "jsonl" | "locomo" | "longmemeval" | "keepsake"]: Reader;
} = {
  jsonl: readJsonl,
  locomo: readLocomo,
  longmemeval: readLongMemEval,
  keepsake: readKeepsake,
};

export type Format = keyof typeof FORMATS;

/** The format of a file, told from its content. `invalid_input` where it is none that is known. */
export async function formatOf(path: string): Promise<Format> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return "longmemeval";
  // A list may stand in one line, longer than a line may be.
  const beginning = await beginningOf(path);
  if (beginning === "") throw invalid("the file is empty.");
  const isList = beginning.startsWith("[");
  const format = isList ? formatOfList(jsonFile(path)) : await formatOfLines(path, beginning);
  if (format) return format;
  throw invalid("the file is in no format that is known. Name one with --format.");
}

function formatOfList(value: unknown): Format | undefined {
  if (isLocomo(value)) return "locomo";
  return Array.isArray(value) && value.length > 0 && value.every(isQuestion) ? "longmemeval" : undefined;
}

async function formatOfLines(path: string, beginning: string): Promise<Format | undefined> {
  // What begins otherwise is no JSON object, and may be no text at all.
  if (!beginning.startsWith("{")) return undefined;
  for await (const { text } of linesOf(path)) return formatOfLine(text);
  return undefined;
}

function formatOfLine(text: string): Format | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // JSON lines with a slip in the first one: read as such, so that the slip is named.
    if (cause instanceof SyntaxError) return "jsonl";
    throw cause;
  }
  if (!isObject(value)) return undefined;
  if (value.type === "keepsake") return "keepsake";
  if (isQuestion(value)) return "longmemeval";
  return "content" in value ? "jsonl" : undefined;
}
