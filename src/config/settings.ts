import { isIPv6 } from "node:net";
import * as z from "zod";
import type { SqliteTuning } from "../adapters/sqlite/index.ts";
import { EXPIRY_LIST_EXAMPLE, type ExpiryPolicy, parseExpiryList } from "../domain/memories/expiry-policy.ts";
import { parseWeightList, type RankingOptions, WEIGHT_LIST_EXAMPLE } from "../domain/recall.ts";
import type { AgentAccess } from "../domain/scope.ts";
import { MemoryError } from "../errors.ts";
import {
  ATTACHMENT_SETTINGS,
  type AttachmentSettings,
  parseAttachmentSettings,
} from "./attachment-settings.ts";
import { BACKEND_SETTINGS, type BackendSettings, parseBackends, parseS3Place } from "./backend-settings.ts";
import { BACKUP_SETTINGS, type BackupSettings, parseBackupSettings } from "./backup-settings.ts";
import {
  ENCRYPTION_SETTINGS,
  type EncryptionSettings,
  parseEncryption,
  parseMasterKey,
} from "./master-key-settings.ts";
import { COST_SETTINGS, type CostSettings, parseCostSettings } from "./models/cost-settings.ts";
import {
  EMBEDDER_SETTINGS,
  type EmbedderSettings,
  type NamedEmbedders,
  parseBuiltInModel,
  parseEmbedder,
  parseNamedEmbedders,
} from "./models/embedder-settings.ts";
import { OAUTH_SETTINGS, type OAuthSettings, parseOAuthSettings } from "./oauth-settings.ts";
import {
  MODEL_SETTINGS,
  type ModelSettings,
  PROXY_SETTINGS,
  type ProxySettings,
  parseModelSettings,
  parseProxySettings,
} from "./openai-settings.ts";
import { parseRerankerSettings, RERANKER_SETTINGS, type RerankerSettings } from "./reranker-settings.ts";
import { applyPasswords, type Environment, readSettingEntries } from "./setting-sources.ts";

interface SqliteSetting {
  readonly schema: z.ZodType;
  readonly allowed: string;
}

function createFixedSetting(allowed: string, pattern: RegExp): SqliteSetting {
  return { schema: z.string().regex(pattern), allowed };
}

function createRangeSetting(ranges: readonly (readonly [number, number])[], allowed: string): SqliteSetting {
  const isWithin = (text: string): boolean =>
    ranges.some(([least, most]) => Number(text) >= least && Number(text) <= most);
  return {
    schema: z
      .string()
      .regex(/^-?\d{1,10}$/)
      .refine(isWithin),
    allowed,
  };
}

/** SQLite's pragmas as settings. Values that would lose acknowledged writes or erased bytes are refused. */
const SQLITE_SETTINGS: { readonly [name: string]: SqliteSetting } = {
  KEEPSAKE_SQLITE_JOURNAL_MODE: createFixedSetting("WAL, because readers wait in other modes", /^wal$/i),
  KEEPSAKE_SQLITE_SYNCHRONOUS: createFixedSetting(
    "FULL or EXTRA, because others lose acknowledged writes when the power fails",
    /^(?:full|extra)$/i,
  ),
  KEEPSAKE_SQLITE_FOREIGN_KEYS: createFixedSetting("ON, because the data relies on them", /^(?:on|true|1)$/i),
  KEEPSAKE_SQLITE_TEMP_STORE: createFixedSetting(
    "MEMORY, because a temporary file would hold words",
    /^memory$/i,
  ),
  KEEPSAKE_SQLITE_CACHE_SIZE: createRangeSetting(
    [
      [-4_000_000, -1000],
      [100, 500_000],
    ],
    "KiB from -4000000 to -1000, or pages from 100 to 500000",
  ),
  KEEPSAKE_SQLITE_MMAP_SIZE: createRangeSetting([[0, 1_073_741_824]], "bytes from 0 to 1073741824"),
};

