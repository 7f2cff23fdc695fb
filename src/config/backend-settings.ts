import * as z from "zod";
import { invalid } from "../errors.ts";
import { parsePineconeEnvironment } from "./setting-sources.ts";

/** The vector indexes that settings can name. */
const VECTOR_INDEXES = ["chroma", "faiss", "pgvector", "pinecone", "redis", "s3-vectors"] as const;
export type VectorIndexName = (typeof VECTOR_INDEXES)[number];

/** The settings of databases and servers other than the local file. */
export interface BackendSettings {
  /** The prefix of Keepsake's names on shared servers. */
  readonly prefix?: string;
  /** The database, instead of a file. */
  readonly postgres?: PostgresSettings;
  /** The same in MariaDB; at most one of both is set. */
  readonly mariadb?: MariadbSettings;
  readonly redis?: RedisSettings;
  readonly sessions?: "memory" | "redis";
  readonly cache?: CacheSettings;
  readonly rateLimits?: "redis";
  readonly queue?: "bullmq";
  /** In the order in which a recall searches them. */
  readonly followers?: readonly VectorIndexName[];
  /** The number of a user's search units from which they are searched. */
  readonly followersFrom?: number;
  /** How long a recall waits for them, in ms. */
  readonly patienceMs?: number;
  readonly pgvector?: PostgresSettings;
  readonly chroma?: ChromaSettings;
  readonly pinecone?: PineconeSettings;
  readonly s3Vectors?: S3VectorsSettings;
  readonly faiss?: FaissSettings;
  /** What USE_GPU says where nothing could use a GPU. */
  readonly unusedGpu?: boolean;
  /** Whether a folder of FAISS is named, and FAISS is not used. */
  readonly hasUnusedIndexPath?: boolean;
  /** Whether a folder of Chroma is named, and no server. */
  readonly hasUnusedFolder?: boolean;
}

export interface PostgresSettings {
  readonly url: string;
  readonly schema?: string;
  /** The maximum number of connections of this process. */
  readonly connections?: number;
  /** The file of the erasure ledger, needed if an older state of the database is restored. */
  readonly ledger?: string;
  /** How long the server and its archives keep the write-ahead log, in ms. */
  readonly logKeptMs?: number;
}

/** A database of MariaDB; the fields are those of `PostgresSettings`. */
export type MariadbSettings = Omit<PostgresSettings, "schema">;

export interface RedisSettings {
  readonly url: string;
  readonly password?: string;
}

interface CacheSettings {
  readonly name: "memory" | "redis";
  /** How long entries are kept, in ms. */
  readonly ttlMs?: number;
  /** The number of requests from which a user's state is cached for all servers. */
  readonly hotAfter?: number;
}

interface ChromaSettings {
  readonly url: string;
  readonly apiKey?: string;
  readonly tenant?: string;
  readonly database?: string;
  /** The beginning of the names of its collections, instead of the prefix. */
  readonly collection?: string;
}

interface PineconeSettings {
  readonly apiKey: string;
  readonly index: string;
  /** The cloud in which a missing index is created. Default: the adapter's. */
  readonly cloud?: "aws" | "gcp" | "azure";
  readonly region?: string;
  /** The address of a server that speaks the protocol. Default: Pinecone's own. */
  readonly controller?: string;
}

interface S3VectorsSettings extends S3Place {
  readonly bucket: string;
}

