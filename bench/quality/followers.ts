import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Vectors } from "@aws-sdk/client-s3vectors";
import { Pinecone } from "@pinecone-database/pinecone";
import { ChromaClient } from "chromadb";
import { Redis } from "ioredis";
import { Pool } from "pg";
import { createChromaVectorIndex } from "../../src/adapters/chroma/index.ts";
import { createFaissVectorIndex } from "../../src/adapters/faiss/index.ts";
import { createInMemoryVectorIndex } from "../../src/adapters/memory/index.ts";
import { createPineconeVectorIndex } from "../../src/adapters/pinecone/index.ts";
import { createPgvectorIndex } from "../../src/adapters/postgres-index/index.ts";
import { createRedisVectorIndex, REDIS_CLIENT } from "../../src/adapters/redis/index.ts";
import { createS3VectorsIndex } from "../../src/adapters/s3-vectors/index.ts";
import type { VectorIndex } from "../../src/index.ts";
import { startPineconeServer } from "../../src/testing/pinecone/pinecone-server.ts";

/** Makes followers that nobody else uses, one for each memory. */
export interface FollowerPlace {
  /** `name` is one that no other has: small letters and digits. */
  open(name: string): Promise<VectorIndex>;
  close(): Promise<void>;
}

/** What the environment says of the servers for tests: what `test/services/up` prints. */
export type TestServers = { readonly [name: string]: string | undefined };

/** Every follower by its name, where it is in the servers for tests. */
export const FOLLOWER_PLACES: { readonly [name: string]: (servers: TestServers) => Promise<FollowerPlace> } =
  {
    memory: async () => ({ open: async () => createInMemoryVectorIndex(), close: async () => {} }),
    chroma,
    faiss,
    pgvector,
    pinecone,
    redis,
    "s3-vectors": s3Vectors,
  };

export function addressOf(servers: TestServers, name: string): string {
  const address = servers[name];
  if (address === undefined)
    throw new Error(`${name} is not set: eval "$(test/services/up)" starts a server and sets it.`);
  return address;
}

async function chroma(servers: TestServers): Promise<FollowerPlace> {
  const { hostname, port } = new URL(addressOf(servers, "KEEPSAKE_TEST_CHROMA"));
  const client = new ChromaClient({ host: hostname, port: Number(port), ssl: false });
  return { open: async (prefix) => createChromaVectorIndex({ client, prefix }), close: async () => {} };
}

async function faiss(servers: TestServers): Promise<FollowerPlace> {
  const python = addressOf(servers, "KEEPSAKE_TEST_FAISS");
  const folder = await mkdtemp(join(tmpdir(), "keepsake-faiss-"));
  return {
    open: async (name) => createFaissVectorIndex({ path: join(folder, name), python }),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

async function pgvector(servers: TestServers): Promise<FollowerPlace> {
  const pool = new Pool({ connectionString: addressOf(servers, "KEEPSAKE_TEST_POSTGRES") });
  const prefixes: string[] = [];
  return {
    async open(prefix) {
      prefixes.push(prefix);
      return createPgvectorIndex({ pool, prefix });
    },
    async close() {
      for (const prefix of prefixes) {
        await pool.query(`DROP TABLE IF EXISTS ${prefix}_index, ${prefix}_index_space`);
      }
      await pool.end();
    },
  };
}

async function redis(servers: TestServers): Promise<FollowerPlace> {
  const client = new Redis(addressOf(servers, "KEEPSAKE_TEST_REDIS"), { ...REDIS_CLIENT, lazyConnect: true });
  await client.connect();
  return {
    open: async (prefix) => createRedisVectorIndex({ client, prefix }),
    close: async () => client.disconnect(),
  };
}

/** In this process: Pinecone itself has no server to be had. */
async function pinecone(): Promise<FollowerPlace> {
  const server = await startPineconeServer();
  const client = new Pinecone({ apiKey: "any", controllerHostUrl: server.url, maxRetries: 0 });
  return { open: async (name) => createPineconeVectorIndex({ client, name }), close: () => server.close() };
}

async function s3Vectors(servers: TestServers): Promise<FollowerPlace> {
  const client = new S3Vectors({
    endpoint: addressOf(servers, "KEEPSAKE_TEST_S3_VECTORS"),
    region: "eu-central-1",
    maxAttempts: 1,
    credentials: { accessKeyId: "any", secretAccessKey: "any" },
  });
  const bucket = `keepsake-${randomUUID()}`;
  return {
    open: async (name) => createS3VectorsIndex({ client, bucket, name }),
    async close() {
      await client.deleteVectorBucket({ vectorBucketName: bucket }).catch(() => {});
      client.destroy();
    },
  };
}
