import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import { invalid } from "../errors.ts";

const FILE_NAME = "keepsake.yaml";
const MOST_BYTES = 1_000_000;
const requireModule = createRequire(import.meta.url);

/** Gives the settings file in the working directory, if there is one. */
export function findSettingsFile(): string | undefined {
  return existsSync(FILE_NAME) ? FILE_NAME : undefined;
}

/**
 * Reads settings from a YAML file and gives them by their environment names. In the file they may be lowercase, without
 * `KEEPSAKE_`, and in groups: `openai: { model: gpt-4o-mini }` is `OPENAI_MODEL`. Throws `invalid_input` if the file cannot
 * be read or a name is unknown. The error shows the place but no value.
 */
export function readSettingsFile(path: string, names: readonly string[]): { [name: string]: string } {
  const settings: { [name: string]: string } = {};
  for (const [place, value] of listLeaves(path, parseYaml(path))) {
    const name = toSettingName(path, place, names);
    if (name in settings) throw invalid(`${path}: ${name} is set twice. Remove one.`);
    settings[name] = value;
  }
  return settings;
}

function parseYaml(path: string): unknown {
  const text = readContent(path);
  const { parseDocument } = requireModule("yaml") as typeof Yaml;
  // Without the parser's messages: they show the line, which may contain a key.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  const [error] = document.errors;
  if (error) {
    const line = text.slice(0, error.pos[0]).split("\n").length;
    throw invalid(`${path}, line ${line}: invalid YAML (${error.code}).`);
  }
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw invalid(`${path}: YAML aliases are not supported. Write the values out.`);
  }
}

function readContent(path: string): string {
  try {
    if (statSync(path).size <= MOST_BYTES) return readFileSync(path, "utf8");
  } catch {
    throw invalid(`${path}: the settings file cannot be read. Check that it exists and its permissions.`);
  }
  throw invalid(`${path}: a settings file may be at most 1 MB.`);
}

/** Gives each value with its path of names. */
function* listLeaves(
  path: string,
  value: unknown,
  place: readonly string[] = [],
): Generator<[string, string]> {
  if (value === null || value === undefined) return;
  if (typeof value === "object" && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) yield* listLeaves(path, inner, [...place, name]);
    return;
  }
  if (place.length === 0) throw invalid(`${path}: write settings as "name: value", one per line.`);
  if (Array.isArray(value)) yield [place.join("."), value.map(String).join(",")];
  else yield [place.join("."), typeof value === "boolean" ? (value ? "on" : "off") : String(value)];
}

function toSettingName(path: string, place: string, names: readonly string[]): string {
  const plain = place.replace(/[.-]/g, "_").toUpperCase();
  const found = [plain, `KEEPSAKE_${plain}`].find((name) => names.includes(name));
  if (found) return found;
  const [nearest] = names
    .map((name) => ({
      name,
      edits: Math.min(countEdits(plain, name), countEdits(`KEEPSAKE_${plain}`, name)),
    }))
    .filter(({ edits }) => edits <= 2)
    .sort((one, other) => one.edits - other.edits);
  const hint = nearest ? `Did you mean ${nearest.name}?` : "See docs/reference/settings.md for a list.";
  throw invalid(`${path}: ${place} is not a setting. ${hint}`);
}

/** Gives the number of letters to add, remove, change or swap with a neighbour to turn one text into the other. */
export function countEdits(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const added = getCell(row, j - 1) + 1;
      const taken = getCell(last, j) + 1;
      const changed = getCell(last, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(Math.min(added, taken, changed, isSwap ? getCell(beforeLast, j - 2) + 1 : changed));
    }
    beforeLast = last;
    last = row;
  }
  return getCell(last, other.length);
}

function getCell(row: readonly number[], place: number): number {
  return row[place] ?? Number.POSITIVE_INFINITY;
}
