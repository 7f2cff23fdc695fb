import * as z from "zod";
import { invalid } from "../errors.ts";
import {
  type BackendSettings,
  type ChromaSettings,
  type FaissSettings,
  FOLLOWERS,
  type FollowerName,
  type PineconeSettings,
  type PostgresSettings,
  type RedisSettings,
  type S3VectorsSettings,
} from "./backend-shapes.ts";

export type {
  BackendSettings,
  CacheSettings,
  ChromaSettings,
  FaissSettings,
  FollowerName,
  PineconeSettings,
  PostgresSettings,
  RedisSettings,
  S3VectorsSettings,
} from "./backend-shapes.ts";
export { FOLLOWERS } from "./backend-shapes.ts";

interface Setting {
  readonly schema: z.ZodType;
  readonly allowed: string;
  readonly isSecret?: boolean | RegExp;
}

function count(least: number, most: number): Setting {
  const schema = z.string().regex(/^\d{1,9}$/);
  return {
    schema: schema.transform(Number).pipe(z.number().min(least).max(most)),
    allowed: `a number from ${least} to ${most}`,
  };
}

const key: Setting = {
  schema: z.string().regex(/^[\x21-\x7e]{1,4096}$/),
  allowed: "visible ASCII characters",
  isSecret: true,
};

const folder: Setting = { schema: z.string().regex(/^[^\0]+$/), allowed: "a path of a folder" };
const path: Setting = { schema: z.string().regex(/^[^\0]+$/), allowed: "a path of a file" };

const name: Setting = {
  schema: z.string().regex(/^[\w.-]{1,128}$/),
  allowed: "up to 128 letters, digits, dots, - and _",
};

// People put passwords into addresses, so the value of one is not shown.
function address(pattern: RegExp, allowed: string): Setting {
  return { schema: z.string().regex(pattern), allowed, isSecret: true };
}

const LIST = FOLLOWERS.join("|");

/** Every setting of what stands beside this machine's file, by name, with what it may be. */
export const BACKEND_SETTINGS: { readonly [name: string]: Setting } = {
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
  CONNECTION_POOL_SIZE: count(1, 1000),
  KEEPSAKE_LOG_DAYS: count(1, 3650),
  KEEPSAKE_ERASURES: path,
  REDIS_URL: address(/^rediss?:\/\/[^\s]+$/, "an address such as redis://localhost:6379"),
  REDIS_PASSWORD: key,
  REDIS_CACHE_TTL: count(1, 31_536_000),
  MEMORY_CACHE_HOT_THRESHOLD: count(0, 1_000_000),
  KEEPSAKE_SESSIONS: { schema: z.enum(["memory", "redis"]), allowed: "memory or redis" },
  KEEPSAKE_CACHE: { schema: z.enum(["memory", "redis"]), allowed: "memory or redis" },
  KEEPSAKE_RATE_LIMITS: { schema: z.enum(["memory", "redis"]), allowed: "memory or redis" },
  KEEPSAKE_QUEUE: { schema: z.enum(["memory", "bullmq"]), allowed: "memory or bullmq" },
  KEEPSAKE_FOLLOWER: {
    schema: z.string().regex(new RegExp(`^(?:off|(?:${LIST})(?: *, *(?:${LIST}))*)$`)),
    allowed: `off, or some of ${FOLLOWERS.join(", ")}, with commas between them`,
  },
  KEEPSAKE_FOLLOWER_FROM: count(0, 999_999_999),
  KEEPSAKE_PGVECTOR_URL: address(
    /^postgres(?:ql)?:\/\/[^\s\0/]/,
    "an address such as postgresql://USER:PASSWORD@HOST/DATABASE",
  ),
  CHROMA_URL: address(/^https?:\/\/[^\s]+$/, "an address such as http://localhost:8000"),
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
  PINECONE_CONTROLLER_HOST: address(/^https?:\/\/[^\s]+$/, "an address such as https://api.pinecone.io"),
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
  AWS_ENDPOINT_URL_S3VECTORS: address(/^https?:\/\/[^\s]+$/, "an address such as http://localhost:15435"),
  FAISS_INDEX_PATH: folder,
  KEEPSAKE_PYTHON: path,
  USE_GPU: {
    schema: z.enum(["on", "off", "true", "false", "1", "0"]),
    allowed: "on, off, true, false, 1 or 0",
  },
};

type Values = ReadonlyMap<string, string>;

/** What checked values say of it; nothing where they say nothing. `invalid_input` where one needs another that is not set. */
export function backendsIn(values: Values): BackendSettings | undefined {
  const followers = followersIn(values);
  const redis = redisIn(values);
  const postgres = postgresIn(values);
  if (followers.includes("redis") && !redis) throw invalid("KEEPSAKE_FOLLOWER: redis needs REDIS_URL.");
  const settings: BackendSettings = defined({
    prefix: values.get("KEEPSAKE_PREFIX"),
    postgres,
    redis,
    ...onRedis(values, redis),
    ...(followers.length === 0 ? {} : { followers, ...patienceIn(values) }),
    pgvector: followers.includes("pgvector") ? pgvectorIn(values, postgres) : undefined,
    chroma: followers.includes("chroma") ? chromaIn(values) : undefined,
    pinecone: followers.includes("pinecone") ? pineconeIn(values) : undefined,
    s3Vectors: followers.includes("s3-vectors") ? s3VectorsIn(values) : undefined,
    faiss: followers.includes("faiss") ? faissIn(values) : undefined,
  });
  return Object.keys(settings).length > 0 ? settings : undefined;
}

