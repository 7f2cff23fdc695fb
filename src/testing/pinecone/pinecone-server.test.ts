import { Pinecone } from "@pinecone-database/pinecone";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type PineconeServer, startPineconeServer } from "./pinecone-server.ts";

/**
 * What the vector index suite does not cover: refusals, routes that the adapter does not use, and faults on
 * demand.
 */

let server: PineconeServer;
let client: Pinecone;
beforeEach(async () => {
  server = await startPineconeServer({ apiKey: "right" });
  client = new Pinecone({ apiKey: "right", controllerHostUrl: server.url, maxRetries: 0 });
  await client.createIndex({
    name: "small",
    dimension: 2,
    metric: "cosine",
    spec: { serverless: { cloud: "aws", region: "us-east-1" } },
    tags: { made: "here" },
  });
});
afterEach(() => server.close());

const index = () => client.index({ host: `${server.url}/hosts/small`, namespace: "ns" });
const record = (id: string, values: number[], metadata = {}) => ({ id, values, metadata });
const refused = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "taken",
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe("startPineconeServer", () => {
  it("works with the official client", async () => {
    expect(await client.describeIndex("small")).toMatchObject({
      name: "small",
      status: { ready: true, state: "Ready" },
      tags: { made: "here" },
    });
    const { dimension, metric } = await client.describeIndex("small");
    expect([dimension, metric]).toEqual([2, "cosine"]);
    await index().upsert({ records: [record("a", [1, 0], { n: 1 }), record("b", [0, 1], { n: 2 })] });
    expect(await index().describeIndexStats()).toMatchObject({
      dimension: 2,
      totalRecordCount: 2,
      namespaces: { ns: { recordCount: 2 } },
    });
    expect(await index().listNamespaces()).toMatchObject({ namespaces: [{ name: "ns", recordCount: "2" }] });
    const { matches } = await index().query({ vector: [1, 0.1], topK: 2, includeMetadata: true });
    expect(matches.map(({ id, metadata }) => [id, metadata])).toEqual([
      ["a", { n: 1 }],
      ["b", { n: 2 }],
    ]);
    await index().deleteMany({ filter: { n: { $gte: 2 } } });
    expect(Object.keys((await index().fetch({ ids: ["a", "b"] })).records)).toEqual(["a"]);
    await index().deleteNamespace("ns");
    expect(await refused(index().describeNamespace("ns"))).toMatch(/PineconeNotFoundError/);
    expect(await refused(index().deleteAll())).toMatch(/PineconeNotFoundError/);
  });

  it("rejects what Pinecone's documents reject", async () => {
    const upsert = (...records: ReturnType<typeof record>[]) => refused(index().upsert({ records }));
    expect(await upsert(record("a", [1, 0, 0]))).toMatch(/dimension 3 does not match/);
    expect(await upsert(record("a", [0, 0]))).toMatch(/non-zero/);
    expect(await upsert(record("ä", [1, 0]))).toMatch(/ASCII/);
    expect(await upsert(record("a".repeat(513), [1, 0]))).toMatch(/512/);
    expect(await upsert(record("a", [1, 0], { some: null }))).toMatch(/Metadata value/);
    expect(await upsert(record("a", [1, 0], { some: { deep: 1 } }))).toMatch(/Metadata value/);
    expect(await upsert(record("a", [1, 0], { long: "x".repeat(41_000) }))).toMatch(/exceeds the limit/);
    const many = Array.from({ length: 1001 }, (_one, i) => record(`r${i}`, [1, 0]));
    expect(await upsert(...many)).toMatch(/1000/);
    const heavy = Array.from({ length: 60 }, (_one, i) => record(`r${i}`, [1, 0], { x: "x".repeat(39_000) }));
    expect(await upsert(...heavy)).toMatch(/2MB/);
    const ids = many.map(({ id }) => id);
    expect(await refused(index().deleteMany({ ids }))).toMatch(/1000/);
    const query = (extra: object) => refused(index().query({ vector: [1, 0], topK: 1, ...extra }));
    expect(await query({ topK: 10_001 })).toMatch(/topK/);
    expect(await query({ filter: { n: { $near: 1 } } })).toMatch(/not a valid operator/);
    expect(await query({ filter: { n: { $in: [] } } })).toMatch(/list/);
    expect(await query({ filter: { n: null } })).toMatch(/takes a string/);
    expect(await refused(index().listPaginated({ limit: 101 }))).toMatch(/limit/);
    expect(await refused(index().namespace("nämespace").listPaginated())).toMatch(/ASCII/);
    const stranger = new Pinecone({ apiKey: "wrong", controllerHostUrl: server.url });
    expect(await refused(stranger.listIndexes())).toMatch(/PineconeAuthorizationError/);
  });

  it("returns ids in pages, in bitwise order, by prefix", async () => {
    const records = Array.from({ length: 230 }, (_one, i) => record(`${i % 2 ? "b" : "A"}#${i}`, [1, i]));
    await index().upsert({ records });
    const pages: string[][] = [];
    let paginationToken: string | undefined;
    do {
      const token = paginationToken === undefined ? {} : { paginationToken };
      const { vectors = [], pagination } = await index().listPaginated(token);
      pages.push(vectors.map(({ id = "" }) => id));
      paginationToken = pagination?.next;
    } while (paginationToken);
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual(records.map(({ id }) => id).sort());
    expect((await index().listPaginated({ prefix: "b#1", limit: 2 })).vectors).toEqual([
      { id: "b#1" },
      { id: "b#101" },
    ]);
  });

  it("shows writes late if configured to, with log sequence numbers", async () => {
    server.lagMs = 60_000;
    await index().upsert({ records: [record("a", [1, 0])] });
    const asking = () =>
      fetch(`${server.url}/hosts/small/query`, {
        method: "POST",
        headers: { "api-key": "right" },
        body: JSON.stringify({ namespace: "ns", vector: [1, 0], topK: 1 }),
      });
    const before = await asking();
    expect(before.headers.get("x-pinecone-max-indexed-lsn")).toBe("0");
    expect(await before.json()).toMatchObject({ matches: [] });
    server.lagMs = 0;
    const after = await asking();
    expect(after.headers.get("x-pinecone-max-indexed-lsn")).toBe("1");
    expect(await after.json()).toMatchObject({ matches: [{ id: "a" }] });
  });

  it("has rate limits, and faults on demand", async () => {
    server.perSecond = 2;
    const asked = await Promise.all(
      Array.from({ length: 9 }, () => refused(index().query({ vector: [1, 0], topK: 1 }))),
    );
    expect(asked.filter((one) => one.includes("Status: 429")).length).toBeGreaterThanOrEqual(5);
    server.perSecond = Number.POSITIVE_INFINITY;
    server.troubles.push({ at: "/vectors/upsert", status: 503 });
    await index().query({ vector: [1, 0], topK: 1 });
    expect(await refused(index().upsert({ records: [record("a", [1, 0])] }))).toMatch(/MaxRetries/);
    await server.down();
    expect(await refused(client.listIndexes())).toMatch(/PineconeConnectionError/);
    await server.up();
    expect((await client.listIndexes()).indexes).toHaveLength(1);
    server.empty();
    expect((await client.listIndexes()).indexes).toEqual([]);
  });
});
