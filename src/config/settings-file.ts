import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import { countEdits } from "../domain/text/count-edits.ts";
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
  const leaves = [...listLeaves(path, parseYaml(path))];
  for (const [place, value] of withRedisAddress(leaves)) {
    const name = AGENT_PLACES[place] ?? toSettingName(path, place, names);
    if (name in settings) throw invalid(`${path}: ${name} is set twice. Remove one.`);
    settings[name] = value;
  }
  return settings;
}

/** Places in a file that describes an agent with its memory (`memory: { sqlite: …, chroma: …, redis: … }`). */
const AGENT_PLACES: { readonly [place: string]: string } = {
  "memory.sqlite.database": "KEEPSAKE_DB",
  "memory.sqlite.pragmas.journal_mode": "KEEPSAKE_SQLITE_JOURNAL_MODE",
  "memory.sqlite.pragmas.synchronous": "KEEPSAKE_SQLITE_SYNCHRONOUS",
  "memory.sqlite.pragmas.foreign_keys": "KEEPSAKE_SQLITE_FOREIGN_KEYS",
  "memory.sqlite.pragmas.cache_size": "KEEPSAKE_SQLITE_CACHE_SIZE",
  "memory.sqlite.pragmas.temp_store": "KEEPSAKE_SQLITE_TEMP_STORE",
  "memory.sqlite.pragmas.mmap_size": "KEEPSAKE_SQLITE_MMAP_SIZE",
  "memory.chroma.url": "CHROMA_URL",
  "memory.chroma.collection": "CHROMA_COLLECTION",
  "memory.chroma.persist_directory": "CHROMA_PERSIST_DIRECTORY",
  "memory.chroma.embedding_model": "EMBEDDING_MODEL",
  "memory.redis.url": "REDIS_URL",
  "memory.redis.password": "REDIS_PASSWORD",
  "memory.redis.ttl": "REDIS_CACHE_TTL",
};

/** Options of another Redis client, which have no setting because this client does the same by itself. */
const CLIENT_OPTIONS: ReadonlySet<string> = new Set(
  ["decode_responses", "socket_timeout", "retry_on_timeout", "health_check_interval"].map(
    (option) => `memory.redis.${option}`,
  ),
);

const REDIS_PARTS: readonly string[] = ["host", "port", "db"].map((part) => `memory.redis.${part}`);

/** Replaces the parts of a Redis server's address with the address. */
function withRedisAddress(leaves: readonly [string, string][]): readonly [string, string][] {
  const parts = new Map(leaves.filter(([place]) => REDIS_PARTS.includes(place)));
  if (parts.size === 0) return leaves;
  const [host = "localhost", port = "6379", db] = REDIS_PARTS.map((part) => parts.get(part));
  const name = host.includes(":") ? `[${host}]` : host;
  const address = `redis://${name}:${port}${db === undefined ? "" : `/${db}`}`;
  return [...leaves.filter(([place]) => !parts.has(place)), ["memory.redis.url", address]];
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
  if (typeof value !== "object" || Array.isArray(value)) {
    if (place.length === 0) throw invalid(`${path}: write settings as "name: value", one per line.`);
    yield [place.join("."), formatLeaf(value)];
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    if (isGroupSetting([...place, name], inner)) yield ["embedders", JSON.stringify(inner)];
    else yield* listLeaves(path, inner, [...place, name]);
  }
}

function formatLeaf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(",");
  return typeof value === "boolean" ? (value ? "on" : "off") : String(value);
}

/** Whether a group is the value of one setting: its names are the user's own. */
function isGroupSetting(place: readonly string[], value: unknown): boolean {
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  return isGroup && /^(?:keepsake_)?embedders$/i.test(place.join("_"));
}

function toSettingName(path: string, place: string, names: readonly string[]): string {
  if (CLIENT_OPTIONS.has(place)) {
    throw invalid(
      `${path}: ${place} is not a setting: the client has time limits, and connects again by itself. Remove it.`,
    );
  }
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
