import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import type { SettingInForce, SettingOrigin } from "../domain/operations/setting-in-force.ts";
import { invalid, MemoryError } from "../errors.ts";
import { checkServiceLink, checkSpelling, toSetting } from "./setting-names.ts";
import { findSettingsFile, readSettingsFile } from "./settings-file.ts";

/** Environment variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** The values of all sources by setting, and messages about the sources for the operator. */
interface SettingEntries {
  readonly values: Map<string, string>;
  /** Where each of the values comes from. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  /** All variables of the environment and the `.env` file, which some settings name. */
  readonly variables: Environment;
  readonly notices: readonly string[];
  /** Which settings the `.env` file gave, for people. */
  readonly envFile?: string;
  /** Whether the settings file, and nothing else, names the database file, in a folder. */
  readonly hasDatabaseFromFile: boolean;
}

/**
 * Reads the settings of the environment, then of the `.env` file, then of the settings file; the first one wins. `names`
 * are all settings. Throws `invalid_input` for a misspelt name, and for a name that means something else here.
 */
export function readSettingEntries(environment: Environment, names: readonly string[]): SettingEntries {
  const envFile = findEnvFile(environment);
  const fromEnv = envFile === undefined ? undefined : readEnvironmentFile(envFile);
  const variables = { ...fromEnv?.variables, ...dropEmpty(environment) };
  // Only the real environment uses the settings file of the working directory.
  const path = variables.KEEPSAKE_CONFIG ?? (environment === process.env ? findSettingsFile() : undefined);
  const file = path === undefined ? {} : readSettingsFile(path, names);
  const values = new Map<string, string>();
  const origins = new Map<string, SettingOrigin>();
  const sources = { environment, env_file: fromEnv?.variables ?? {}, settings_file: file } as const;
  for (const [origin, source] of Object.entries(sources)) {
    addMissing(values, source, names);
    for (const name of values.keys())
      if (!origins.has(name)) origins.set(name, origin as keyof typeof sources);
  }
  return {
    values,
    origins,
    variables,
    ...(fromEnv === undefined ? { notices: [] } : describeEnvFile(fromEnv, names)),
    hasDatabaseFromFile:
      /[/\\]/.test(file.KEEPSAKE_DB ?? "") && values.get("KEEPSAKE_DB") === file.KEEPSAKE_DB,
  };
}

/** Names of values that are never shown, whatever their definition says. */
const SECRET_NAME = /(?:KEY|SECRET|PASSWORD|TOKEN)(?:_|$)/;
/** An address with a user, and so perhaps with a password. */
const ADDRESS_WITH_USER = /:\/\/[^/\s]*@/;
/** A query with a key, a password or a signature, as in `?api-key=`. */
const QUERY_WITH_SECRET = /[?&][^=&]*(?:key|token|secret|passw|sig)[^=&]*=/i;

/** Of each setting: whether its value is never shown, or a pattern for values that are not shown. */
type SecretMarks = { readonly [name: string]: { readonly isSecret?: boolean | RegExp } };

/**
 * Lists all settings by name: the values in force and where they come from, and the names of those that have their default.
 * Secrets, and addresses that may hold one, are named without their value. `options` are those of the command line by the names
 * of their settings.
 */
