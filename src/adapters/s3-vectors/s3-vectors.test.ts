import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { S3Vectors } from "@aws-sdk/client-s3vectors";
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import type { VectorIndex, VectorIndexEntry } from "../../ports/vector-index.ts";
import { type HttpProxy, startHttpProxy } from "../../testing/http-proxy.ts";
import {
  makeEntry,
  makeRandomVectors,
  makeUnitVector,
  readIds,
} from "../../testing/vector-index/index-fixtures.ts";
import { vectorIndexConformance } from "../../testing/vector-index/vector-index-conformance.ts";
import { createS3VectorsIndex, type S3VectorsClient, type S3VectorsIndexOptions } from "./index.ts";

const { KEEPSAKE_TEST_S3_VECTORS: address } = process.env;
const why = 'needs KEEPSAKE_TEST_S3_VECTORS: eval "$(test/services/up s3-vectors)"';

const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const clientOf = (endpoint: string): S3Vectors =>
  new S3Vectors({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });

describe("the client of @aws-sdk/client-s3vectors", () => {
  it("fits the adapter", () => {
    expectTypeOf<S3Vectors>().toExtend<S3VectorsClient>();
  });
});

describe.skipIf(!address)(`S3 Vectors (${address ? "a server of its protocol" : why})`, () => {
  const bucket = `keepsake-${randomUUID()}`;
  const names = new WeakMap<VectorIndex, string>();
  let proxy: HttpProxy;
  let client: S3Vectors;
  beforeAll(async () => {
    proxy = await startHttpProxy(address ?? "");
    client = clientOf(proxy.url);
    // moto loads most of itself with its first request, which takes long where the disk is cold.
    await clientOf(address ?? "").listVectorBuckets();
  }, 120_000);
  afterAll(async () => {
    await clientOf(address ?? "").deleteVectorBucket({ vectorBucketName: bucket });
    client.destroy();
    await proxy.close();
  });

  const opened = (name: string, options: Partial<S3VectorsIndexOptions> = {}): VectorIndex => {
    const follower = createS3VectorsIndex({ client, bucket, name, deadlineMs: 2500, ...options });
    names.set(follower, name);
    return follower;
  };
  const nameOf = (follower: VectorIndex): string => names.get(follower) ?? "";
  let count = 0;
  const freshName = (): string => {
    count += 1;
    return `suite-${count}`;
  };

  vectorIndexConformance({
    name: "s3-vectors",
    open: async () => opened(freshName()),
    reopen: async (follower) => opened(nameOf(follower)),
    second: async (follower) => opened(nameOf(follower)),
    remove: (follower) => opened(nameOf(follower)).clear(),
    outage: { begin: () => proxy.down(), end: () => proxy.up() },
  });
  vectorIndexConformance({
    name: "s3-vectors, all users in one index",
    open: async () => opened(freshName(), { indexes: 1 }),
    remove: (follower) => opened(nameOf(follower), { indexes: 1 }).clear(),
  });

  const ANN = { project: "default", user: "ann-the-user" };
  const BOB = { project: "default", user: "bob-the-user" };
  const SPACE = { fingerprint: "test/8", dimensions: 8 };
  const many = (count: number, dimensions = 8): VectorIndexEntry[] =>
    makeRandomVectors(count, dimensions).map((vector, i) => makeEntry(`e${i}`, vector));
  const ids = (entries: readonly VectorIndexEntry[]): string[] => entries.map(({ id }) => id);
  /** What AWS answers where it refuses: the name in a header, the rest in a body. */
  const refusal = (status: number, name: string) => ({
    status,
    headers: { "x-amzn-errortype": name, "content-type": "application/json" },
    body: JSON.stringify({ message: "by order of the test" }),
  });
  const sent = (path: string): string[] => proxy.received.filter((one) => one === path);
  const indexNames = async (name: string): Promise<string[]> => {
    const { indexes = [] } = await client.listIndexes({ vectorBucketName: bucket, prefix: `${name}-` });
    return indexes.map(({ indexName = "" }) => indexName).sort();
  };

  describe("the vector index in S3 Vectors", () => {
    const all: VectorIndex[] = [];
    const prepared = async (
      options: Partial<S3VectorsIndexOptions> = {},
      space = SPACE,
    ): Promise<VectorIndex> => {
      const follower = opened(freshName(), options);
      all.push(follower);
      await follower.prepare(space);
      proxy.received.length = 0;
      return follower;
    };
    afterEach(async () => {
      proxy.troubles.length = 0;
      proxy.always = undefined;
      for (const follower of all.splice(0)) await opened(nameOf(follower)).clear();
    });

    it("keeps every request within the service's limits", { timeout: 60_000 }, async () => {
      const follower = await prepared({ deadlineMs: 12_000 });
      const entries = many(1200);
      await follower.put(ANN, entries);
      // One more: the first finds that the index is missing.
      expect(sent("/PutVectors")).toHaveLength(4);
      expect((await follower.held(ANN, ids(entries))).length).toBe(1200);
      expect(sent("/GetVectors")).toHaveLength(12);
      expect(await follower.nearest(ANN, makeUnitVector([1]), { limit: 256 })).toHaveLength(100);
      await follower.dropUser(ANN);
      expect(sent("/ListVectors")).toHaveLength(2);
      expect(sent("/DeleteVectors")).toHaveLength(3);
      expect(await readIds(follower, ANN)).toEqual([]);
    });

    it("accepts the longest metadata together with long texts", async () => {
      const follower = await prepared();
      const longest = { owner: "m".repeat(512), session: "s".repeat(512), kind: "preference" };
      const one = { ...makeEntry(`${"m".repeat(512)}#12`, [1], longest), text: "word ".repeat(2000) };
      await follower.put(ANN, [one]);
      expect(await follower.held(ANN, [one.id])).toEqual([one.id]);
      const where = { session: longest.session };
      expect(await follower.nearest(ANN, makeUnitVector([1]), { limit: 3, where })).toHaveLength(1);
    });

    it("retries rate-limited requests and temporary failures", async () => {
      const follower = await prepared({ deadlineMs: 12_000 });
      proxy.troubles.push(
        { at: "/PutVectors", ...refusal(429, "TooManyRequestsException") },
        { at: "/PutVectors", ...refusal(503, "ServiceUnavailableException") },
        { at: "/CreateIndex", it: "hangs up" },
        { at: "/GetVectors", it: "answers nonsense" },
      );
      await follower.put(ANN, many(3));
      expect(await follower.held(ANN, ["e0", "e1", "e2"])).toHaveLength(3);
    });

    it("does not retry permanent errors, and does not show the request", async () => {
      const follower = await prepared();
      await follower.put(ANN, many(1));
      proxy.received.length = 0;
      const failed: unknown[] = [];
      for (const [status, name, code] of [
        [400, "ValidationException", "invalid_input"],
        [403, "AccessDeniedException", "forbidden"],
        [402, "ServiceQuotaExceededException", "unavailable"],
      ] as const) {
        proxy.troubles.push({ at: "/QueryVectors", ...refusal(status, name) });
        const query = follower.nearest(ANN, makeUnitVector([1]), { limit: 3, where: { owner: "zebra" } });
        const error: unknown = await query.catch((one: unknown) => one);
        expect(error).toMatchObject({ code });
        failed.push(error);
      }
      expect(sent("/QueryVectors")).toHaveLength(3);
      expect(inspect(failed, { depth: 9 })).not.toMatch(/zebra|ann-the-user|by order/);
    });

    it("waits for a hanging server until the deadline, and no longer", async () => {
      const follower = await prepared({ timeoutMs: 500, deadlineMs: 700 });
      proxy.always = { it: "hangs" };
      const begun = performance.now();
      await expect(follower.held(ANN, ["e0"])).rejects.toMatchObject({ code: "unavailable" });
      await expect(follower.put(ANN, many(1))).rejects.toMatchObject({ code: "unavailable" });
      expect(performance.now() - begun).toBeLessThan(3000);
    });

    it("creates a missing bucket and index, and one index for two concurrent callers", async () => {
      const own = `keepsake-${randomUUID()}`;
      const direct = clientOf(address ?? "");
      const follower = opened("fresh", { bucket: own, indexes: 1 });
      await follower.prepare(SPACE);
      await Promise.all([follower.put(ANN, many(2)), follower.put(BOB, many(2))]);
      expect(sent("/CreateIndex").length).toBeLessThanOrEqual(1);
      expect(await readIds(follower, ANN)).toEqual(["e0", "e1"]);
      expect(await readIds(follower, BOB)).toEqual(["e0", "e1"]);
      await follower.clear();
      await direct.deleteVectorBucket({ vectorBucketName: own });
      direct.destroy();
    });

    it("reports a lost index once, then recreates it", async () => {
      const follower = await prepared();
      await follower.put(ANN, many(2));
      const [indexName] = await indexNames(nameOf(follower));
      await client.deleteIndex({ vectorBucketName: bucket, indexName });
      await expect(follower.put(ANN, many(1))).rejects.toMatchObject({ code: "unavailable" });
      await follower.prepare(SPACE);
      expect(await follower.held(ANN, ["e0", "e1"])).toEqual([]);
      await follower.put(ANN, many(1));
      expect(await readIds(follower, ANN)).toEqual(["e0"]);
    });

    it("deletes only its own indexes when the space changes", async () => {
      const follower = await prepared();
      const name = nameOf(follower);
      const theirs = `${name}-theirs`;
      const made = { vectorBucketName: bucket, dataType: "float32", distanceMetric: "cosine" } as const;
      await client.createIndex({ ...made, indexName: theirs, dimension: 3 });
      await follower.put(ANN, many(1));
      const [before] = await indexNames(name);
      await follower.prepare({ fingerprint: "test/12", dimensions: 12 });
      await follower.put(ANN, [makeEntry("wide", makeUnitVector([1], 12))]);
      const after = await indexNames(name);
      expect(after).toHaveLength(2);
      expect(after).toContain(theirs);
      expect(after).not.toContain(before);
      await client.deleteIndex({ vectorBucketName: bucket, indexName: theirs });
    });

    it("sends no name of a user or a project", async () => {
      const follower = await prepared();
      await follower.put({ project: "acme-gmbh", user: "ann-the-user" }, many(1));
      const [indexName] = await indexNames(nameOf(follower));
      const { vectors } = await client.listVectors({
        vectorBucketName: bucket,
        indexName,
        returnMetadata: true,
      });
      expect(vectors).toHaveLength(1);
      expect(JSON.stringify([vectors, indexName])).not.toMatch(/acme-gmbh|ann-the-user|"text"/);
    });
  });
});

describe("the options of the vector index in S3 Vectors", () => {
  it("are refused if they are invalid", () => {
    const client = clientOf("http://127.0.0.1:9");
    for (const bucket of ["", "ab", "Bucket", "under_score", "a".repeat(64)]) {
      expect(() => createS3VectorsIndex({ client, bucket })).toThrow(/bucket:/);
    }
    expect(() => createS3VectorsIndex({ client, bucket: "good", name: "No" })).toThrow(/name:/);
    expect(() => createS3VectorsIndex({ client, bucket: "good", indexes: 0 })).toThrow(/indexes/);
  });
});
