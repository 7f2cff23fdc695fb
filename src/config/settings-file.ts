import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import { invalid } from "../errors.ts";

const FILE_NAME = "keepsake.yaml";
const MOST_BYTES = 1_000_000;
const requireModule = createRequire(import.meta.url);

/** The settings file of the working folder, where there is one. */
export function findSettingsFile(): string | undefined {
  return existsSync(FILE_NAME) ? FILE_NAME : undefined;
}

/**
 * The settings of a YAML file, by the names that they have in the environment. There they may be written small, without
 * `KEEPSAKE_`, and in groups: `openai: { model: gpt-4o-mini }` is `OPENAI_MODEL`. `invalid_input` for a file that cannot be
 * read and for a name that is none, with its place; no value is shown.
 */
export function readSettingsFile(path: string, names: readonly string[]): { [name: string]: string } {
  const settings: { [name: string]: string } = {};
  for (const [place, value] of listLeaves(path, parseYaml(path))) {
    const name = toSettingName(path, place, names);
    if (name in settings) throw invalid(`${path}: ${name} is set twice. Take one away.`);
    settings[name] = value;
  }
  return settings;
}

function parseYaml(path: string): unknown {
  const text = readContent(path);
  const { parseDocument } = requireModule("yaml") as typeof Yaml;
  // Without the parser's own words, which show the line: it may hold a key.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  const [error] = document.errors;
  if (error) {
    const line = text.slice(0, error.pos[0]).split("\n").length;
    throw invalid(`${path}, line ${line}: it is no YAML (${error.code}).`);
  }
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw invalid(`${path}: it is no YAML that is read here: write values out, without aliases.`);
  }
}

function readContent(path: string): string {
  try {
    if (statSync(path).size <= MOST_BYTES) return readFileSync(path, "utf8");
  } catch {
    throw invalid(`${path}: the settings file cannot be read. Is it there, and yours to read?`);
  }
  throw invalid(`${path}: a settings file is at most 1 MB.`);
}

/** Every value with the names that lead to it. */
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
  if (place.length === 0) throw invalid(`${path}: give settings as "name: value", one a line.`);
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
  const hint = nearest ? `Did you mean ${nearest.name}?` : "docs/reference/settings.md has them all.";
  throw invalid(`${path}: ${place} is no setting. ${hint}`);
}

/** How many letters must be added, taken, changed, or swapped with their neighbour, to make one text the other. */
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
