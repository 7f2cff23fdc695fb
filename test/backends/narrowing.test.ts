import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Vectors } from "@aws-sdk/client-s3vectors";
import { Pinecone } from "@pinecone-database/pinecone";
import { ChromaClient } from "chromadb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChromaVectorIndex } from "../../src/adapters/chroma/index.ts";
import { createFaissVectorIndex } from "../../src/adapters/faiss/index.ts";
import { createPineconeVectorIndex } from "../../src/adapters/pinecone/index.ts";
import { createS3VectorsIndex } from "../../src/adapters/s3-vectors/index.ts";
import { matchesFilter, type Where } from "../../src/domain/filters/metadata-filter.ts";
import { isMemoryError } from "../../src/errors.ts";
import type { VectorIndex, VectorIndexEntry } from "../../src/ports/vector-index.ts";
import { startPineconeServer } from "../../src/testing/pinecone/pinecone-server.ts";
import {
  INDEX_ANN,
  makeEntry,
  makeRandomVectors,
  SPACE,
} from "../../src/testing/vector-index/index-fixtures.ts";

const { KEEPSAKE_TEST_CHROMA: chroma, KEEPSAKE_TEST_FAISS: python } = process.env;
const why = (name: string, service: string): string => `needs ${name}: eval "$(test/services/up ${service})"`;

const SESSIONS = ["monday", "tuesday", "Ünïcödé 🦄", "quote ' \" \\"];
const ENTRIES: readonly VectorIndexEntry[] = makeRandomVectors(40, SPACE.dimensions, 5).map((vector, i) => {
  const session = SESSIONS[i % 5];
  return makeEntry(`e${i}`, vector, {
    type: i % 3 === 0 ? "passage" : "memory",
    owner: `o${i % 7}`,
    at: (i % 10) * 1000,
    ...(i % 3 === 0 ? {} : { kind: i % 2 === 0 ? "fact" : "event" }),
    ...(session === undefined ? {} : { session }),
  });
});

const texts = {
  type: ["memory", "passage", "x"],
  owner: ["o1", "o6", "x"],
  kind: ["fact", "event", "x"],
  session: [...SESSIONS, "x"],
};
const condition = (values: fc.Arbitrary<unknown>, operators: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    values,
    fc.tuple(fc.constantFrom(...operators), values).map(([operator, value]) => ({ [operator]: value })),
    fc.array(values, { minLength: 1, maxLength: 3 }).map((some) => ({ $in: some })),
    fc.array(values, { minLength: 1, maxLength: 3 }).map((some) => ({ $nin: some })),
    fc.boolean().map((there) => ({ $exists: there })),
  );
const ofTexts = fc.oneof(
  ...Object.entries(texts).map(([field, values]) =>
    condition(fc.constantFrom(...values), ["$eq", "$ne", "$gt", "$lte"]).map(
      (wanted): Where => ({ [field]: wanted }),
    ),
  ),
);
const ofTimes = condition(fc.constantFrom(0, 3000, 4500, 9000, -1, 2.5), [
  "$eq",
  "$ne",
  "$gt",
  "$gte",
  "$lt",
  "$lte",
]).map((wanted): Where => ({ at: wanted }));
const strange = fc.constantFrom<Where>(
  { at: "3000" },
  { type: 3 },
  { kind: null },
  { nowhere: "x" },
  { nowhere: { $ne: 1 } },
  { type: true },
);
const { filter } = fc.letrec<{ filter: Where }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2 },
    ofTexts,
    ofTimes,
    strange,
    fc.array(tie("filter"), { minLength: 1, maxLength: 3 }).map((all) => ({ $and: all })),
    fc.array(tie("filter"), { minLength: 1, maxLength: 3 }).map((all) => ({ $or: all })),
    tie("filter").map((one) => ({ $not: one })),
  ),
}));

/** How many of `runs` filters were said, and how many the server said it cannot take. */
async function agrees(follower: VectorIndex, runs = 150): Promise<{ said: number; unsaid: number }> {
  await follower.prepare(SPACE);
  await follower.put(INDEX_ANN, ENTRIES);
  const counts = { said: 0, unsaid: 0 };
  const [{ vector } = makeEntry("none", [1])] = ENTRIES;
  await fc.assert(
    fc.asyncProperty(filter, async (where) => {
      const wanted = ENTRIES.filter(({ metadata }) => matchesFilter(where, { ...metadata })).map(
        ({ id }) => id,
      );
      try {
        const found = await follower.nearest(INDEX_ANN, vector, { limit: 100, where });
        expect(found.map(({ id }) => id).sort()).toEqual(wanted.sort());
        counts.said += 1;
      } catch (error) {
        if (!isMemoryError(error) || error.code !== "unsupported") throw error;
        counts.unsaid += 1;
      }
    }),
    { numRuns: runs },
  );
  return counts;
}

