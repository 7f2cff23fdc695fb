import { statSync } from "node:fs";
import { invalid } from "../errors.ts";
import { isLocomoDataset, isLongMemEvalQuestion, readLocomo, readLongMemEval } from "./datasets.ts";
import type { ImportReader } from "./import-source.ts";
import { isObjectValue, readBeginning, readJsonFile, readLines } from "./import-source.ts";
import { readJsonl, readKeepsakeExport } from "./json-lines.ts";

export { addMissingLinks, type ExportedLink } from "./exported-links.ts";
export type { ImportedMessage, ImportReader } from "./import-source.ts";
export {
  readAddedMemories,
  readExportedLinks,
  readImportStream,
  type StreamedImportLine,
} from "./json-lines.ts";

/** Readers by the names that `--format` accepts. */
export const FORMATS: {
  readonly [name in "jsonl" | "locomo" | "longmemeval" | "keepsake"]: ImportReader;
} = {
  jsonl: readJsonl,
  locomo: readLocomo,
  longmemeval: readLongMemEval,
  keepsake: readKeepsakeExport,
};

export type ImportFormat = keyof typeof FORMATS;

/** Detects a file's format from its content. Throws `invalid_input` if it is unknown. */
export async function detectFormat(path: string): Promise<ImportFormat> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return "longmemeval";
  // A JSON list may be one line that is longer than the maximum.
  const beginning = await readBeginning(path);
  if (beginning === "") throw invalid("the file is empty.");
  const isList = beginning.startsWith("[");
  const format = isList ? detectListFormat(readJsonFile(path)) : await detectLinesFormat(path, beginning);
  if (format) return format;
  throw invalid("unrecognised format. Name one with --format: jsonl, locomo, longmemeval or keepsake.");
}

function detectListFormat(value: unknown): ImportFormat | undefined {
  if (isLocomoDataset(value)) return "locomo";
  return Array.isArray(value) && value.length > 0 && value.every(isLongMemEvalQuestion)
    ? "longmemeval"
    : undefined;
}

async function detectLinesFormat(path: string, beginning: string): Promise<ImportFormat | undefined> {
  // Any other beginning is not a JSON object, and perhaps not text.
  if (!beginning.startsWith("{")) return undefined;
  for await (const { text } of readLines(path)) return detectLineFormat(text);
  return undefined;
}

function detectLineFormat(text: string): ImportFormat | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // JSON lines with an error in the first line: reading them as such reports the error.
    if (cause instanceof SyntaxError) return "jsonl";
    throw cause;
  }
  if (!isObjectValue(value)) return undefined;
  if (value.type === "keepsake") return "keepsake";
  if (isLongMemEvalQuestion(value)) return "longmemeval";
  return "content" in value ? "jsonl" : undefined;
}
