import { randomUUID } from "node:crypto";
import { S3Vectors } from "@aws-sdk/client-s3vectors";
import { Pinecone } from "@pinecone-database/pinecone";
import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { createPineconeVectorIndex } from "../../src/adapters/pinecone/index.ts";
import { createS3VectorsIndex } from "../../src/adapters/s3-vectors/index.ts";
import { createMemory } from "../../src/memory.ts";
import type { VectorIndex } from "../../src/ports/vector-index.ts";
import { type HttpProxy, startHttpProxy } from "../../src/testing/http-proxy.ts";
import { type PineconeServer, startPineconeServer } from "../../src/testing/pinecone/pinecone-server.ts";
import { hashEmbedder } from "../../src/testing/test-doubles.ts";
import { readIds } from "../../src/testing/vector-index/index-fixtures.ts";
import { ownServer } from "../services/own-server.ts";
import { type Hosted, treatedBadly } from "./treated-badly.ts";

const PATIENCE = { timeoutMs: 250, deadlineMs: 500 } as const;
const FAULTS = ["is down", "is slow", "has too many requests", "answers 503", "hangs", "comes back empty"];
/** What is only empty is no failure: it is filled again. */
const NOTICED = FAULTS.filter((fault) => fault !== "comes back empty");
const SILENT = "shows nothing of what it takes in";

async function pinecone(): Promise<Hosted> {
  const server: PineconeServer = await startPineconeServer({ lagMs: 20 });
  const client = new Pinecone({ apiKey: "test", controllerHostUrl: server.url, maxRetries: 0 });
  const meets = (trouble: NonNullable<PineconeServer["always"]>) => async () => {
    server.always = trouble;
    return async () => {
      server.always = undefined;
    };
  };
  return {
    follower: () => createPineconeVectorIndex({ client, settleMs: 5000, ...PATIENCE }),
    faults: {
      "is down": async () => {
        await server.down();
        return () => server.up();
      },
      "is slow": meets({ afterMs: 600 }),
      "has too many requests": meets({ status: 429 }),
      "answers 503": meets({ status: 503 }),
      hangs: meets({ it: "hangs" }),
      "comes back empty": async () => {
        server.empty();
        return async () => {};
      },
      [SILENT]: async () => {
        server.lagMs = 60_000;
        return async () => {
          server.lagMs = 20;
        };
      },
    },
    noticed: [...NOTICED, SILENT],
    close: () => server.close(),
  };
}

