import { statSync } from "node:fs";
import type { InputMessage } from "../engine/surface.ts";
import { MemoryError } from "../errors.ts";
import { jsonFile } from "./json-file.ts";
import { readJsonl } from "./jsonl.ts";
import { readKeepsake } from "./keepsake.ts";
import { linesOf, objectOf } from "./lines.ts";
import { isLocomo, readLocomo } from "./locomo.ts";
import { isLongMemEval, readLongMemEval } from "./longmemeval.ts";

export { readAddedMemories } from "./keepsake.ts";

/** A reader gives the messages of a file in their order, with ids that are the same each time. */
export const FORMATS: { readonly [name: string]: (path: string) => AsyncIterable<InputMessage> } = {
  jsonl: readJsonl,
  locomo: readLocomo,
  longmemeval: readLongMemEval,
  keepsake: readKeepsake,
};

/** The name of a file's format, told from its content. `invalid_input` where it is none of the known ones. */
export async function formatOf(path: string): Promise<string> {
  if (!statSync(path, { throwIfNoEntry: false })) {
    throw new MemoryError("not_found", `${path} is not there.`);
  }
  if (statSync(path).isDirectory() || /questions\.jsonl(?:\.gz)?$/.test(path)) return "longmemeval";
  if (path.endsWith(".json")) {
    const value = jsonFile(path);
    if (isLocomo(value)) return "locomo";
    if (isLongMemEval(value)) return "longmemeval";
    throw new MemoryError("invalid_input", `${path} is in no known format. Name one with --format.`);
  }
  for await (const { number, text } of linesOf(path)) {
    return objectOf(text, number).type === "keepsake" ? "keepsake" : "jsonl";
  }
  throw new MemoryError("invalid_input", `${path} is empty.`);
}