/** Nothing where the record is a file: a path that is named wins over an address. */
const DAY_MS = 86_400_000;

function postgresIn(values: Values): PostgresSettings | undefined {
  const url = values.get("MEMORY_DB_URL");
  if (url === undefined || url.startsWith("sqlite:") || values.has("KEEPSAKE_DB")) return undefined;
  if (!values.has("KEEPSAKE_SECRET")) {
    throw invalid(
      "MEMORY_DB_URL: with PostgreSQL, KEEPSAKE_SECRET must be set, for all servers share it. `openssl rand -hex 32` makes one.",
    );
  }
  const days = number(values, "KEEPSAKE_LOG_DAYS");
  return defined({
    ...postgresAt(values, url),
    ledger: values.get("KEEPSAKE_ERASURES"),
    logKeptMs: days === undefined ? undefined : days * DAY_MS,
  });
}

function postgresAt(values: Values, url: string): PostgresSettings {
  const connections = number(values, "CONNECTION_POOL_SIZE");
  return defined({ url, schema: values.get("KEEPSAKE_PREFIX"), connections });
}

function redisIn(values: Values): RedisSettings | undefined {
  const url = values.get("REDIS_URL");
  return url === undefined ? undefined : defined({ url, password: values.get("REDIS_PASSWORD") });
}

/** What runs on Redis: where there is one, sessions, the cache and the limits of rates; the queue only where it is asked for. */
function onRedis(values: Values, redis: RedisSettings | undefined): Partial<BackendSettings> {
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
  const seconds = number(values, "REDIS_CACHE_TTL");
  return {
    sessions: place("KEEPSAKE_SESSIONS"),
    cache: cache && {
      name: cache,
      ...defined({
        ttlMs: seconds === undefined ? undefined : seconds * 1000,
        hotAfter: number(values, "MEMORY_CACHE_HOT_THRESHOLD"),
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
function followersIn(values: Values): readonly FollowerName[] {
  const named = values.get("KEEPSAKE_FOLLOWER");
  if (named === "off") return [];
  if (named !== undefined) return [...new Set(named.split(/ *, */) as FollowerName[])];
  const places: readonly (readonly [string, FollowerName])[] = [
    ["CHROMA_URL", "chroma"],
    ["S3_VECTORS_BUCKET", "s3-vectors"],
    ["FAISS_INDEX_PATH", "faiss"],
  ];
  return places.flatMap(([setting, follower]) => (values.has(setting) ? [follower] : []));
}

function patienceIn(values: Values): Partial<BackendSettings> {
  return defined({
    followersFrom: number(values, "KEEPSAKE_FOLLOWER_FROM"),
    patienceMs: number(values, "RETRIEVAL_TIMEOUT_MS"),
  });
}

/** In the record's own database, where no other is named. */
function pgvectorIn(values: Values, record: PostgresSettings | undefined): PostgresSettings {
  const url = values.get("KEEPSAKE_PGVECTOR_URL") ?? record?.url;
  if (url === undefined) {
    throw invalid("KEEPSAKE_FOLLOWER: pgvector needs KEEPSAKE_PGVECTOR_URL, where the record is a file.");
  }
  return postgresAt(values, url);
}

function chromaIn(values: Values): ChromaSettings {
  return defined({
    url: values.get("CHROMA_URL") ?? "http://localhost:8000",
    apiKey: values.get("CHROMA_API_KEY"),
    tenant: values.get("CHROMA_TENANT"),
    database: values.get("CHROMA_DATABASE"),
  });
}

function pineconeIn(values: Values): PineconeSettings {
  return defined({
    apiKey: needed(values, "PINECONE_API_KEY", "pinecone"),
    index: values.get("PINECONE_INDEX") ?? values.get("KEEPSAKE_PREFIX") ?? "keepsake",
    cloud: values.get("PINECONE_CLOUD") as PineconeSettings["cloud"],
    region: values.get("PINECONE_REGION"),
    controller: values.get("PINECONE_CONTROLLER_HOST"),
  });
}

function s3VectorsIn(values: Values): S3VectorsSettings {
  const accessKeyId = values.get("AWS_ACCESS_KEY_ID");
  const secretAccessKey = values.get("AWS_SECRET_ACCESS_KEY");
  const token = values.get("AWS_SESSION_TOKEN");
  return defined({
    bucket: needed(values, "S3_VECTORS_BUCKET", "s3-vectors"),
    region: needed(values, "AWS_REGION", "s3-vectors"),
    endpoint: values.get("AWS_ENDPOINT_URL_S3VECTORS"),
    // Without both, the SDK looks where AWS's own programs do.
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : defined({ accessKeyId, secretAccessKey, sessionToken: token }),
  });
}

function faissIn(values: Values): FaissSettings {
  const gpu = values.get("USE_GPU");
  return defined({
    path: needed(values, "FAISS_INDEX_PATH", "faiss"),
    python: values.get("KEEPSAKE_PYTHON"),
    gpu: gpu === undefined ? undefined : ["on", "true", "1"].includes(gpu),
  });
}

function needed(values: Values, setting: string, follower: FollowerName): string {
  const value = values.get(setting);
  if (value === undefined) throw invalid(`KEEPSAKE_FOLLOWER: ${follower} needs ${setting}.`);
  return value;
}

function number(values: Values, setting: string): number | undefined {
  const value = values.get(setting);
  return value === undefined ? undefined : Number(value);
}

/** The fields that have a value. */
function defined<Fields extends object>(
  fields: {
    readonly [Name in keyof Fields]: Fields[Name] | undefined;
  },
): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
