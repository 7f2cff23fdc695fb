import type { VectorIndex } from "../../ports/vector-index.ts";
import type { BackendSettings, VectorIndexName } from "../backend-settings.ts";
import { loadVendorPackage } from "../vendor-packages.ts";
import { type BackendClients, toPrefixOption } from "./connections.ts";

type VectorIndexOpener = (settings: BackendSettings, clients: BackendClients) => Promise<VectorIndex>;

/** Opens each kind of vector index. */
const VECTOR_INDEX_OPENERS: { readonly [Name in VectorIndexName]: VectorIndexOpener } = {
  chroma: openChroma,
  faiss: openFaiss,
  pgvector: openPgvector,
  pinecone: openPinecone,
  redis: openRedisIndex,
  "s3-vectors": openS3Vectors,
};

/** Opens the configured vector indexes, in order. Throws `unsupported` if a package is not installed. */
export async function openVectorIndexes(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<VectorIndex[]> {
  const indexes: VectorIndex[] = [];
  for (const name of settings.followers ?? []) {
    const index = await VECTOR_INDEX_OPENERS[name](settings, clients);
    clients.closing.add(() => index.close());
    indexes.push(index);
  }
  return indexes;
}

async function openChroma(settings: BackendSettings): Promise<VectorIndex> {
  const { url, apiKey, tenant, database, collection } = settings.chroma ?? { url: "http://localhost:8000" };
  const { ChromaClient } = await loadVendorPackage("chromadb", "CHROMA_URL");
  const { createChromaVectorIndex } = await import("../../adapters/chroma/index.ts");
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
  const prefix = collection === undefined ? toPrefixOption(settings) : { prefix: collection };
  return createChromaVectorIndex({ client, ...prefix });
}

async function openFaiss({ faiss: settings = { path: "faiss" } }: BackendSettings): Promise<VectorIndex> {
  const { createFaissVectorIndex } = await import("../../adapters/faiss/index.ts");
  return createFaissVectorIndex(settings);
}

/** Time limit of a Pinecone request, in ms. Its client cannot be aborted, so abandoned requests end a little later. */
const PINECONE_MS = 15_000;

async function openPinecone({
  pinecone: settings = { apiKey: "", index: "keepsake" },
}: BackendSettings): Promise<VectorIndex> {
  const { apiKey, index: name, controller, ...place } = settings;
  const { Pinecone } = await loadVendorPackage("@pinecone-database/pinecone", "PINECONE_API_KEY");
  const { createPineconeVectorIndex } = await import("../../adapters/pinecone/index.ts");
  const client = new Pinecone({
    apiKey,
    // The adapter retries failed requests, and hanging requests end at the time limit.
    maxRetries: 0,
    fetchApi: (address, init) => fetch(address, { ...init, signal: AbortSignal.timeout(PINECONE_MS) }),
    ...(controller === undefined ? {} : { controllerHostUrl: controller }),
  });
  return createPineconeVectorIndex({ client, name, ...place });
}

async function openRedisIndex(settings: BackendSettings, clients: BackendClients): Promise<VectorIndex> {
  const { createRedisVectorIndex } = await import("../../adapters/redis/index.ts");
  return createRedisVectorIndex({ client: await clients.redis(), ...toPrefixOption(settings) });
}

async function openS3Vectors({ s3Vectors: settings, prefix: name }: BackendSettings): Promise<VectorIndex> {
  const { bucket = "", ...place } = settings ?? {};
  const { S3Vectors } = await loadVendorPackage("@aws-sdk/client-s3vectors", "S3_VECTORS_BUCKET");
  const { createS3VectorsIndex } = await import("../../adapters/s3-vectors/index.ts");
  // The adapter retries failed requests.
  return createS3VectorsIndex({
    client: new S3Vectors({ ...place, maxAttempts: 1 }),
    bucket,
    ...(name === undefined ? {} : { name }),
  });
}

/** Opens pgvector with its own connections, so that a slow search does not delay writes. */
async function openPgvector(settings: BackendSettings, { closing }: BackendClients): Promise<VectorIndex> {
  const { url, connections = 10 } = settings.pgvector ?? { url: "" };
  const { Pool } = await loadVendorPackage("pg", "KEEPSAKE_FOLLOWER");
  const { createPgvectorIndex } = await import("../../adapters/postgres-index/index.ts");
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: "keepsake index",
    keepAlive: true,
  });
  // A broken idle connection is replaced on demand. Without a listener, it would end the process.
  pool.on("error", () => {});
  closing.add(() => pool.end());
  return createPgvectorIndex({ pool, ...toPrefixOption(settings) });
}