/** A region of AWS or a server of its protocols, with credentials. */
export interface S3Place {
  readonly region: string;
  readonly endpoint?: string;
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

interface FaissSettings {
  readonly path: string;
  readonly python?: string;
  readonly gpu?: boolean;
}

interface BackendSetting {
  readonly schema: z.ZodType;
  readonly allowed: string;
  readonly isSecret?: boolean | RegExp;
}

function createCountSetting(least: number, most: number): BackendSetting {
  const schema = z.string().regex(/^\d{1,9}$/);
  return {
    schema: schema.transform(Number).pipe(z.number().min(least).max(most)),
    allowed: `a number from ${least} to ${most}`,
  };
}

const key: BackendSetting = {
  schema: z.string().regex(/^[\x21-\x7e]{1,4096}$/),
  allowed: "visible ASCII characters",
  isSecret: true,
};

const folder: BackendSetting = { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a folder" };
const path: BackendSetting = { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a file" };

const name: BackendSetting = {
  schema: z.string().regex(/^[\w.-]{1,128}$/),
  allowed: "up to 128 letters, digits, dots, - and _",
};

// Addresses may contain passwords, so their values are not shown.
function createAddressSetting(pattern: RegExp, allowed: string): BackendSetting {
  return { schema: z.string().regex(pattern), allowed, isSecret: true };
}

const VECTOR_INDEX_PATTERN = VECTOR_INDEXES.join("|");

/** The settings of databases and servers, by name, with the allowed values. */
export const BACKEND_SETTINGS: { readonly [name: string]: BackendSetting } = {
  MEMORY_DB_URL: {
    schema: z.string().regex(/^(?:sqlite:\/\/\/[^\0]|(?:postgres(?:ql)?|mysql|mariadb):\/\/[^\s\0/])/),
    allowed:
      "sqlite:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE or mysql://USER:PASSWORD@HOST/DATABASE",
    // A file path is not secret. An address may contain a password, even if it is misspelt.
    isSecret: /@|postgres|mysql|mariadb|passw/i,
  },
  KEEPSAKE_PREFIX: {
    schema: z.string().regex(/^[a-z][a-z0-9]{0,29}$/),
    allowed: "up to 30 lowercase letters and digits, starting with a letter",
  },
  POSTGRES_PASSWORD: { schema: z.string().regex(/^[^\0]{1,4096}$/), allowed: "text", isSecret: true },
  CONNECTION_POOL_SIZE: createCountSetting(1, 1000),
  KEEPSAKE_LOG_DAYS: createCountSetting(1, 3650),
  KEEPSAKE_ERASURES: path,
  REDIS_URL: createAddressSetting(/^rediss?:\/\/[^\s]+$/, "an address such as redis://localhost:6379"),
  REDIS_PASSWORD: key,
  REDIS_CACHE_TTL: createCountSetting(1, 31_536_000),
  MEMORY_CACHE_HOT_THRESHOLD: createCountSetting(0, 1_000_000),
  KEEPSAKE_SESSIONS: { schema: z.enum(["memory", "redis"]), allowed: "memory or redis" },
  KEEPSAKE_CACHE: { schema: z.enum(["memory", "redis"]), allowed: "memory or redis" },
  KEEPSAKE_RATE_LIMITS: { schema: z.enum(["memory", "redis"]), allowed: "memory or redis" },
  KEEPSAKE_QUEUE: { schema: z.enum(["memory", "bullmq"]), allowed: "memory or bullmq" },
  KEEPSAKE_FOLLOWER: {
    schema: z
      .string()
      .regex(new RegExp(`^(?:off|(?:${VECTOR_INDEX_PATTERN})(?: *, *(?:${VECTOR_INDEX_PATTERN}))*)$`)),
    allowed: `off, or some of ${VECTOR_INDEXES.join(", ")}, separated by commas`,
  },
  KEEPSAKE_FOLLOWER_FROM: createCountSetting(0, 999_999_999),
  KEEPSAKE_PGVECTOR_URL: createAddressSetting(
    /^postgres(?:ql)?:\/\/[^\s\0/]/,
    "an address such as postgresql://USER:PASSWORD@HOST/DATABASE",
  ),
  CHROMA_URL: createAddressSetting(/^https?:\/\/[^\s]+$/, "an address such as http://localhost:8000"),
  CHROMA_API_KEY: key,
  CHROMA_TENANT: name,
  CHROMA_DATABASE: name,
  CHROMA_COLLECTION: {
    schema: z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/),
    allowed: "up to 64 letters, digits, dots, - and _, starting with a letter or digit",
  },
  CHROMA_PERSIST_DIRECTORY: folder,
  PINECONE_API_KEY: key,
  PINECONE_INDEX: {
    schema: z.string().regex(/^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$/),
    allowed: "up to 30 lowercase letters, digits and -, starting with a letter",
  },
  PINECONE_CLOUD: { schema: z.enum(["aws", "gcp", "azure"]), allowed: "aws, gcp or azure" },
  PINECONE_REGION: {
    schema: z.string().regex(/^[a-z][a-z0-9-]{1,40}$/),
    allowed: "a region such as eu-west-1",
  },
  PINECONE_ENVIRONMENT: {
    schema: z.string().regex(/^[a-z][a-z0-9-]{1,60}$/),
    allowed: "a region with its cloud, such as us-east1-gcp",
  },
  PINECONE_CONTROLLER_HOST: createAddressSetting(
    /^https?:\/\/[^\s]+$/,
    "an address such as https://api.pinecone.io",
  ),
  S3_VECTORS_BUCKET: {
    schema: z.string().regex(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/),
    allowed: "3 to 63 lowercase letters, digits and -",
  },
  AWS_REGION: {
    schema: z.string().regex(/^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/),
    allowed: "a region such as eu-central-1",
  },
  AWS_ACCESS_KEY_ID: key,
  AWS_SECRET_ACCESS_KEY: key,
  AWS_SESSION_TOKEN: key,
  AWS_ENDPOINT_URL_S3VECTORS: createAddressSetting(
    /^https?:\/\/[^\s]+$/,
    "an address such as http://localhost:15435",
  ),
  FAISS_INDEX_PATH: folder,
  KEEPSAKE_PYTHON: path,
  USE_GPU: {
    schema: z.string().regex(/^(?:on|off|true|false|1|0)$/i),
    allowed: "on, off, true, false, 1 or 0",
  },
};

/** The settings of the database server, whichever it is; undefined if the database is a file. */
export function getServerSettings({
  postgres,
  mariadb,
}: BackendSettings = {}): PostgresSettings | MariadbSettings | undefined {
  return postgres ?? mariadb;
}

type SettingValues = ReadonlyMap<string, string>;

/** Parses the backend settings; `undefined` if none is set. Throws `invalid_input` if one needs another that is not set. */
export function parseBackends(values: SettingValues): BackendSettings | undefined {
  const followers = parseVectorIndexes(values);
  const redis = parseRedis(values);
  const { postgres, mariadb } = parseDatabaseServer(values);
  if (followers.includes("redis") && !redis) throw invalid("KEEPSAKE_FOLLOWER: redis needs REDIS_URL.");
  const settings: BackendSettings = dropUndefined({
    prefix: values.get("KEEPSAKE_PREFIX"),
    postgres,
    mariadb,
    redis,
    ...parseRedisUses(values, redis),
    ...(followers.length === 0 ? {} : { followers, ...parseIndexSearch(values) }),
    pgvector: followers.includes("pgvector") ? parsePgvector(values, postgres) : undefined,
    chroma: followers.includes("chroma") ? parseChroma(values) : undefined,
    pinecone: followers.includes("pinecone") ? parsePinecone(values) : undefined,
    s3Vectors: followers.includes("s3-vectors") ? parseS3Vectors(values) : undefined,
    faiss: followers.includes("faiss") ? parseFaiss(values) : undefined,
    unusedGpu: followers.includes("faiss") ? undefined : toSwitch(values.get("USE_GPU")),
    hasUnusedIndexPath: (values.has("FAISS_INDEX_PATH") && !followers.includes("faiss")) || undefined,
    hasUnusedFolder: (values.has("CHROMA_PERSIST_DIRECTORY") && !followers.includes("chroma")) || undefined,
  });
  return Object.keys(settings).length > 0 ? settings : undefined;
}

const DAY_MS = 86_400_000;
/** Parses the settings of a database server; none of both if the database is a file: KEEPSAKE_DB wins over an address. */
function parseDatabaseServer(values: SettingValues): Pick<BackendSettings, "postgres" | "mariadb"> {
  const url = values.get("MEMORY_DB_URL");
  if (url === undefined || url.startsWith("sqlite:") || values.has("KEEPSAKE_DB")) return {};
  const isPostgres = /^postgres/.test(url);
  if (!values.has("KEEPSAKE_SECRET")) {
    throw invalid(
      `MEMORY_DB_URL: ${isPostgres ? "PostgreSQL" : "MariaDB"} needs KEEPSAKE_SECRET, the same on all servers. ` +
        "`openssl rand -hex 32` makes one.",
    );
  }
  const days = parseNumber(values, "KEEPSAKE_LOG_DAYS");
  const common = {
    ledger: values.get("KEEPSAKE_ERASURES"),
    logKeptMs: days === undefined ? undefined : days * DAY_MS,
  };
  if (isPostgres) return { postgres: dropUndefined({ ...toPostgresSettings(values, url), ...common }) };
  const connections = parseNumber(values, "CONNECTION_POOL_SIZE");
  return { mariadb: dropUndefined({ url, connections, ...common }) };
}

function toPostgresSettings(values: SettingValues, url: string): PostgresSettings {
  const connections = parseNumber(values, "CONNECTION_POOL_SIZE");
  return dropUndefined({ url, schema: values.get("KEEPSAKE_PREFIX"), connections });
}

function parseRedis(values: SettingValues): RedisSettings | undefined {
  const url = values.get("REDIS_URL");
  return url === undefined ? undefined : dropUndefined({ url, password: values.get("REDIS_PASSWORD") });
}

/** Decides what uses Redis: sessions, cache and rate limits if it is configured; the queue only if named. */
function parseRedisUses(values: SettingValues, redis: RedisSettings | undefined): Partial<BackendSettings> {
  const isNamed = (setting: string, value: string): boolean => {
    if (values.get(setting) !== value) return false;
    if (!redis) throw invalid(`${setting}: "${value}" needs REDIS_URL, such as redis://localhost:6379.`);
    return true;
  };
  const isOn = (setting: string): boolean =>
    isNamed(setting, "redis") || (redis !== undefined && !values.has(setting));
  const choose = (setting: string): "memory" | "redis" | undefined => {
    if (isOn(setting)) return "redis";
    return values.has(setting) ? "memory" : undefined;
  };
  const cache = choose("KEEPSAKE_CACHE");
  const seconds = parseNumber(values, "REDIS_CACHE_TTL");
  return {
    sessions: choose("KEEPSAKE_SESSIONS"),
    cache: cache && {
      name: cache,
      ...dropUndefined({
        ttlMs: seconds === undefined ? undefined : seconds * 1000,
        hotAfter: parseNumber(values, "MEMORY_CACHE_HOT_THRESHOLD"),
      }),
    },
    rateLimits: isOn("KEEPSAKE_RATE_LIMITS") ? "redis" : undefined,
    queue: isNamed("KEEPSAKE_QUEUE", "bullmq") ? "bullmq" : undefined,
  } as Partial<BackendSettings>;
}

/**
 * Gives the named vector indexes. If KEEPSAKE_FOLLOWER is not set, gives those with an address, a bucket or a path; a key
 * alone is not enough.
 */
function parseVectorIndexes(values: SettingValues): readonly VectorIndexName[] {
  const named = values.get("KEEPSAKE_FOLLOWER");
  if (named === "off") return [];
  if (named !== undefined) return [...new Set(named.split(/ *, */) as VectorIndexName[])];
  const locations: readonly (readonly [string, VectorIndexName])[] = [
    ["CHROMA_URL", "chroma"],
    ["PINECONE_ENVIRONMENT", "pinecone"],
    ["S3_VECTORS_BUCKET", "s3-vectors"],
    ["FAISS_INDEX_PATH", "faiss"],
  ];
  return locations.flatMap(([setting, follower]) => (values.has(setting) ? [follower] : []));
}

function parseIndexSearch(values: SettingValues): Partial<BackendSettings> {
  return dropUndefined({
    followersFrom: parseNumber(values, "KEEPSAKE_FOLLOWER_FROM"),
    patienceMs: parseNumber(values, "RETRIEVAL_TIMEOUT_MS"),
  });
}

/** Parses the pgvector settings. Default: the database of the memories. */
function parsePgvector(values: SettingValues, record: PostgresSettings | undefined): PostgresSettings {
  const url = values.get("KEEPSAKE_PGVECTOR_URL") ?? record?.url;
  if (url === undefined) {
    throw invalid(
      "KEEPSAKE_FOLLOWER: pgvector needs KEEPSAKE_PGVECTOR_URL unless memories are stored in PostgreSQL.",
    );
  }
  return toPostgresSettings(values, url);
}

function parseChroma(values: SettingValues): ChromaSettings {
  return dropUndefined({
    url: values.get("CHROMA_URL") ?? "http://localhost:8000",
    apiKey: values.get("CHROMA_API_KEY"),
    tenant: values.get("CHROMA_TENANT"),
    database: values.get("CHROMA_DATABASE"),
    collection: values.get("CHROMA_COLLECTION"),
  });
}

function parsePinecone(values: SettingValues): PineconeSettings {
  const environment = values.get("PINECONE_ENVIRONMENT");
  const isComplete = values.has("PINECONE_CLOUD") && values.has("PINECONE_REGION");
  const named = environment === undefined || isComplete ? undefined : parsePineconeEnvironment(environment);
  return dropUndefined({
    apiKey: requireValue(values, "PINECONE_API_KEY", "pinecone"),
    index: values.get("PINECONE_INDEX") ?? values.get("KEEPSAKE_PREFIX") ?? "keepsake",
    cloud: (values.get("PINECONE_CLOUD") ?? named?.cloud) as PineconeSettings["cloud"],
    region: values.get("PINECONE_REGION") ?? named?.region,
    controller: values.get("PINECONE_CONTROLLER_HOST"),
  });
}

/** Gives the region, the server and the credentials of S3; `undefined` without a region. */
export function parseS3Place(values: SettingValues, endpoint: string | undefined): S3Place | undefined {
  const region = values.get("AWS_REGION");
  return region === undefined ? undefined : dropUndefined({ region, endpoint, ...parseCredentials(values) });
}

/** Without both parts, the SDK uses the default AWS credential chain. */
function parseCredentials(values: SettingValues): Pick<S3Place, "credentials"> {
  const accessKeyId = values.get("AWS_ACCESS_KEY_ID");
  const secretAccessKey = values.get("AWS_SECRET_ACCESS_KEY");
  const token = values.get("AWS_SESSION_TOKEN");
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return { credentials: dropUndefined({ accessKeyId, secretAccessKey, sessionToken: token }) };
}

function parseS3Vectors(values: SettingValues): S3VectorsSettings {
  return dropUndefined({
    bucket: requireValue(values, "S3_VECTORS_BUCKET", "s3-vectors"),
    region: requireValue(values, "AWS_REGION", "s3-vectors"),
    endpoint: values.get("AWS_ENDPOINT_URL_S3VECTORS"),
    ...parseCredentials(values),
  });
}

function parseFaiss(values: SettingValues): FaissSettings {
  return dropUndefined({
    path: requireValue(values, "FAISS_INDEX_PATH", "faiss"),
    python: values.get("KEEPSAKE_PYTHON"),
    gpu: toSwitch(values.get("USE_GPU")),
  });
}

function toSwitch(value: string | undefined): boolean | undefined {
  return value === undefined ? undefined : isOn(value);
}

function isOn(value: string | undefined): boolean {
  return ["on", "true", "1"].includes((value ?? "").toLowerCase());
}

function requireValue(values: SettingValues, setting: string, follower: VectorIndexName): string {
  const value = values.get(setting);
  if (value === undefined) throw invalid(`KEEPSAKE_FOLLOWER: ${follower} needs ${setting}.`);
  return value;
}

function parseNumber(values: SettingValues, setting: string): number | undefined {
  const value = values.get(setting);
  return value === undefined ? undefined : Number(value);
}

/** Removes fields without a value. */
function dropUndefined<Fields extends object>(
  fields: {
    readonly [Name in keyof Fields]: Fields[Name] | undefined;
  },
): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
