import { describe, expect, it } from "vitest";
import { BACKEND_SETTINGS } from "./backend-settings.ts";
import { readSettings } from "./settings.ts";

type Environment = { readonly [name: string]: string };

const backends = (environment: Environment) => readSettings(environment).backends;
const refusal = (environment: Environment): string => {
  try {
    readSettings(environment);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

const SECRET = { KEEPSAKE_SECRET: "a secret of all servers" };
const REDIS = { REDIS_URL: "redis://localhost:6379" };

describe("the database setting", () => {
  it("selects PostgreSQL if MEMORY_DB_URL is a PostgreSQL address", () => {
    const url = "postgresql://ana:geheim@db.example:5432/memory?sslmode=require";
    expect(backends({ ...SECRET, MEMORY_DB_URL: url, CONNECTION_POOL_SIZE: "25" })).toEqual({
      postgres: { url, connections: 25 },
    });
    const archived = backends({ ...SECRET, MEMORY_DB_URL: url, KEEPSAKE_LOG_DAYS: "30" });
    expect(archived?.postgres?.logKeptMs).toBe(30 * 86_400_000);
    expect(backends({ ...SECRET, MEMORY_DB_URL: "postgres://db/memory" })?.postgres?.url).toBe(
      "postgres://db/memory",
    );
  });

  it("selects the file in KEEPSAKE_DB, whatever MEMORY_DB_URL says", () => {
    const settings = readSettings({ KEEPSAKE_DB: "a.db", MEMORY_DB_URL: "postgresql://db/memory" });
    expect([settings.path, settings.backends]).toEqual(["a.db", undefined]);
  });

  it("selects the path or address that the command names", () => {
    const url = "postgresql://db/memory";
    const here = { ...SECRET, MEMORY_DB_URL: url, KEEPSAKE_DB: "a.db" };
    expect(readSettings(here, "b.db")).toMatchObject({ path: "b.db" });
    expect(readSettings(here, "b.db").backends).toBeUndefined();
    expect(readSettings(here, "sqlite:///c.db").path).toBe("c.db");
    expect(readSettings(here, "postgresql://other/memory").backends?.postgres?.url).toBe(
      "postgresql://other/memory",
    );
    expect(readSettings({ ...SECRET, KEEPSAKE_DB: url }).backends?.postgres?.url).toBe(url);
    expect(readSettings({}, ":memory:").path).toBe(":memory:");
  });

  it("selects MariaDB if MEMORY_DB_URL is an address of MySQL or MariaDB", () => {
    for (const url of ["mysql://ana:geheim@db.example/memory", "mariadb://ana@db.example:3307/memory"]) {
      expect(backends({ ...SECRET, MEMORY_DB_URL: url, CONNECTION_POOL_SIZE: "25" })).toEqual({
        mariadb: { url, connections: 25 },
      });
    }
    expect(refusal({ MEMORY_DB_URL: "mysql://ana:geheim@db/memory" })).toMatch(
      /MariaDB needs KEEPSAKE_SECRET/,
    );
  });

  it("refuses PostgreSQL without KEEPSAKE_SECRET", () => {
    expect(refusal({ MEMORY_DB_URL: "postgresql://ana:geheim@db/memory" })).toMatch(
      /PostgreSQL needs KEEPSAKE_SECRET/,
    );
  });
});

describe("Redis settings", () => {
  it("use Redis for sessions, cache and rate limits if it is configured, and for the queue only if named", () => {
    expect(backends({ ...REDIS, REDIS_PASSWORD: "geheim", REDIS_CACHE_TTL: "600" })).toEqual({
      redis: { url: REDIS.REDIS_URL, password: "geheim" },
      sessions: "redis",
      cache: { name: "redis", ttlMs: 600_000 },
      rateLimits: "redis",
    });
    expect(backends({ ...REDIS, KEEPSAKE_QUEUE: "bullmq" })?.queue).toBe("bullmq");
  });

  it("leave to this process what is set to memory", () => {
    const here = { KEEPSAKE_SESSIONS: "memory", KEEPSAKE_CACHE: "memory", KEEPSAKE_RATE_LIMITS: "memory" };
    expect(backends({ ...REDIS, ...here, MEMORY_CACHE_HOT_THRESHOLD: "3" })).toEqual({
      redis: { url: REDIS.REDIS_URL },
      sessions: "memory",
      cache: { name: "memory", hotAfter: 3 },
    });
  });

  it.each([
    ["KEEPSAKE_SESSIONS", "redis"],
    ["KEEPSAKE_CACHE", "redis"],
    ["KEEPSAKE_RATE_LIMITS", "redis"],
    ["KEEPSAKE_QUEUE", "bullmq"],
  ])("refuse %s=%s without REDIS_URL", (setting, value) => {
    expect(refusal({ [setting]: value })).toContain(`${setting}: "${value}" needs REDIS_URL`);
  });
});

describe("vector index settings", () => {
  it("give the named indexes in order, each once", () => {
    expect(backends({ ...REDIS, KEEPSAKE_FOLLOWER: "redis, chroma,redis" })?.followers).toEqual([
      "redis",
      "chroma",
    ]);
    expect(backends({ KEEPSAKE_FOLLOWER: "chroma" })?.chroma).toEqual({ url: "http://localhost:8000" });
  });

  it("give the indexes with an address or path if none is named; a key alone is not enough", () => {
    expect(backends({ CHROMA_URL: "http://chroma:8000" })).toEqual({
      followers: ["chroma"],
      chroma: { url: "http://chroma:8000" },
    });
    expect(backends({ FAISS_INDEX_PATH: "/var/lib/index", USE_GPU: "1" })).toEqual({
      followers: ["faiss"],
      faiss: { path: "/var/lib/index", gpu: true },
    });
    expect(backends({ PINECONE_API_KEY: "pc-1", AWS_REGION: "eu-central-1" })).toBeUndefined();
    expect(backends({ CHROMA_URL: "http://chroma:8000", KEEPSAKE_FOLLOWER: "off" })).toBeUndefined();
  });

  it("pass each index its own settings", () => {
    expect(backends({ KEEPSAKE_FOLLOWER: "pinecone", PINECONE_API_KEY: "pc-1" })?.pinecone).toEqual({
      apiKey: "pc-1",
      index: "keepsake",
    });
    const bucket = { S3_VECTORS_BUCKET: "our-memory", AWS_REGION: "eu-central-1" };
    expect(backends(bucket)?.s3Vectors).toEqual({ bucket: "our-memory", region: "eu-central-1" });
    const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "key" };
    expect(backends({ ...bucket, ...keys })?.s3Vectors?.credentials).toEqual({
      accessKeyId: "id",
      secretAccessKey: "key",
    });
  });

  it("put pgvector into the database of the memories, or into its own", () => {
    const record = { ...SECRET, MEMORY_DB_URL: "postgresql://db/memory", KEEPSAKE_FOLLOWER: "pgvector" };
    expect(backends(record)?.pgvector).toEqual({ url: "postgresql://db/memory" });
    const other = { KEEPSAKE_FOLLOWER: "pgvector", KEEPSAKE_PGVECTOR_URL: "postgresql://vectors/memory" };
    expect(backends(other)).toEqual({
      followers: ["pgvector"],
      pgvector: { url: "postgresql://vectors/memory" },
    });
  });

  it("name a missing setting, and set how long a recall waits", () => {
    expect(refusal({ KEEPSAKE_FOLLOWER: "pinecone" })).toContain("pinecone needs PINECONE_API_KEY");
    expect(refusal({ S3_VECTORS_BUCKET: "our-memory" })).toContain("s3-vectors needs AWS_REGION");
    expect(refusal({ KEEPSAKE_FOLLOWER: "faiss" })).toContain("faiss needs FAISS_INDEX_PATH");
    expect(refusal({ KEEPSAKE_FOLLOWER: "redis" })).toContain("redis needs REDIS_URL");
    expect(refusal({ KEEPSAKE_FOLLOWER: "pgvector" })).toContain("pgvector needs KEEPSAKE_PGVECTOR_URL");
    const patient = { CHROMA_URL: "http://c", KEEPSAKE_FOLLOWER_FROM: "0", RETRIEVAL_TIMEOUT_MS: "200" };
    expect(backends(patient)).toMatchObject({ followersFrom: 0, patienceMs: 200 });
  });
});

it("uses KEEPSAKE_PREFIX for names on all shared servers", () => {
  const named = { KEEPSAKE_PREFIX: "shop2", ...REDIS };
  expect(backends({ ...named, ...SECRET, MEMORY_DB_URL: "postgresql://db/memory" })).toMatchObject({
    prefix: "shop2",
    postgres: { url: "postgresql://db/memory", schema: "shop2" },
  });
  const pinecone = { ...named, KEEPSAKE_FOLLOWER: "pinecone", PINECONE_API_KEY: "pc-1" };
  expect(backends(pinecone)?.pinecone?.index).toBe("shop2");
  expect(backends({ ...pinecone, PINECONE_INDEX: "memories" })?.pinecone?.index).toBe("memories");
  const place = { PINECONE_CLOUD: "gcp", PINECONE_REGION: "europe-west4" };
  expect(backends({ ...pinecone, ...place })?.pinecone).toMatchObject({
    cloud: "gcp",
    region: "europe-west4",
  });
});

it("refuses an invalid value and names the allowed ones", () => {
  const impossible: { readonly [name: string]: readonly string[] } = {
    CONNECTION_POOL_SIZE: ["0", "ten", "1001"],
    KEEPSAKE_LOG_DAYS: ["0", "7d"],
    REDIS_CACHE_TTL: ["0", "1h"],
    MEMORY_CACHE_HOT_THRESHOLD: ["-1"],
    KEEPSAKE_SESSIONS: ["Redis", "none"],
    KEEPSAKE_QUEUE: ["redis"],
    KEEPSAKE_FOLLOWER: ["milvus", "chroma pgvector", "off,chroma", "chroma,"],
    KEEPSAKE_FOLLOWER_FROM: ["-1"],
    KEEPSAKE_PREFIX: ["two words", "2shops", "Shop"],
    PINECONE_INDEX: ["My Index", "-a"],
    S3_VECTORS_BUCKET: ["ab", "Bucket"],
    AWS_REGION: ["Frankfurt"],
    USE_GPU: ["yes"],
  };
  for (const [name, values] of Object.entries(impossible)) {
    for (const value of values) {
      expect(refusal({ [name]: value })).toBe(
        `${name}: ${JSON.stringify(value)} is not allowed. Allowed: ${BACKEND_SETTINGS[name]?.allowed}.`,
      );
    }
  }
});

it("shows no password in an error about a misspelt address", () => {
  for (const [name, value] of [
    ["MEMORY_DB_URL", "postgresql:/ana:geheim@db/x"],
    ["MEMORY_DB_URL", "ana:geheim@db/x"],
    ["MEMORY_DB_URL", "postgresql//db/x?password=geheim"],
    ["REDIS_URL", "ana:geheim@localhost"],
    ["REDIS_PASSWORD", "geheim geheim"],
    ["KEEPSAKE_PGVECTOR_URL", "ana:geheim@localhost"],
    ["CHROMA_URL", "ana:geheim@localhost"],
    ["CHROMA_API_KEY", "geheim geheim"],
    ["PINECONE_API_KEY", "geheim geheim"],
    ["AWS_SECRET_ACCESS_KEY", "geheim geheim"],
    ["PINECONE_CONTROLLER_HOST", "ana:geheim@localhost"],
    ["AWS_ENDPOINT_URL_S3VECTORS", "ana:geheim@localhost"],
  ] as const) {
    const said = refusal({ [name]: value });
    expect(said).toMatch(new RegExp(`^${name}: its value is not allowed`));
    expect(said).not.toContain("geheim");
  }
});

it("does not report a short name of another program as a misspelling", () => {
  for (const name of ["USE_TPU", "USE_CPU"]) expect(readSettings({ [name]: "1" })).toEqual(readSettings({}));
  expect(() => readSettings({ REDIS_ULR: "redis://localhost" })).toThrow(/Did you mean REDIS_URL/);
});