export function listSettingsInForce(
  definitions: SecretMarks,
  options: Environment = {},
  environment: Environment = process.env,
): SettingInForce[] {
  const { values, origins } = readSettingEntries(environment, Object.keys(definitions));
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value = ""] of given) values.set(name, value);
  const named = new Set(given.map(([name]) => name));
  // The file of the command line replaces an address of a database, too.
  if (named.has("KEEPSAKE_DB")) values.delete("MEMORY_DB_URL");
  return Object.entries(definitions)
    .map(([name, { isSecret = false }]): SettingInForce => {
      const value = values.get(name);
      if (value === undefined) return { name, from: "default" };
      const from = named.has(name) ? "command_line" : (origins.get(name) ?? "default");
      const isHidden = isSecret instanceof RegExp ? isSecret.test(value) : isSecret;
      const isAddressWithSecret = ADDRESS_WITH_USER.test(value) || QUERY_WITH_SECRET.test(value);
      const mayHide = isHidden || SECRET_NAME.test(name) || isAddressWithSecret;
      return mayHide ? { name, from, hidden: true } : { name, from, value };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Adds the settings of a source that no earlier source has. */
function addMissing(values: Map<string, string>, source: Environment, names: readonly string[]): void {
  const earlier = new Set(values.keys());
  // A file named by one source does not replace an address named by an earlier one.
  if (earlier.has("MEMORY_DB_URL")) earlier.add("KEEPSAKE_DB");
  for (const [given, value] of Object.entries(dropEmpty(source))) {
    checkServiceLink(given, value);
    const name = toSetting(given);
    if (!names.includes(name)) checkSpelling(given, names);
    // A setting's own name wins over the same setting under another name.
    else if (!earlier.has(name) && (given === name || source[name] === undefined || source[name] === ""))
      values.set(name, value);
  }
}

/** Gives the `.env` file to read: beside the settings file, or the one that KEEPSAKE_ENV_FILE names. */
function findEnvFile(environment: Environment): string | undefined {
  const named = environment.KEEPSAKE_ENV_FILE;
  if (named === "off") return undefined;
  if (named !== undefined && named !== "") return named;
  const { KEEPSAKE_CONFIG: config } = environment;
  if (config === undefined && environment !== process.env) return undefined;
  return findEnvironmentFile(config === "" ? undefined : config);
}

function describeEnvFile(
  { path, variables, isReadableByOthers }: ReturnType<typeof readEnvironmentFile>,
  names: readonly string[],
): Pick<SettingEntries, "notices" | "envFile"> {
  const found = Object.keys(variables)
    .filter((name) => names.includes(toSetting(name)))
    .sort();
  if (found.length === 0) return { notices: [] };
  const warning = `Other users of this machine can read ${path}. Run chmod 600 ${path}.`;
  return {
    envFile: `${path} was read for ${found.join(", ")}. KEEPSAKE_ENV_FILE=off ignores it.`,
    notices: isReadableByOthers ? [warning] : [],
  };
}

function dropEmpty(environment: Environment): { [name: string]: string } {
  const filled: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && value !== "") filled[name] = value;
  return filled;
}

/**
 * Puts POSTGRES_PASSWORD into an address of PostgreSQL without a password. Gives messages about passwords that are set
 * and not used.
 */
export function applyPasswords(values: Map<string, string>): string[] {
  const notices: string[] = [];
  const password = values.get("POSTGRES_PASSWORD");
  const address = values.get("MEMORY_DB_URL") ?? "";
  if (password !== undefined && !values.has("KEEPSAKE_DB") && /^postgres/.test(address))
    values.set("MEMORY_DB_URL", addPassword(address, password));
  else if (password !== undefined)
    notices.push(
      "POSTGRES_PASSWORD is set, but memories are not stored in PostgreSQL. MEMORY_DB_URL names a database.",
    );
  if (values.has("REDIS_PASSWORD") && !values.has("REDIS_URL"))
    notices.push("REDIS_PASSWORD is set, but Redis is not used. REDIS_URL names it.");
  return notices;
}

function addPassword(address: string, password: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password !== "" || url.searchParams.has("password")) return address;
  if (url.hostname === "") return address;
  if (url.username === "") url.username = "postgres";
  url.password = encodeURIComponent(password);
  return url.href;
}

/** The clouds in the names of Pinecone's earlier environments. */
const ENVIRONMENT_PATTERN = /^([a-z][a-z0-9-]*?)-(aws|gcp|azure)$/;

/** Gives the cloud and the region of a Pinecone environment such as "us-east1-gcp". Throws `invalid_input` for others. */
export function parsePineconeEnvironment(environment: string): { cloud: string; region: string } {
  const [, region, cloud] = ENVIRONMENT_PATTERN.exec(environment) ?? [];
  if (region !== undefined && cloud !== undefined) return { cloud, region };
  throw new MemoryError(
    "invalid_input",
    "PINECONE_ENVIRONMENT is not a region with its cloud, such as us-east1-gcp. Set PINECONE_CLOUD and PINECONE_REGION.",
  );
}

const FILE_NAME = ".env";
const MOST_BYTES = 1_000_000;

/** Variables of a `.env` file. */
interface EnvironmentFile {
  readonly path: string;
  readonly variables: { readonly [name: string]: string };
  /** Whether other users of this machine may read it. */
  readonly isReadableByOthers: boolean;
}

/** Gives the `.env` file in the folder of the settings file; without one, in the working directory. */
function findEnvironmentFile(settingsFile: string | undefined): string | undefined {
  const path = settingsFile === undefined ? FILE_NAME : join(dirname(settingsFile), FILE_NAME);
  return existsSync(path) && statSync(path).isFile() ? path : undefined;
}

/** Reads a `.env` file with Node's own parser. Throws `invalid_input` if it cannot be read. Errors contain no values. */
function readEnvironmentFile(path: string): EnvironmentFile {
  const { text, mode } = readContent(path);
  const variables: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(parseEnv(text)))
    if (value !== undefined) variables[name] = value;
  // Windows has no such modes.
  return { path, variables, isReadableByOthers: process.platform !== "win32" && (mode & 0o044) !== 0 };
}

function readContent(path: string): { readonly text: string; readonly mode: number } {
  try {
    const { size, mode } = statSync(path);
    if (size <= MOST_BYTES) return { text: readFileSync(path, "utf8"), mode };
  } catch {
    throw invalid(`${path}: the file cannot be read. Check that it exists and its permissions.`);
  }
  throw invalid(`${path}: a file of settings may be at most 1 MB.`);
}
