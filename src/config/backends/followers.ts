import type { Follower } from "../../ports/follower.ts";
import type { BackendSettings, FollowerName } from "../backend-settings.ts";
import { vendorPackage } from "../vendor-packages.ts";
import { type Clients, prefixOf } from "./clients.ts";

type Opening = (settings: BackendSettings, clients: Clients) => Promise<Follower>;

/** How each follower that the settings can name is opened. */
const OPENINGS: { readonly [Name in FollowerName]: Opening } = {
  chroma,
  faiss,
  pgvector,
  pinecone,
  redis,
  "s3-vectors": s3Vectors,
};

/** The followers that the settings name, in their order. `unsupported` names a package that is not installed. */
export async function openFollowers(settings: BackendSettings, clients: Clients): Promise<Follower[]> {
  const followers: Follower[] = [];
  for (const name of settings.followers ?? []) {
    const follower = await OPENINGS[name](settings, clients);
    clients.closing.add(() => follower.close());
    followers.push(follower);
  }
  return followers;
}

async function chroma(settings: BackendSettings): Promise<Follower> {
  const { url, apiKey, tenant, database } = settings.chroma ?? { url: "http://localhost:8000" };
  const { ChromaClient } = await vendorPackage("chromadb", "CHROMA_URL");
  const { chromaFollower } = await import("../../adapters/chroma/index.ts");
  const { hostname, port, protocol } = new URL(url);
  const isSafe = protocol === "https:";
  const client = new ChromaClient({
    host: hostname,
    port: Number(port || (isSafe ? 443 : 80)),
    ssl: isSafe,
    ...(tenant === undefined ? {} : { tenant }),
    ...(database === undefined ? {} : { database }),
    ...(apiKey === undefined ? {} : { headers: { "x-chroma-token": apiKey } }),
  });
  return chromaFollower({ client, ...prefixOf(settings) });
}

async function faiss({ faiss: settings = { path: "faiss" } }: BackendSettings): Promise<Follower> {
  const { faissFollower } = await import("../../adapters/faiss/index.ts");
  return faissFollower(settings);
}

/** Pinecone's client cannot be told to stop waiting; what the adapter no longer waits for ends a little later. */
const PINECONE_MS = 15_000;

async function pinecone({
  pinecone: settings = { apiKey: "", index: "keepsake" },
}: BackendSettings): Promise<Follower> {
  const { apiKey, index: name, controller, ...place } = settings;
  const { Pinecone } = await vendorPackage("@pinecone-database/pinecone", "PINECONE_API_KEY");
  const { pineconeFollower } = await import("../../adapters/pinecone/index.ts");
  const client = new Pinecone({
    apiKey,
    // What fails is tried again by the adapter, and what hangs ends some time.
    maxRetries: 0,
    fetchApi: (address, init) => fetch(address, { ...init, signal: AbortSignal.timeout(PINECONE_MS) }),
    ...(controller === undefined ? {} : { controllerHostUrl: controller }),
  });
  return pineconeFollower({ client, name, ...place });
}

async function redis(settings: BackendSettings, clients: Clients): Promise<Follower> {
  const { redisFollower } = await import("../../adapters/redis/index.ts");
  return redisFollower({ client: await clients.redis(), ...prefixOf(settings) });
}

async function s3Vectors({ s3Vectors: settings, prefix: name }: BackendSettings): Promise<Follower> {
  const { bucket = "", ...place } = settings ?? {};
  const { S3Vectors } = await vendorPackage("@aws-sdk/client-s3vectors", "S3_VECTORS_BUCKET");
  const { s3VectorsFollower } = await import("../../adapters/s3-vectors/index.ts");
  // What fails is tried again by the adapter.
  return s3VectorsFollower({
    client: new S3Vectors({ ...place, maxAttempts: 1 }),
    bucket,
    ...(name === undefined ? {} : { name }),
  });
}

/** Beside the record, with connections of its own: a search that takes long holds up no write. */
async function pgvector(settings: BackendSettings, { closing }: Clients): Promise<Follower> {
  const { url, connections = 10 } = settings.pgvector ?? { url: "" };
  const { Pool } = await vendorPackage("pg", "KEEPSAKE_FOLLOWER");
  const { postgresFollower } = await import("../../adapters/postgres-index/index.ts");
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: "keepsake index",
    keepAlive: true,
  });
  // An idle connection that breaks is replaced when it is needed; without a listener it would end the process.
  pool.on("error", () => {});
  closing.add(() => pool.end());
  return postgresFollower({ pool, ...prefixOf(settings) });
}
