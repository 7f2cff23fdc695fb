import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isMemoryError } from "../errors.ts";
import { readSettings } from "./settings.ts";

type Variables = { readonly [name: string]: string };

interface CommonName {
  readonly name: string;
  /** The settings that it changes, by their names here. */
  readonly is: string;
  readonly value: string;
  /** Other variables that it belongs to. */
  readonly beside?: Variables;
}

const PINECONE = { KEEPSAKE_FOLLOWER: "pinecone", PINECONE_API_KEY: "key" };
const POSTGRES = { MEMORY_DB_URL: "postgresql://db/memory", KEEPSAKE_SECRET: "0123456789abcdef" };
const S3 = { S3_VECTORS_BUCKET: "vectors", AWS_REGION: "eu-central-1" };
const REDIS = { REDIS_URL: "redis://localhost:6379" };
const KEY = { OPENAI_API_KEY: "sk-1" };

/** Every environment variable of the documents that Keepsake was asked to fulfil, and of what they are built from. */
const VARIABLES: readonly CommonName[] = [
  { name: "DB_PATH", is: "", value: "memory_db" },
  { name: "SQL_PATH", is: "KEEPSAKE_DB", value: "memories.db" },
  { name: "EMBEDDING_MODEL", is: "EMBEDDING_MODEL", value: "text-embedding-3-small" },
  { name: "GPT_MODEL", is: "KEEPSAKE_ANSWER_MODEL", value: "gpt-4-turbo", beside: KEY },
  { name: "OPENAI_API_KEY", is: "OPENAI_API_KEY", value: "sk-1" },
  { name: "OPENAI_API_BASE", is: "OPENAI_BASE_URL", value: "http://localhost:1/v1", beside: KEY },
  {
    name: "PINECONE_API_KEY",
    is: "PINECONE_API_KEY",
    value: "key",
    beside: { KEEPSAKE_FOLLOWER: "pinecone" },
  },
  {
    name: "PINECONE_ENVIRONMENT",
    is: "PINECONE_CLOUD and PINECONE_REGION",
    value: "us-east1-gcp",
    beside: PINECONE,
  },
  { name: "POSTGRES_PASSWORD", is: "the password in MEMORY_DB_URL", value: "secret", beside: POSTGRES },
  { name: "REDIS_PASSWORD", is: "REDIS_PASSWORD", value: "secret", beside: REDIS },
  { name: "MEMORY_RETRIEVAL_TOP_K", is: "MEMORY_RETRIEVAL_TOP_K", value: "10" },
  { name: "RETRIEVAL_TIMEOUT_MS", is: "RETRIEVAL_TIMEOUT_MS", value: "50" },
  { name: "MAX_CONTEXT_TOKENS", is: "MAX_CONTEXT_TOKENS", value: "4000" },
  {
    name: "BATCH_EMBEDDING_SIZE",
    is: "BATCH_EMBEDDING_SIZE",
    value: "100",
    beside: { ...KEY, KEEPSAKE_EMBEDDER: "openai" },
  },
  { name: "MEMORY_CONFIDENCE_THRESHOLD", is: "MEMORY_CONFIDENCE_THRESHOLD", value: "0.7" },
  { name: "MEMORY_DECAY_DAYS", is: "MEMORY_DECAY_DAYS", value: "90" },
  { name: "MEMORY_CACHE_HOT_THRESHOLD", is: "MEMORY_CACHE_HOT_THRESHOLD", value: "5", beside: REDIS },
  { name: "CONNECTION_POOL_SIZE", is: "CONNECTION_POOL_SIZE", value: "10", beside: POSTGRES },
  { name: "REDIS_CACHE_TTL", is: "REDIS_CACHE_TTL", value: "3600", beside: REDIS },
  { name: "LOG_LEVEL", is: "LOG_LEVEL", value: "INFO" },
  { name: "AWS_S3_BUCKET", is: "", value: "my-bucket" },
  { name: "AWS_REGION", is: "AWS_REGION", value: "eu-west-1", beside: { S3_VECTORS_BUCKET: "vectors" } },
  {
    name: "AWS_ACCESS_KEY_ID",
    is: "AWS_ACCESS_KEY_ID",
    value: "id",
    beside: { ...S3, AWS_SECRET_ACCESS_KEY: "key" },
  },
  {
    name: "AWS_SECRET_ACCESS_KEY",
    is: "AWS_SECRET_ACCESS_KEY",
    value: "key",
    beside: { ...S3, AWS_ACCESS_KEY_ID: "id" },
  },
  { name: "MEMORY_DB_URL", is: "MEMORY_DB_URL", value: "sqlite:///memories.db" },
  { name: "FAISS_INDEX_PATH", is: "FAISS_INDEX_PATH", value: "memories.faiss" },
  { name: "USE_GPU", is: "USE_GPU", value: "True", beside: { FAISS_INDEX_PATH: "memories.faiss" } },
];

