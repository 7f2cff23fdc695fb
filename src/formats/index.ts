import { statSync } from "node:fs";
import { invalid } from "../errors.ts";
import { isLocomoDataset, isLongMemEvalQuestion, readLocomo, readLongMemEval } from "./datasets.ts";
import type { ImportReader } from "./import-source.ts";
import { isObjectValue, readBeginning, readJsonFile, readLines } from "./import-source.ts";
import { readJsonl, readKeepsakeExport } from "./json-lines.ts";

export type { ImportedMessage, ImportReader } from "./import-source.ts";
export { readAddedMemories, readImportStream, type StreamedImportLine } from "./json-lines.ts";

/** By the names that `--format` takes. */
export const FORMATS: {
  readonly [name in "jsonl" | "locomo" | "longmemeval" | "keepsake"]: ImportReader;
} = {
  jsonl: readJsonl,
  locomo: readLocomo,
  longmemeval: readLongMemEval,
  keepsake: readKeepsakeExport,
};

export type ImportFormat = keyof typeof FORMATS;

/** The format of a file, told from its content. `invalid_input` where it is none that is known. */
export async function detectFormat(path: string): Promise<ImportFormat> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return "longmemeval";
  // A list may stand in one line, longer than a line may be.
  const beginning = await readBeginning(path);
  if (beginning === "") throw invalid("the file is empty.");
  const isList = beginning.startsWith("[");
  const format = isList ? detectListFormat(readJsonFile(path)) : await detectLinesFormat(path, beginning);
  if (format) return format;
  throw invalid("the file is in no format that is known. Name one with --format.");
}

function detectListFormat(value: unknown): ImportFormat | undefined {
  if (isLocomoDataset(value)) return "locomo";
  return Array.isArray(value) && value.length > 0 && value.every(isLongMemEvalQuestion)
    ? "longmemeval"
    : undefined;
}

async function detectLinesFormat(path: string, beginning: string): Promise<ImportFormat | undefined> {
  // What begins otherwise is no JSON object, and may be no text at all.
  if (!beginning.startsWith("{")) return undefined;
  for await (const { text } of readLines(path)) return detectLineFormat(text);
  return undefined;
}

function detectLineFormat(text: string): ImportFormat | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // JSON lines with a slip in the first one: read as such, so that the slip is named.
    if (cause instanceof SyntaxError) return "jsonl";
    throw cause;
  }
  if (!isObjectValue(value)) return undefined;
  if (value.type === "keepsake") return "keepsake";
  if (isLongMemEvalQuestion(value)) return "longmemeval";
  return "content" in value ? "jsonl" : undefined;
}