describe.skipIf(!python)(`FAISS (${python ? "a real one" : why("KEEPSAKE_TEST_FAISS", "faiss")})`, () => {
  it("lets through what the filter says, whatever it says", { timeout: 60_000 }, async () => {
    const path = mkdtempSync(join(tmpdir(), "keepsake-faiss-"));
    const follower = createFaissVectorIndex({ path, python: python ?? "" });
    try {
      expect(await agrees(follower)).toMatchObject({ unsaid: 0 });
    } finally {
      await follower.close();
      rmSync(path, { recursive: true });
    }
  });
});

describe.skipIf(!chroma)(
  `Chroma (${chroma ? "a real server" : why("KEEPSAKE_TEST_CHROMA", "chroma")})`,
  () => {
    const { hostname, port } = new URL(chroma ?? "http://localhost:8000");
    const open = (texts = false) =>
      createChromaVectorIndex({
        client: new ChromaClient({ host: hostname, port: Number(port) }),
        prefix: `test-${randomUUID()}`,
        texts,
      });

    it("lets through what the filter says, or says that it cannot", { timeout: 60_000 }, async () => {
      const follower = open();
      try {
        // It takes some three in ten of them.
        expect((await agrees(follower, 300)).said).toBeGreaterThan(30);
        await expect(
          follower.nearest(INDEX_ANN, ENTRIES[0]?.vector ?? new Float32Array(8), {
            limit: 1,
            where: { at: { $like: 3 } },
          }),
        ).rejects.toMatchObject({ code: "invalid_input" });
      } finally {
        await follower.clear();
      }
    });

    it("finds by what stands in the texts, where it holds them", { timeout: 60_000 }, async () => {
      const follower = open(true);
      const [one, other, third] = ENTRIES;
      if (!one || !other || !third) return;
      try {
        expect(follower.holdsTexts).toBe(true);
        await follower.prepare(SPACE);
        await follower.put(INDEX_ANN, [
          { ...one, text: "I bake sourdough on Sundays." },
          { ...other, text: "My sister bakes rye bread." },
          third,
        ]);
        const asked = (
          whereDocument: Parameters<typeof follower.nearest>[2]["whereDocument"],
          where?: Where,
        ) =>
          follower
            .nearest(INDEX_ANN, one.vector, {
              limit: 9,
              ...(whereDocument && { whereDocument }),
              ...(where && { where }),
            })
            .then((hits) => hits.map(({ id }) => id).sort());
        expect(await asked({ $contains: "bake" })).toEqual(["e0", "e1"]);
        expect(await asked({ $contains: "sourdough" })).toEqual(["e0"]);
        expect(await asked({ $not_contains: "rye" })).toEqual(["e0", "e2"]);
        expect(await asked({ $and: [{ $contains: "bake" }, { $regex: "Sun[a-z]+" }] })).toEqual(["e0"]);
        expect(await asked({ $contains: "bake" }, { type: "memory" })).toEqual(["e1"]);
        await follower.put(INDEX_ANN, [{ ...one, text: "I bake nothing." }]);
        expect(await asked({ $contains: "sourdough" })).toEqual([]);
      } finally {
        await follower.clear();
      }
      await expect(
        open().nearest(INDEX_ANN, one.vector, { limit: 1, whereDocument: { $contains: "x" } }),
      ).rejects.toMatchObject({ code: "invalid_input" });
    });

    it("holds no text that it was not asked to hold", { timeout: 60_000 }, async () => {
      const follower = open();
      const [one] = ENTRIES;
      if (!one) return;
      try {
        await follower.prepare(SPACE);
        await follower.put(INDEX_ANN, [{ ...one, text: "I bake sourdough on Sundays." }]);
        const how = { limit: 1, whereDocument: { $contains: "bake" } };
        await expect(follower.nearest(INDEX_ANN, one.vector, how)).rejects.toMatchObject({
          code: "unsupported",
        });
      } finally {
        await follower.clear();
      }
    });
  },
);

describe("Pinecone (a server of its protocol)", () => {
  it("lets through what the filter says, or says that it cannot", { timeout: 60_000 }, async () => {
    await using server = await startPineconeServer();
    const client = new Pinecone({ apiKey: "any", controllerHostUrl: server.url, maxRetries: 0 });
    const { said, unsaid } = await agrees(createPineconeVectorIndex({ client }));
    expect(said).toBeGreaterThan(unsaid);
  });
});

const { KEEPSAKE_TEST_S3_VECTORS: s3 } = process.env;
const whyS3 = why("KEEPSAKE_TEST_S3_VECTORS", "s3-vectors");
describe.skipIf(!s3)(`S3 Vectors (${s3 ? "a server of its protocol" : whyS3})`, () => {
  it("lets through what the filter says, or says that it cannot", { timeout: 120_000 }, async () => {
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    const client = new S3Vectors({ endpoint: s3 ?? "", region: "us-east-1", credentials });
    await client.listVectorBuckets();
    const bucket = `keepsake-${randomUUID()}`;
    const follower = createS3VectorsIndex({ client, bucket });
    try {
      const { said, unsaid } = await agrees(follower);
      expect(said).toBeGreaterThan(unsaid);
    } finally {
      await follower.clear();
      await client.deleteVectorBucket({ vectorBucketName: bucket });
      client.destroy();
    }
  });
});
