import * as z from "zod";
import { invalid } from "../errors.ts";

/** The vector indexes that the settings can name. */
export const VECTOR_INDEXES = ["chroma", "faiss", "pgvector", "pinecone", "redis", "s3-vectors"] as const;
export type VectorIndexName = (typeof VECTOR_INDEXES)[number];

/** What the settings say of databases and servers beside this machine's file. */
export interface BackendSettings {
  /** What our names begin with on servers that others use, too. */
  readonly prefix?: string;
  /** Where the record is, instead of a file. */
  readonly postgres?: PostgresSettings;
  readonly redis?: RedisSettings;
  readonly sessions?: "memory" | "redis";
  readonly cache?: CacheSettings;
  readonly rateLimits?: "redis";
  readonly queue?: "bullmq";
  /** In the order in which a recall asks them. */
  readonly followers?: readonly VectorIndexName[];
  /** From how many search units of a user on they are asked. */
  readonly followersFrom?: number;
  /** How long a recall waits for them, in ms. */
  readonly patienceMs?: number;
  readonly pgvector?: PostgresSettings;
  readonly chroma?: ChromaSettings;
  readonly pinecone?: PineconeSettings;
  readonly s3Vectors?: S3VectorsSettings;
  readonly faiss?: FaissSettings;
}

export interface PostgresSettings {
  readonly url: string;
  readonly schema?: string;
  /** How many connections this process may have. */
  readonly connections?: number;
  /** The file that tells what was erased when the database is put back to an older state. */
  readonly ledger?: string;
  /** For how long the server and its archives keep the write-ahead log, in ms. */
  readonly logKeptMs?: number;
}

export interface RedisSettings {
  readonly url: string;
  readonly password?: string;
}

export interface CacheSettings {
  readonly name: "memory" | "redis";
  /** How long what is kept is kept, in ms. */
  readonly ttlMs?: number;
  /** How often a user is served, before what is known of them is kept for all servers. */
  readonly hotAfter?: number;
}

export interface ChromaSettings {
  readonly url: string;
  readonly apiKey?: string;
  readonly tenant?: string;
  readonly database?: string;
}

export interface PineconeSettings {
  readonly apiKey: string;
  readonly index: string;
  /** Where a missing index is made; the adapter's choice where absent. */
  readonly cloud?: "aws" | "gcp" | "azure";
  readonly region?: string;
  /** Of a server that speaks the protocol; Pinecone's own where absent. */
  readonly controller?: string;
}

