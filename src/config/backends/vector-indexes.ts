import type { VectorIndex } from "../../ports/vector-index.ts";
import type { BackendSettings, VectorIndexName } from "../backend-settings.ts";
import { loadVendorPackage } from "../vendor-packages.ts";
import { type BackendClients, toPrefixOption } from "./connections.ts";

type VectorIndexOpener = (settings: BackendSettings, clients: BackendClients) => Promise<VectorIndex>;

/** How each follower that the settings can name is opened. */
const VECTOR_INDEX_OPENERS: { readonly [Name in VectorIndexName]: VectorIndexOpener } = {
  chroma: openChroma,
  faiss: openFaiss,
  pgvector: openPgvector,
  pinecone: openPinecone,
  redis: openRedisIndex,
  "s3-vectors": openS3Vectors,
};

/** The followers that the settings name, in their order. `unsupported` names a package that is not installed. */
export async function openVectorIndexes(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<VectorIndex[]> {
  const followers: VectorIndex[] = [];
  for (const name of settings.followers ?? []) {
    const follower = await VECTOR_INDEX_OPENERS[name](settings, clients);
    clients.closing.add(() => follower.close());
    followers.push(follower);
  }
  return followers;
}

async function openChroma(settings: BackendSettings): Promise<VectorIndex> {
  const { url, apiKey, tenant, database } = settings.chroma ?? { url: "http://localhost:8000" };
  const { ChromaClient } = await loadVendorPackage("chromadb", "CHROMA_URL");
  const { createChromaVectorIndex: chromaFollower } = await import("../../adapters/chroma/index.ts");
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
  return chromaFollower({ client, ...toPrefixOption(settings) });
}

async function openFaiss({ faiss: settings = { path: "faiss" } }: BackendSettings): Promise<VectorIndex> {
  const { createFaissVectorIndex: faissFollower } = await import("../../adapters/faiss/index.ts");
  return faissFollower(settings);
}

/** Pinecone's client cannot be told to stop waiting; what the adapter no longer waits for ends a little later. */
const PINECONE_MS = 15_000;

async function openPinecone({
  pinecone: settings = { apiKey: "", index: "keepsake" },
}: BackendSettings): Promise<VectorIndex> {
  const { apiKey, index: name, controller, ...place } = settings;
  const { Pinecone } = await loadVendorPackage("@pinecone-database/pinecone", "PINECONE_API_KEY");
  const { createPineconeVectorIndex: pineconeFollower } = await import("../../adapters/pinecone/index.ts");
  const client = new Pinecone({
    apiKey,
    // What fails is tried again by the adapter, and what hangs ends some time.
    maxRetries: 0,
    fetchApi: (address, init) => fetch(address, { ...init, signal: AbortSignal.timeout(PINECONE_MS) }),
    ...(controller === undefined ? {} : { controllerHostUrl: controller }),
  });
  return pineconeFollower({ client, name, ...place });
}

async function openRedisIndex(settings: BackendSettings, clients: BackendClients): Promise<VectorIndex> {
  const { createRedisVectorIndex: redisFollower } = await import("../../adapters/redis/index.ts");
  return redisFollower({ client: await clients.redis(), ...toPrefixOption(settings) });
}

async function openS3Vectors({ s3Vectors: settings, prefix: name }: BackendSettings): Promise<VectorIndex> {
  const { bucket = "", ...place } = settings ?? {};
  const { S3Vectors } = await loadVendorPackage("@aws-sdk/client-s3vectors", "S3_VECTORS_BUCKET");
  const { createS3VectorsIndex: s3VectorsFollower } = await import("../../adapters/s3-vectors/index.ts");
  // What fails is tried again by the adapter.
  return s3VectorsFollower({
    client: new S3Vectors({ ...place, maxAttempts: 1 }),
    bucket,
    ...(name === undefined ? {} : { name }),
  });
}

/** Beside the record, with connections of its own: a search that takes long holds up no write. */
async function openPgvector(settings: BackendSettings, { closing }: BackendClients): Promise<VectorIndex> {
  const { url, connections = 10 } = settings.pgvector ?? { url: "" };
  const { Pool } = await loadVendorPackage("pg", "KEEPSAKE_FOLLOWER");
  const { createPgvectorIndex: postgresFollower } = await import("../../adapters/postgres-index/index.ts");
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: "keepsake index",
    keepAlive: true,
  });
  // An idle connection that breaks is replaced when it is needed; without a listener it would end the process.
  pool.on("error", () => {});
  closing.add(() => pool.end());
  return postgresFollower({ pool, ...toPrefixOption(settings) });
}