async function s3Vectors(address: string): Promise<Hosted> {
  const proxy: HttpProxy = await startHttpProxy(address);
  const bucket = `keepsake-${randomUUID()}`;
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const clientOf = (endpoint: string): S3Vectors =>
    new S3Vectors({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
  const [client, direct] = [clientOf(proxy.url), clientOf(address)];
  // moto loads most of itself with its first request, which takes long where the disk is cold.
  await direct.listVectorBuckets();
  const meets = (trouble: NonNullable<HttpProxy["always"]>) => async () => {
    proxy.always = trouble;
    return async () => {
      proxy.always = undefined;
    };
  };
  const refusal = (status: number, name: string) =>
    meets({ status, headers: { "x-amzn-errortype": name, "content-type": "application/json" }, body: "{}" });
  const emptied = async (): Promise<void> => {
    const { indexes = [] } = await direct.listIndexes({ vectorBucketName: bucket });
    for (const { indexName } of indexes) await direct.deleteIndex({ vectorBucketName: bucket, indexName });
    await direct.deleteVectorBucket({ vectorBucketName: bucket });
  };
  return {
    follower: () => createS3VectorsIndex({ client, bucket, ...PATIENCE }),
    faults: {
      "is down": async () => {
        await proxy.down();
        return () => proxy.up();
      },
      "is slow": meets({ afterMs: 600 }),
      "has too many requests": refusal(429, "TooManyRequestsException"),
      "answers 503": refusal(503, "ServiceUnavailableException"),
      hangs: meets({ it: "hangs" }),
      "comes back empty": async () => {
        await emptied();
        return async () => {};
      },
    },
    noticed: NOTICED,
    async close() {
      await emptied();
      client.destroy();
      direct.destroy();
      await proxy.close();
    },
  };
}

describe("Pinecone, treated badly", () => {
  treatedBadly(pinecone, [...FAULTS, SILENT]);
});

/** The server itself killed, which keeps nothing, and stopped where it stands. */
async function ownS3Vectors(): Promise<Hosted> {
  const server = await ownServer("s3-vectors");
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const place = { endpoint: server.address, region: "us-east-1", credentials };
  const client = new S3Vectors({ ...place, maxAttempts: 1 });
  await client.listVectorBuckets();
  return {
    follower: () =>
      createS3VectorsIndex({ client, bucket: "keepsake-own", timeoutMs: 1000, deadlineMs: 2000 }),
    faults: {
      async "is down"() {
        await server.kill();
        return async () => {
          await server.start();
          await new S3Vectors(place).listVectorBuckets();
        };
      },
      async hangs() {
        server.pause();
        return async () => server.goOn();
      },
    },
    noticed: ["is down", "hangs"],
    async close() {
      client.destroy();
      await server.remove();
    },
  };
}

const address = process.env.KEEPSAKE_TEST_S3_VECTORS;
const why = 'needs KEEPSAKE_TEST_S3_VECTORS: eval "$(test/services/up s3-vectors)"';

describe.skipIf(!address)(`S3 Vectors, treated badly (${address ? "a server of its protocol" : why})`, () => {
  treatedBadly(() => s3Vectors(address ?? ""), FAULTS);
});

describe.skipIf(!address)(`S3 Vectors, killed and stopped (${address ? "its own server" : why})`, () => {
  treatedBadly(ownS3Vectors, ["is down", "hangs"]);
});

/** One record or vector of a service, as its own client gives it. */
interface Stored {
  readonly id: string;
  readonly values: readonly number[];
  readonly metadata: unknown;
}

/** What the vendor's own client finds in the service after an erasure: nothing of what went, and no name. */
async function leavesNothing(follower: VectorIndex, everything: () => Promise<Stored[]>): Promise<void> {
  const scope = { project: "default", user: "ann-of-the-test" };
  const record = createInMemoryStore();
  const indexSearch = { from: 0, timeoutMs: 2000, erasureMs: 10_000 };
  await using keepsake = await createMemory({
    record,
    index: follower,
    embedder: hashEmbedder(64),
    indexSearch,
  });
  const ann = keepsake.scope({ user: scope.user });
  await ann.remember("I use Shram and Magnet as productivity tools. I keep bees.");
  const before = (await record.since(scope, 0)).units;
  const held = () => readIds(follower, scope).catch(() => []);
  await expect.poll(held, { timeout: 20_000 }).toHaveLength(before.length);
  const receipt = await ann.forget("Forget that I ever mentioned Magnet.");
  expect(receipt.complete).toBe(true);
  expect(receipt.remains?.length).toBeGreaterThan(0);
  const after = (await record.since(scope, 0)).units;
  await expect.poll(held, { timeout: 20_000 }).toHaveLength(after.length);
  const gone = before.filter(({ vector }) => !after.some((one) => isSame(one.vector, vector)));
  expect(gone.length).toBeGreaterThan(1);
  const stored = await everything();
  expect(stored.length).toBeGreaterThanOrEqual(after.length);
  expect(stored.filter(({ values }) => gone.some(({ vector }) => isSame(vector, values)))).toEqual([]);
  const words = JSON.stringify(stored);
  for (const id of receipt.ids) expect(words).not.toContain(id);
  expect(words).not.toMatch(/Magnet|ann-of-the-test/);
}

const isSame = (one: ArrayLike<number>, other: ArrayLike<number>): boolean =>
  one.length === other.length && Array.from(one).every((part, i) => Math.abs(part - (other[i] ?? 0)) < 1e-6);

describe("an erasure, looked for with the vendor's own client", () => {
  it("leaves nothing in Pinecone", { timeout: 60_000 }, async () => {
    await using server = await startPineconeServer({ lagMs: 50 });
    const client = new Pinecone({ apiKey: "test", controllerHostUrl: server.url });
    await leavesNothing(createPineconeVectorIndex({ client }), async () => {
      const all: Stored[] = [];
      for (const { host } of (await client.listIndexes()).indexes ?? []) {
        const index = client.index({ host });
        for (const { name = "" } of (await index.listNamespaces()).namespaces ?? []) {
          const { vectors = [] } = await index.namespace(name).listPaginated();
          const ids = vectors.map(({ id = "" }) => id);
          const { records } = await index.namespace(name).fetch({ ids });
          for (const { id, values, metadata } of Object.values(records))
            all.push({ id: `${name} ${decodeURIComponent(id)}`, values: values ?? [], metadata });
        }
      }
      return all;
    });
  });

  it.skipIf(!address)(
    `leaves nothing in S3 Vectors${address ? "" : ` (${why})`}`,
    { timeout: 60_000 },
    async () => {
      const credentials = { accessKeyId: "test", secretAccessKey: "test" };
      const client = new S3Vectors({ endpoint: address ?? "", region: "us-east-1", credentials });
      const place = { vectorBucketName: `keepsake-${randomUUID()}` };
      const follower = createS3VectorsIndex({ client, bucket: place.vectorBucketName });
      await leavesNothing(follower, async () => {
        const all: Stored[] = [];
        for (const { indexName } of (await client.listIndexes(place)).indexes ?? []) {
          const whole = { ...place, indexName, returnData: true, returnMetadata: true };
          for (const { key = "", data, metadata } of (await client.listVectors(whole)).vectors ?? [])
            all.push({ id: key, values: data?.float32 ?? [], metadata });
        }
        return all;
      });
      for (const { indexName } of (await client.listIndexes(place)).indexes ?? [])
        await client.deleteIndex({ ...place, indexName });
      await client.deleteVectorBucket(place);
      client.destroy();
    },
  );
});