export interface S3VectorsSettings {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint?: string;
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

export interface FaissSettings {
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

const folder: BackendSetting = { schema: z.string().regex(/^[^\0]+$/), allowed: "a path of a folder" };
const path: BackendSetting = { schema: z.string().regex(/^[^\0]+$/), allowed: "a path of a file" };

const name: BackendSetting = {
  schema: z.string().regex(/^[\w.-]{1,128}$/),
  allowed: "up to 128 letters, digits, dots, - and _",
};

// People put passwords into addresses, so the value of one is not shown.
function createAddressSetting(pattern: RegExp, allowed: string): BackendSetting {
  return { schema: z.string().regex(pattern), allowed, isSecret: true };
}

const VECTOR_INDEX_PATTERN = VECTOR_INDEXES.join("|");

/** Every setting of what stands beside this machine's file, by name, with what it may be. */
export const BACKEND_SETTINGS: { readonly [name: string]: BackendSetting } = {
  MEMORY_DB_URL: {
    schema: z.string().regex(/^(?:sqlite:\/\/\/[^\0]|postgres(?:ql)?:\/\/[^\s\0/])/),
    allowed: "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE",
    // A file is no secret; an address may hold a password, however it is misspelt.
    isSecret: /@|postgres|passw/i,
  },
  KEEPSAKE_PREFIX: {
    schema: z.string().regex(/^[a-z][a-z0-9]{0,29}$/),
    allowed: "up to 30 small letters and digits, a letter first",
  },
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
    allowed: `off, or some of ${VECTOR_INDEXES.join(", ")}, with commas between them`,
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
  PINECONE_API_KEY: key,
  PINECONE_INDEX: {
    schema: z.string().regex(/^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$/),
    allowed: "up to 30 small letters, digits and -, a letter first",
  },
  PINECONE_CLOUD: { schema: z.enum(["aws", "gcp", "azure"]), allowed: "aws, gcp or azure" },
  PINECONE_REGION: {
    schema: z.string().regex(/^[a-z][a-z0-9-]{1,40}$/),
    allowed: "a region such as eu-west-1",
  },
  PINECONE_CONTROLLER_HOST: createAddressSetting(
    /^https?:\/\/[^\s]+$/,
    "an address such as https://api.pinecone.io",
  ),
  S3_VECTORS_BUCKET: {
    schema: z.string().regex(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/),
    allowed: "3 to 63 small letters, digits and -",
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
    schema: z.enum(["on", "off", "true", "false", "1", "0"]),
    allowed: "on, off, true, false, 1 or 0",
  },
};

type SettingValues = ReadonlyMap<string, string>;

/** What checked values say of it; nothing where they say nothing. `invalid_input` where one needs another that is not set. */
export function parseBackends(values: SettingValues): BackendSettings | undefined {
  const followers = parseVectorIndexes(values);
  const redis = parseRedis(values);
  const postgres = parsePostgres(values);
  if (followers.includes("redis") && !redis) throw invalid("KEEPSAKE_FOLLOWER: redis needs REDIS_URL.");
  const settings: BackendSettings = dropUndefined({
    prefix: values.get("KEEPSAKE_PREFIX"),
    postgres,
    redis,
    ...parseRedisUses(values, redis),
    ...(followers.length === 0 ? {} : { followers, ...parseIndexSearch(values) }),
    pgvector: followers.includes("pgvector") ? parsePgvector(values, postgres) : undefined,
    chroma: followers.includes("chroma") ? parseChroma(values) : undefined,
    pinecone: followers.includes("pinecone") ? parsePinecone(values) : undefined,
    s3Vectors: followers.includes("s3-vectors") ? parseS3Vectors(values) : undefined,
    faiss: followers.includes("faiss") ? parseFaiss(values) : undefined,
  });
  return Object.keys(settings).length > 0 ? settings : undefined;
}

/** Nothing where the record is a file: a path that is named wins over an address. */
const DAY_MS = 86_400_000;

function parsePostgres(values: SettingValues): PostgresSettings | undefined {
  const url = values.get("MEMORY_DB_URL");
  if (url === undefined || url.startsWith("sqlite:") || values.has("KEEPSAKE_DB")) return undefined;
  if (!values.has("KEEPSAKE_SECRET")) {
    throw invalid(
      "MEMORY_DB_URL: with PostgreSQL, KEEPSAKE_SECRET must be set, for all servers share it. `openssl rand -hex 32` makes one.",
    );
  }
  const days = parseNumber(values, "KEEPSAKE_LOG_DAYS");
  return dropUndefined({
    ...toPostgresSettings(values, url),
    ledger: values.get("KEEPSAKE_ERASURES"),
    logKeptMs: days === undefined ? undefined : days * DAY_MS,
  });
}

function toPostgresSettings(values: SettingValues, url: string): PostgresSettings {
  const connections = parseNumber(values, "CONNECTION_POOL_SIZE");
  return dropUndefined({ url, schema: values.get("KEEPSAKE_PREFIX"), connections });
}

function parseRedis(values: SettingValues): RedisSettings | undefined {
  const url = values.get("REDIS_URL");
  return url === undefined ? undefined : dropUndefined({ url, password: values.get("REDIS_PASSWORD") });
}

/** What runs on Redis: where there is one, sessions, the cache and the limits of rates; the queue only where it is asked for. */
function parseRedisUses(values: SettingValues, redis: RedisSettings | undefined): Partial<BackendSettings> {
  const wanted = (setting: string, value: string): boolean => {
    const named = values.get(setting);
    if (named !== value) return false;
    if (!redis) throw invalid(`${setting}: "${value}" needs REDIS_URL, such as redis://localhost:6379.`);
    return true;
  };
  const isOn = (setting: string): boolean =>
    wanted(setting, "redis") || (redis !== undefined && !values.has(setting));
  const place = (setting: string): "memory" | "redis" | undefined => {
    if (isOn(setting)) return "redis";
    return values.has(setting) ? "memory" : undefined;
  };
  const cache = place("KEEPSAKE_CACHE");
  const seconds = parseNumber(values, "REDIS_CACHE_TTL");
  return {
    sessions: place("KEEPSAKE_SESSIONS"),
    cache: cache && {
      name: cache,
      ...dropUndefined({
        ttlMs: seconds === undefined ? undefined : seconds * 1000,
        hotAfter: parseNumber(values, "MEMORY_CACHE_HOT_THRESHOLD"),
      }),
    },
    rateLimits: isOn("KEEPSAKE_RATE_LIMITS") ? "redis" : undefined,
    queue: wanted("KEEPSAKE_QUEUE", "bullmq") ? "bullmq" : undefined,
  } as Partial<BackendSettings>;
}

/**
 * The followers that are named; where none is and none is forbidden, those whose place is: an address, a bucket or a path says
 * that somebody wants it, a key alone does not.
 */
function parseVectorIndexes(values: SettingValues): readonly VectorIndexName[] {
  const named = values.get("KEEPSAKE_FOLLOWER");
  if (named === "off") return [];
  if (named !== undefined) return [...new Set(named.split(/ *, */) as VectorIndexName[])];
  const places: readonly (readonly [string, VectorIndexName])[] = [
    ["CHROMA_URL", "chroma"],
    ["S3_VECTORS_BUCKET", "s3-vectors"],
    ["FAISS_INDEX_PATH", "faiss"],
  ];
  return places.flatMap(([setting, follower]) => (values.has(setting) ? [follower] : []));
}

function parseIndexSearch(values: SettingValues): Partial<BackendSettings> {
  return dropUndefined({
    followersFrom: parseNumber(values, "KEEPSAKE_FOLLOWER_FROM"),
    patienceMs: parseNumber(values, "RETRIEVAL_TIMEOUT_MS"),
  });
}

/** In the record's own database, where no other is named. */
function parsePgvector(values: SettingValues, record: PostgresSettings | undefined): PostgresSettings {
  const url = values.get("KEEPSAKE_PGVECTOR_URL") ?? record?.url;
  if (url === undefined) {
    throw invalid("KEEPSAKE_FOLLOWER: pgvector needs KEEPSAKE_PGVECTOR_URL, where the record is a file.");
  }
  return toPostgresSettings(values, url);
}

function parseChroma(values: SettingValues): ChromaSettings {
  return dropUndefined({
    url: values.get("CHROMA_URL") ?? "http://localhost:8000",
    apiKey: values.get("CHROMA_API_KEY"),
    tenant: values.get("CHROMA_TENANT"),
    database: values.get("CHROMA_DATABASE"),
  });
}

function parsePinecone(values: SettingValues): PineconeSettings {
  return dropUndefined({
    apiKey: requireValue(values, "PINECONE_API_KEY", "pinecone"),
    index: values.get("PINECONE_INDEX") ?? values.get("KEEPSAKE_PREFIX") ?? "keepsake",
    cloud: values.get("PINECONE_CLOUD") as PineconeSettings["cloud"],
    region: values.get("PINECONE_REGION"),
    controller: values.get("PINECONE_CONTROLLER_HOST"),
  });
}

function parseS3Vectors(values: SettingValues): S3VectorsSettings {
  const accessKeyId = values.get("AWS_ACCESS_KEY_ID");
  const secretAccessKey = values.get("AWS_SECRET_ACCESS_KEY");
  const token = values.get("AWS_SESSION_TOKEN");
  return dropUndefined({
    bucket: requireValue(values, "S3_VECTORS_BUCKET", "s3-vectors"),
    region: requireValue(values, "AWS_REGION", "s3-vectors"),
    endpoint: values.get("AWS_ENDPOINT_URL_S3VECTORS"),
    // Without both, the SDK looks where AWS's own programs do.
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : dropUndefined({ accessKeyId, secretAccessKey, sessionToken: token }),
  });
}

function parseFaiss(values: SettingValues): FaissSettings {
  const gpu = values.get("USE_GPU");
  return dropUndefined({
    path: requireValue(values, "FAISS_INDEX_PATH", "faiss"),
    python: values.get("KEEPSAKE_PYTHON"),
    gpu: gpu === undefined ? undefined : ["on", "true", "1"].includes(gpu),
  });
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

/** The fields that have a value. */
function dropUndefined<Fields extends object>(
  fields: {
    readonly [Name in keyof Fields]: Fields[Name] | undefined;
  },
): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