/** Every place of the YAML file of an agent, and the pragmas that belong beside those. */
const PLACES: readonly { readonly place: string; readonly is: string; readonly value: string }[] = [
  { place: "memory.sqlite.database", is: "KEEPSAKE_DB", value: "storage/memory.db" },
  { place: "memory.sqlite.pragmas.journal_mode", is: "KEEPSAKE_SQLITE_JOURNAL_MODE", value: "WAL" },
  { place: "memory.sqlite.pragmas.cache_size", is: "KEEPSAKE_SQLITE_CACHE_SIZE", value: "-64000" },
  { place: "memory.sqlite.pragmas.foreign_keys", is: "KEEPSAKE_SQLITE_FOREIGN_KEYS", value: "ON" },
  { place: "memory.sqlite.pragmas.synchronous", is: "KEEPSAKE_SQLITE_SYNCHRONOUS", value: "NORMAL" },
  { place: "memory.sqlite.pragmas.temp_store", is: "KEEPSAKE_SQLITE_TEMP_STORE", value: "MEMORY" },
  { place: "memory.sqlite.pragmas.mmap_size", is: "KEEPSAKE_SQLITE_MMAP_SIZE", value: "67108864" },
  { place: "memory.chroma.collection", is: "CHROMA_COLLECTION", value: "julep_memories" },
  { place: "memory.chroma.persist_directory", is: "CHROMA_PERSIST_DIRECTORY", value: "storage/chromadb" },
  { place: "memory.chroma.embedding_model", is: "EMBEDDING_MODEL", value: "all-MiniLM-L6-v2" },
  { place: "memory.redis.host", is: "REDIS_URL", value: "localhost" },
  { place: "memory.redis.port", is: "REDIS_URL", value: "6379" },
  { place: "memory.redis.db", is: "REDIS_URL", value: "0" },
  { place: "memory.redis.ttl", is: "REDIS_CACHE_TTL", value: "86400" },
  { place: "memory.redis.socket_timeout", is: "", value: "5" },
  { place: "memory.redis.retry_on_timeout", is: "", value: "true" },
  { place: "memory.redis.health_check_interval", is: "", value: "30" },
  { place: "memory.redis.decode_responses", is: "", value: "true" },
];

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-names-"));
  path = join(folder, "agent_config.yaml");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What reading gives: the settings that changed, or the message of the refusal. */
function read(variables: Variables, beside: Variables = {}): string {
  const changed = readAsText({ ...beside, ...variables });
  if (changed.startsWith("refused: ")) return changed;
  return changed === readAsText(beside) ? "default" : "read";
}

function readAsText(environment: Variables): string {
  try {
    return JSON.stringify(readSettings(environment));
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    return `refused: ${error.message.replaceAll(`${path}: `, "")}`;
  }
}

function readPlace(place: string, value: string): string {
  const lines = place.split(".").map((name, depth) => `${"  ".repeat(depth)}${name}:`);
  // With the servers that the values are for.
  const servers = place.includes(".ttl") ? REDIS : { CHROMA_URL: "http://localhost:8000" };
  const environment = { KEEPSAKE_CONFIG: path, ...servers };
  writeFileSync(path, "");
  const without = readAsText(place.endsWith("directory") ? { KEEPSAKE_CONFIG: path } : environment);
  writeFileSync(path, `${lines.join("\n")} ${value}\n`);
  const changed = readAsText(place.endsWith("directory") ? { KEEPSAKE_CONFIG: path } : environment);
  if (changed.startsWith("refused: ")) return changed;
  return changed === without ? "default" : "read";
}

const toRow = (name: string, value: string, outcome: string, is: string): string =>
  `| \`${name}\` | \`${value}\` | ${formatOutcome(outcome, is)} |`;

function formatOutcome(outcome: string, is: string): string {
  if (outcome.startsWith("refused")) return outcome;
  const as = is === "" ? "" : ` ${/ /.test(is) ? is : `\`${is}\``}`;
  return outcome === "read" ? `read as${as}` : `allowed; it is the default of${as}`;
}

it("reads every common name of a setting, or refuses it and says what to set", async () => {
  const variables = VARIABLES.map(({ name, is, value, beside }) =>
    toRow(name, value, read({ [name]: value }, beside), is),
  );
  const places = PLACES.map(({ place, is, value }) => toRow(place, value, readPlace(place, value), is));
  const page = [
    "# Common names of settings",
    "",
    "<!-- Written by src/config/common-names.test.ts, which reads each setting. `npx vitest run -u` updates this page. -->",
    "",
    "Systems of this kind share many names of settings. This page says what Keepsake does with each. A value that is not",
    "allowed is refused at the start, with the name of the setting and what is allowed.",
    "",
    "## The environment, and `.env`",
    "",
    "| Name | Example | Is |",
    "|---|---|---|",
    ...variables,
    "",
    "## The settings file",
    "",
    "These places of the file of an agent are read as they stand, if `KEEPSAKE_CONFIG` names the file.",
    "",
    "| Place | Example | Is |",
    "|---|---|---|",
    ...places,
    "",
  ].join("\n");
  expect(variables.filter((row) => row.includes("allowed; it is"))).toEqual([]);
  await expect(page).toMatchFileSnapshot("../../docs/reference/common-names.md");
});

it("uses the file of an agent as it stands", () => {
  writeFileSync(
    path,
    [
      "memory:",
      "  sqlite:",
      '    database: "storage/memory.db"',
      "    pragmas:",
      '      journal_mode: "WAL"',
      "      cache_size: -64000",
      "  chroma:",
      '    collection: "julep_memories"',
      '    persist_directory: "storage/chromadb"',
      '    embedding_model: "all-MiniLM-L6-v2"',
      "  redis:",
      '    host: "localhost"',
      "    port: 6379",
      "    ttl: 86400",
    ].join("\n"),
  );
  expect(readSettings({ KEEPSAKE_CONFIG: path })).toMatchObject({
    path: "storage/memory.db",
    createsFolder: true,
    sqlite: { cacheSize: -64_000 },
    embedder: { name: "minilm" },
    backends: {
      redis: { url: "redis://localhost:6379" },
      cache: { name: "redis", ttlMs: 86_400_000 },
      hasUnusedFolder: true,
    },
  });
});

it("takes the name of Chroma's collections from the file if a server is named", () => {
  writeFileSync(path, "memory:\n  chroma:\n    collection: julep_memories\n");
  const environment = { KEEPSAKE_CONFIG: path, CHROMA_URL: "http://localhost:8000" };
  expect(readSettings(environment).backends?.chroma).toMatchObject({ collection: "julep_memories" });
});