/** Parses the SQLite settings; `undefined` if none changes anything. */
function parseSqliteSettings(values: ReadonlyMap<string, string>): SqliteTuning | undefined {
  const cacheSize = values.get("KEEPSAKE_SQLITE_CACHE_SIZE");
  const mmapBytes = values.get("KEEPSAKE_SQLITE_MMAP_SIZE");
  const settings: SqliteTuning = {
    ...(cacheSize === undefined ? {} : { cacheSize: Number(cacheSize) }),
    ...(mmapBytes === undefined ? {} : { mmapBytes: Number(mmapBytes) }),
    ...(/^extra$/i.test(values.get("KEEPSAKE_SQLITE_SYNCHRONOUS") ?? "") ? { syncsFolder: true } : {}),
    ...(values.has("KEEPSAKE_SQLITE_TEMP_STORE") ? { hasTempInMemory: true } : {}),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

/** The settings from the environment and the settings file. Options of a command take precedence. */
export interface Settings {
  readonly path: string;
  readonly host: string;
  readonly port: number;
  /** Host names that the server accepts in addition to those of this machine. */
  readonly hosts?: readonly string[];
  /** Origins of other pages that may call the server. */
  readonly origins?: readonly string[];
  readonly apiKey?: string;
  readonly secret?: string;
  /** Requests per key and minute; 0 for no limit. */
  readonly rateLimit?: number;
  /** Bytes of request bodies per key and minute; 0 for no limit. */
  readonly rateLimitBytes?: number;
  /** Time limit of a request, in ms. */
  readonly requestMs?: number;
  /** How long an answer waits while others are answered, in ms. */
  readonly answerWaitMs?: number;
  /** How long the server keeps serving after a stop signal, while it reports that it is not ready, in ms. */
  readonly drainMs?: number;
  /** Time limit of the shutdown, after `drainMs`, in ms. */
  readonly stopMs?: number;
  /** How to write the log on stderr, and from which level on. */
  readonly log?: LogSettings;
  /** False stores credentials in messages unchanged. */
  readonly redact?: boolean;
  /** Default number of items of a recall. */
  readonly topK?: number;
  /** Default token budget of a recall's context. */
  readonly maxContextTokens?: number;
  /** Approximate size of the cache of recent users, in MB. */
  readonly cacheMegabytes?: number;
  /** Half-life of recency in ranking, in days. */
  readonly decayDays?: number;
  /** How recalls rank unless a call says otherwise. */
  readonly ranking?: RankingOptions;
  /** Whether agents of one user read each other's memories; walled if absent. */
  readonly agents?: AgentAccess;
  /** True archives the memories that the clean-up job finds. */
  readonly cleanUp?: boolean;
  /** Absent if webhooks may go to public addresses only. */
  readonly webhooks?: "off" | "loopback";
  /** After how many days memories expire, by kind and project. */
  readonly expiry?: ExpiryPolicy;
  /** Whether the texts of a new database file are encrypted, and where the master key is. */
  readonly encryption?: EncryptionSettings;
  /** Whether workers run background jobs instead of this process. */
  readonly jobs?: "elsewhere";
  /** Facts with a lower confidence are not stored. */
  readonly confidenceThreshold?: number;
  /** An embedder instead of the built-in one. */
  readonly embedder?: EmbedderSettings;
  /** What EMBEDDING_MODEL names, if the embedder is the built-in one. */
  readonly builtInModel?: string;
  /** The embedders that users and projects may choose, by name. */
  readonly embedders?: NamedEmbedders;
  /** Limits on images and recordings, and the models that describe them. */
  readonly attachments?: AttachmentSettings;
  /** What reorders the best items of recalls. */
  readonly reranker?: RerankerSettings;
  /** The model for extraction and answers. */
  readonly model?: ModelSettings;
  /** The proxy for clients of OpenAI and Anthropic: its upstreams and time limits. */
  readonly proxy?: ProxySettings;
  /** Budgets and prices of model calls. */
  readonly costs?: CostSettings;
  /** OAuth for MCP clients; absent if it is off. */
  readonly oauth?: OAuthSettings;
  /** Who may read metrics: default, holders of a key with that scope; `open`, everyone; `off`, no one. */
  readonly metrics?: "open" | "off";
  /** Databases and servers other than the local file. */
  readonly backends?: BackendSettings;
  /** Backups that are made without being asked for. */
  readonly backups?: BackupSettings;
  /** Tuning of SQLite. */
  readonly sqlite?: SqliteTuning;
  /** Whether to create the folder of the database file if it is missing: the settings file names it. */
  readonly createsFolder?: boolean;
  /** Which settings the `.env` file gave, to show at the start. */
  readonly envFile?: string;
  /** Messages for the operator about what needs attention. */
  readonly notices?: readonly string[];
}

/** The levels of the log, from the fewest lines to the most. */
export const LOG_LEVELS = ["error", "warning", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogSettings {
  /** Lines of JSON, or lines for people. */
  readonly form: "json" | "text";
  /** `warning`: faults. `info`: each request, too. `debug`: each step of the work, too. */
  readonly level: LogLevel;
  /** Whether lines of requests contain the path as requested, with the ids of users. */
  readonly showsPaths?: true;
}

interface SettingDefinition {
  readonly schema: z.ZodType;
  /** The allowed values, for error messages. */
  readonly allowed: string;
  /** Whether its value is never shown, or a pattern for values that are not shown. */
  readonly isSecret?: boolean | RegExp;
}

/** Accepts plain digits only: "1e3", "0x1F" and " 7" are mistakes. */
function createNumberSchema(least: number, most: number, form: RegExp = /^\d{1,9}$/): z.ZodType {
  return z.string().regex(form).transform(Number).pipe(z.number().min(least).max(most));
}

/** Whether it lists up to a hundred names or addresses. An address of IPv6 has no brackets. */
function isHostList(text: string): boolean {
  const hosts = text.split(/ *, */);
  return hosts.length <= 100 && hosts.every((host) => /^[\w.-]{1,253}$/.test(host) || isIPv6(host));
}

/** Whether it is written exactly as a browser sends it: no path and no wildcard. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** All settings, by name, with the allowed values. A name that is nearly one of these is an error. */
export const SETTINGS: { readonly [name: string]: SettingDefinition } = {
  KEEPSAKE_DB: { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a file" },
  KEEPSAKE_HOST: { schema: z.string().regex(/^\S+$/), allowed: "a host name or an address of this machine" },
  KEEPSAKE_PORT: { schema: createNumberSchema(0, 65_535), allowed: "a number from 0 to 65535" },
  KEEPSAKE_HOSTS: {
    schema: z.string().refine(isHostList),
    allowed: "host names and addresses without ports, separated by commas",
  },
  KEEPSAKE_ORIGINS: {
    schema: z.string().refine((list) => list.split(/ *, */).every(isOrigin)),
    allowed: "origins such as https://app.example.com or http://localhost:5173, separated by commas",
  },
  KEEPSAKE_API_KEY: {
    schema: z.string().regex(/^[\x21-\x7e]{24,512}$/),
    allowed: "24 to 512 visible ASCII characters",
    isSecret: true,
  },
  KEEPSAKE_RATE_LIMIT_PER_MINUTE: {
    schema: createNumberSchema(0, 10_000_000),
    allowed: "a number from 0 to 10000000",
  },
  KEEPSAKE_RATE_LIMIT_BYTES_PER_MINUTE: {
    schema: createNumberSchema(0, 1_000_000_000_000, /^\d{1,13}$/),
    allowed: "a number from 0 to 1000000000000",
  },
  KEEPSAKE_REQUEST_TIMEOUT_MS: {
    schema: createNumberSchema(100, 600_000),
    allowed: "a number from 100 to 600000",
  },
  KEEPSAKE_ANSWER_WAIT_MS: {
    schema: createNumberSchema(0, 600_000),
    allowed: "a number from 0 to 600000",
  },
  KEEPSAKE_DRAIN_MS: { schema: createNumberSchema(0, 600_000), allowed: "a number from 0 to 600000" },
  KEEPSAKE_STOP_MS: { schema: createNumberSchema(500, 600_000), allowed: "a number from 500 to 600000" },
  KEEPSAKE_LOG: { schema: z.enum(["off", "json", "text"]), allowed: "off, json or text" },
  LOG_LEVEL: {
    schema: z.string().regex(/^(?:debug|info|warn|warning|error)$/i),
    allowed: "DEBUG, INFO, WARNING or ERROR",
  },
  KEEPSAKE_LOG_PATHS: { schema: z.enum(["on", "off"]), allowed: "on or off" },
  KEEPSAKE_REDACT: { schema: z.enum(["on", "off"]), allowed: "on or off" },
  KEEPSAKE_SECRET: { schema: z.string().min(16), allowed: "at least 16 characters", isSecret: true },
  MEMORY_RETRIEVAL_TOP_K: { schema: createNumberSchema(1, 1000), allowed: "a number from 1 to 1000" },
  KEEPSAKE_CACHE_MB: { schema: createNumberSchema(1, 1_000_000), allowed: "a number from 1 to 1000000" },
  MAX_CONTEXT_TOKENS: { schema: createNumberSchema(1, 1_000_000), allowed: "a number from 1 to 1000000" },
  MEMORY_DECAY_DAYS: { schema: createNumberSchema(1, 36_500), allowed: "a number from 1 to 36500" },
  KEEPSAKE_RANKING: { schema: z.enum(["default", "classic"]), allowed: "default or classic" },
  KEEPSAKE_RANKING_WEIGHTS: {
    schema: z.string().refine((list) => parseWeightList(list) !== undefined),
    allowed: `weights such as ${WEIGHT_LIST_EXAMPLE}, for the ranking "classic"`,
  },
  KEEPSAKE_EXPIRY: {
    schema: z.string().refine((list) => parseExpiryList(list) !== undefined),
    allowed: `days by kind, or by project and kind, such as ${EXPIRY_LIST_EXAMPLE}`,
  },
  KEEPSAKE_AGENTS: { schema: z.enum(["walled", "shared"]), allowed: "walled or shared" },
  KEEPSAKE_CLEAN_UP: { schema: z.enum(["on", "off"]), allowed: "on or off" },
  KEEPSAKE_WEBHOOKS: { schema: z.enum(["on", "off", "loopback"]), allowed: "on, off or loopback" },
  KEEPSAKE_JOBS: { schema: z.enum(["here", "workers"]), allowed: "here or workers" },
  MEMORY_CONFIDENCE_THRESHOLD: {
    schema: createNumberSchema(0, 1, /^(?:\d|\d?\.\d{1,9})$/),
    allowed: "a number from 0 to 1",
  },
  ...EMBEDDER_SETTINGS,
  OPENAI_API_KEY: {
    schema: z.string().regex(/^[\x21-\x7e]{1,512}$/),
    allowed: "visible ASCII characters",
    isSecret: true,
  },
  // Addresses may contain passwords, so the value is not shown.
  OPENAI_BASE_URL: {
    schema: z.string().regex(/^https?:\/\/[^\s@?#]+$/),
    allowed: "an address such as https://api.openai.com/v1",
    isSecret: true,
  },
  ...ATTACHMENT_SETTINGS,
  ...RERANKER_SETTINGS,
  ...BACKEND_SETTINGS,
  ...SQLITE_SETTINGS,
  ...BACKUP_SETTINGS,
  ...ENCRYPTION_SETTINGS,
  ...COST_SETTINGS,
  ...PROXY_SETTINGS,
  ...MODEL_SETTINGS,
  ...OAUTH_SETTINGS,
  KEEPSAKE_CONFIG: { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a file" },
  KEEPSAKE_ENV_FILE: { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a file, or off" },
  KEEPSAKE_METRICS: { schema: z.enum(["key", "open", "off"]), allowed: "key, open or off" },
  RETRIEVAL_TIMEOUT_MS: { schema: createNumberSchema(0, 600_000), allowed: "a number from 0 to 600000" },
};

/** Gives the place of a new master key: `secret`, `file:PATH`, or the name of a key of a service, with that service's settings. */
export function readMasterKeyPlace(
  place: string,
  environment: Environment = process.env,
): EncryptionSettings {
  if (place === "secret") return true;
  const [, masterKeyFile] = /^file:(.+)$/.exec(place) ?? [];
  if (masterKeyFile !== undefined) return { masterKeyFile };
  const { values } = readSettingEntries(environment, Object.keys(SETTINGS));
  return { service: parseMasterKey(place, values, parseS3Place) };
}

/** An address of a database, as opposed to a path. */
const ADDRESS_PATTERN = /^[a-z][a-z+]*:\/\//i;

/**
 * Reads the settings from the environment, from `.env`, and from `keepsake.yaml` (or the file in `KEEPSAKE_CONFIG`). `db`, a path or
 * an address, replaces `KEEPSAKE_DB` and `MEMORY_DB_URL`. Throws `invalid_input` for an unknown or invalid setting, with its
 * name, its value (unless secret) and the allowed values; `unsupported` for a database that this version cannot use.
 */
export function readSettings(environment: Environment = process.env, db?: string): Settings {
  const { values, variables, notices, envFile, hasDatabaseFromFile } = readSettingEntries(
    environment,
    Object.keys(SETTINGS),
  );
  for (const [name, value] of values) {
    const definition = SETTINGS[name];
    if (definition) checkValue(name, value, definition);
  }
  const database = db ?? values.get("KEEPSAKE_DB");
  if (database !== undefined) setDatabase(values, database);
  const allNotices = [...notices, ...applyPasswords(values)];
  const text = <Name extends string>(field: Name, name: string) => toOptionalField(field, values.get(name));
  const number = <Name extends string>(field: Name, name: string) => {
    const value = values.get(name);
    return toOptionalField(field, value === undefined ? undefined : Number(value));
  };
  return {
    path: parsePath(values),
    host: values.get("KEEPSAKE_HOST") ?? "127.0.0.1",
    port: Number(values.get("KEEPSAKE_PORT") ?? 7420),
    ...toOptionalField("hosts", values.get("KEEPSAKE_HOSTS")?.split(/ *, */)),
    ...toOptionalField("origins", values.get("KEEPSAKE_ORIGINS")?.split(/ *, */)),
    ...text("apiKey", "KEEPSAKE_API_KEY"),
    ...text("secret", "KEEPSAKE_SECRET"),
    ...number("rateLimit", "KEEPSAKE_RATE_LIMIT_PER_MINUTE"),
    ...number("rateLimitBytes", "KEEPSAKE_RATE_LIMIT_BYTES_PER_MINUTE"),
    ...number("requestMs", "KEEPSAKE_REQUEST_TIMEOUT_MS"),
    ...number("answerWaitMs", "KEEPSAKE_ANSWER_WAIT_MS"),
    ...number("drainMs", "KEEPSAKE_DRAIN_MS"),
    ...number("stopMs", "KEEPSAKE_STOP_MS"),
    ...toOptionalField("log", parseLog(values)),
    ...toOptionalField("redact", values.get("KEEPSAKE_REDACT") === "off" ? false : undefined),
    ...number("topK", "MEMORY_RETRIEVAL_TOP_K"),
    ...number("maxContextTokens", "MAX_CONTEXT_TOKENS"),
    ...number("cacheMegabytes", "KEEPSAKE_CACHE_MB"),
    ...number("decayDays", "MEMORY_DECAY_DAYS"),
    ...toOptionalField("ranking", parseRanking(values)),
    ...toOptionalField("expiry", parseExpiryList(values.get("KEEPSAKE_EXPIRY") ?? "")),
    ...toOptionalField("agents", values.get("KEEPSAKE_AGENTS") as AgentAccess | undefined),
    ...toOptionalField("cleanUp", values.get("KEEPSAKE_CLEAN_UP") === "on" ? true : undefined),
    ...toOptionalField("webhooks", parseWebhooks(values.get("KEEPSAKE_WEBHOOKS"))),
    ...toOptionalField("encryption", parseEncryption(values, parseS3Place)),
    ...toOptionalField("jobs", parseJobs(values.get("KEEPSAKE_JOBS"))),
    ...number("confidenceThreshold", "MEMORY_CONFIDENCE_THRESHOLD"),
    ...toOptionalField("embedder", parseEmbedder(values)),
    ...toOptionalField("builtInModel", parseBuiltInModel(values)),
    ...toOptionalField("embedders", parseNamedEmbedders(values, variables)),
    ...toOptionalField("attachments", parseAttachmentSettings(values)),
    ...toOptionalField("reranker", parseRerankerSettings(values)),
    ...toOptionalField("costs", parseCostSettings(values)),
    ...toOptionalField("proxy", parseProxySettings(values)),
    ...toOptionalField("model", parseModelSettings(values)),
    ...toOptionalField("oauth", parseOAuthSettings(values)),
    ...toOptionalField("metrics", parseMetrics(values.get("KEEPSAKE_METRICS"))),
    ...toOptionalField("backends", parseBackends(values)),
    ...toOptionalField("backups", parseBackupSettings(values, parseS3Place)),
    ...toOptionalField("sqlite", parseSqliteSettings(values)),
    ...toOptionalField("createsFolder", hasDatabaseFromFile && db === undefined ? true : undefined),
    ...toOptionalField("envFile", envFile),
    ...toOptionalField("notices", allNotices.length > 0 ? allNotices : undefined),
  };
}

/** A level alone writes lines for people; a form alone writes each request. */
function parseLog(values: ReadonlyMap<string, string>): LogSettings | undefined {
  const form = values.get("KEEPSAKE_LOG");
  const named = values.get("LOG_LEVEL")?.toLowerCase();
  if (form === "off" || (form === undefined && named === undefined)) return undefined;
  const level = LOG_LEVELS.find((one) => one === (named === "warn" ? "warning" : (named ?? "info")));
  return {
    form: form === "json" ? "json" : "text",
    level: level ?? "info",
    ...(values.get("KEEPSAKE_LOG_PATHS") === "on" ? { showsPaths: true } : {}),
  };
}

/** Sets the database from a path or an address. */
function setDatabase(values: Map<string, string>, named: string): void {
  values.delete("KEEPSAKE_DB");
  const { MEMORY_DB_URL: address } = BACKEND_SETTINGS;
  if (address && ADDRESS_PATTERN.test(named))
    values.set("MEMORY_DB_URL", checkValue("MEMORY_DB_URL", named, address));
  else values.set("KEEPSAKE_DB", named);
}

function parsePath(values: ReadonlyMap<string, string>): string {
  const [, path] = /^sqlite:\/\/\/(.*)$/s.exec(values.get("MEMORY_DB_URL") ?? "") ?? [];
  return values.get("KEEPSAKE_DB") ?? path ?? "keepsake.db";
}

/** Weights belong to the ranking "classic", and name it. */
function parseRanking(values: ReadonlyMap<string, string>): RankingOptions | undefined {
  const profile = values.get("KEEPSAKE_RANKING");
  const list = values.get("KEEPSAKE_RANKING_WEIGHTS");
  if (list === undefined) return profile === undefined ? undefined : { profile };
  if (profile === "default") {
    throw new MemoryError(
      "invalid_input",
      "KEEPSAKE_RANKING_WEIGHTS belongs to KEEPSAKE_RANKING=classic. Remove one of the two.",
    );
  }
  return { profile: "classic", weights: parseWeightList(list) ?? {} };
}

function parseWebhooks(word: string | undefined): Settings["webhooks"] {
  return word === "off" || word === "loopback" ? word : undefined;
}

function parseJobs(word: string | undefined): Settings["jobs"] {
  return word === "workers" ? "elsewhere" : undefined;
}

function parseMetrics(value: string | undefined): "open" | "off" | undefined {
  return value === "open" || value === "off" ? value : undefined;
}

/** Gives an object with the field only if it has a value. */
function toOptionalField<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [name in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: Value };
}

function checkValue(name: string, value: string, { schema, allowed, isSecret }: SettingDefinition): string {
  if (schema.safeParse(value).success) return value;
  const scheme = /^([a-z+]+):\/\//.exec(value)?.[1];
  if (
    name === "MEMORY_DB_URL" &&
    scheme !== undefined &&
    !/^(sqlite|postgres(ql)?|mysql|mariadb)$/.test(scheme)
  ) {
    throw new MemoryError("unsupported", `MEMORY_DB_URL: ${scheme} is not supported. Use ${allowed}.`);
  }
  const isHidden = isSecret instanceof RegExp ? isSecret.test(value) : isSecret;
  const shown = isHidden ? "its value" : JSON.stringify(value);
  throw new MemoryError("invalid_input", `${name}: ${shown} is not allowed. Allowed: ${allowed}.`);
}
