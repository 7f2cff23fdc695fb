import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configSchema } from "librechat-data-provider";
import { parse } from "yaml";
import type { FrameworkCheck } from "./framework-check.ts";

const FILE = "examples/librechat/librechat.yaml";

/** The paths of all values that a document has. */
function listPaths(value: unknown, path = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [`${path}: ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([name, inner]) => listPaths(inner, `${path}/${name}`));
}

/** LibreChat itself leaves out what it does not know, and says nothing of it. */
function checkFile(): readonly string[] {
  const document: unknown = parse(readFileSync(join(import.meta.dirname, "../..", FILE), "utf8"));
  const { success, data, error } = configSchema.strict().safeParse(document);
  if (!success) return error.issues.map(({ path, message }) => `${path.join("/")}: ${message}`);
  const known = new Set(listPaths(data));
  return listPaths(document)
    .filter((one) => !known.has(one))
    .map((one) => `LibreChat does not know ${one}`);
}

/** The example for LibreChat, as far as LibreChat's own schema can tell: the program does not run here. */
export const libreChatChecks: readonly FrameworkCheck[] = [
  { name: `LibreChat: ${FILE} fits its schema`, run: async () => checkFile() },
];
