import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { Pinecone } from "@pinecone-database/pinecone";
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import type { VectorIndex, VectorIndexEntry } from "../../ports/vector-index.ts";
import {
  type PineconeReceived,
  type PineconeServer,
  startPineconeServer,
} from "../../testing/pinecone/pinecone-server.ts";
import {
  makeEntry,
  makeRandomVectors,
  makeUnitVector,
  readIds,
} from "../../testing/vector-index/index-fixtures.ts";
import { vectorIndexConformance } from "../../testing/vector-index/vector-index-conformance.ts";
import { createPineconeVectorIndex, type PineconeClient, type PineconeVectorIndexOptions } from "./index.ts";

const KEY = "pcsk-test-never-shown";

let server: PineconeServer;
let late: PineconeServer;
beforeAll(async () => {
  server = await startPineconeServer({ apiKey: KEY });
  late = await startPineconeServer({ lagMs: 15 });
});
afterAll(() => Promise.all([server.close(), late.close()]));

const clientOf = (at: PineconeServer): PineconeClient =>
  new Pinecone({ apiKey: KEY, controllerHostUrl: at.url, maxRetries: 0 });

let count = 0;
const names = new WeakMap<VectorIndex, string>();
const opened = (
  at: PineconeServer,
  name: string,
  options: Partial<PineconeVectorIndexOptions> = {},
): VectorIndex => {
  const follower = createPineconeVectorIndex({ client: clientOf(at), name, deadlineMs: 2500, ...options });
  names.set(follower, name);
  return follower;
};
const freshName = (): string => {
  count += 1;
  return `suite-${count}`;
};
const again = (at: PineconeServer) => async (follower: VectorIndex) => opened(at, names.get(follower) ?? "");

vectorIndexConformance({
  name: "pinecone",
  open: async () => opened(server, freshName()),
  reopen: (follower) => again(server)(follower),
  second: (follower) => again(server)(follower),
  outage: { begin: () => server.down(), end: () => server.up() },
});
vectorIndexConformance({
  name: "pinecone, with reads that lag behind",
  open: async () => opened(late, freshName()),
  reopen: (follower) => again(late)(follower),
  second: (follower) => again(late)(follower),
});

const ANN = { project: "default", user: "ann-the-user" };
const SPACE = { fingerprint: "test/8", dimensions: 8 };
const many = (count: number, dimensions = 8): VectorIndexEntry[] =>
  makeRandomVectors(count, dimensions).map((vector, i) => makeEntry(`e${i}`, vector));
const ids = (entries: readonly VectorIndexEntry[]): string[] => entries.map(({ id }) => id);

/** A follower that is prepared, on the quick server, with requests from here on. */
const prepared = async (
  options: Partial<PineconeVectorIndexOptions> = {},
  space = SPACE,
): Promise<VectorIndex> => {
  const follower = opened(server, freshName(), options);
  await follower.prepare(space);
  server.received.length = 0;
  return follower;
};
const sent = (path: string): PineconeReceived[] => server.received.filter((one) => one.path.startsWith(path));

describe("the client of @pinecone-database/pinecone", () => {
  it("fits the adapter", () => {
    expectTypeOf<Pinecone>().toExtend<PineconeClient>();
  });
});

describe("the vector index in Pinecone", () => {
  afterEach(() => {
    server.troubles.length = 0;
    server.always = undefined;
    server.lagMs = 0;
    server.perSecond = Number.POSITIVE_INFINITY;
  });

  it("keeps every request within Pinecone's limits", async () => {
    const follower = await prepared();
    const entries = many(2300);
    await follower.put(ANN, entries);
    expect(sent("/vectors/upsert").map(({ body }) => (body.vectors as unknown[]).length)).toEqual([
      1000, 1000, 300,
    ]);
    const long = Array.from({ length: 150 }, (_one, i) => `${"letters and ".repeat(12)}${i}`);
    expect(await follower.held(ANN, long)).toEqual([]);
    expect(Math.max(...sent("/vectors/fetch").map(({ path }) => path.length))).toBeLessThan(8000);
    await follower.drop(ANN, ids(entries));
    const dropped = sent("/vectors/delete").map(({ body }) => (body.ids as unknown[]).length);
    expect(dropped).toEqual([1000, 1000, 300]);
    expect(await follower.held(ANN, ids(entries))).toEqual([]);
  });

  it("sends at most two megabytes at once for vectors of any width", async () => {
    const follower = await prepared({}, { fingerprint: "wide", dimensions: 1536 });
    await follower.put(ANN, many(200, 1536));
    const upserts = sent("/vectors/upsert");
    expect(upserts.length).toBeGreaterThan(1);
    expect(Math.max(...upserts.map(({ bytes }) => bytes))).toBeLessThanOrEqual(2_000_000);
    expect(await follower.held(ANN, ["e0", "e199"])).toEqual(["e0", "e199"]);
  });

  it("retries rate-limited requests, which the client does not, and temporary failures", async () => {
    const follower = await prepared({ deadlineMs: 12_000 });
    server.troubles.push({ at: "/vectors/upsert", status: 429 }, { at: "/vectors/upsert", status: 503 });
    await follower.put(ANN, many(3));
    expect(sent("/vectors/upsert")).toHaveLength(3);
    server.troubles.push({ at: "/query", it: "hangs up" }, { at: "/query", status: 429 });
    expect(await follower.nearest(ANN, makeUnitVector([1]), { limit: 3 })).toHaveLength(3);
  });

  it("succeeds in spite of a rate limit", async () => {
    const follower = await prepared({ deadlineMs: 12_000 });
    server.perSecond = 3;
    for (const one of many(5)) await follower.put(ANN, [one]);
    server.perSecond = Number.POSITIVE_INFINITY;
    expect(await follower.held(ANN, ["e0", "e1", "e2", "e3", "e4"])).toHaveLength(5);
  });

  it("does not retry permanent errors, and does not show the request", async () => {
    const follower = await prepared();
    server.troubles.push({ at: "/query", status: 400 });
    const query = follower.nearest(ANN, makeUnitVector([1]), { limit: 3, where: { owner: "zebra" } });
    const refused: unknown = await query.catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "invalid_input" });
    expect(sent("/query")).toHaveLength(1);
    const client = new Pinecone({ apiKey: "pcsk-wrong", controllerHostUrl: server.url });
    const stranger = createPineconeVectorIndex({ client, name: "stranger" });
    const forbidden: unknown = await stranger.prepare(SPACE).catch((error: unknown) => error);
    expect(forbidden).toMatchObject({ code: "forbidden" });
    expect(inspect([refused, forbidden], { depth: 9 })).not.toMatch(/zebra|pcsk|ann-the-user/);
  });

  it("treats an invalid answer as a failure", async () => {
    const follower = await prepared({ deadlineMs: 1000 });
    server.always = { at: "/query", it: "answers nonsense" };
    await expect(follower.nearest(ANN, makeUnitVector([1]), { limit: 3 })).rejects.toMatchObject({
      code: "unavailable",
    });
  });

  it("waits for a hanging server until the deadline, and no longer", async () => {
    const follower = await prepared({ timeoutMs: 500, deadlineMs: 700 });
    server.always = { it: "hangs" };
    const begun = performance.now();
    await expect(follower.held(ANN, ["e0"])).rejects.toMatchObject({ code: "unavailable" });
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it("finishes a write once lagging reads show it", async () => {
    const follower = await prepared();
    server.lagMs = 150;
    await follower.put(ANN, many(3));
    expect(await follower.nearest(ANN, makeUnitVector([1]), { limit: 9 })).toHaveLength(3);
    await follower.put(ANN, [
      makeEntry("e0", makeUnitVector([0, 1])),
      makeEntry("e1", makeUnitVector([0, 1])),
    ]);
    const [best] = await follower.nearest(ANN, makeUnitVector([0, 1]), { limit: 1 });
    expect(best?.score).toBeCloseTo(1, 5);
    await follower.drop(ANN, ["e0"]);
    expect(await follower.held(ANN, ["e0", "e1", "e2"])).toEqual(["e1", "e2"]);
    await follower.dropUser(ANN);
    expect(await readIds(follower, ANN)).toEqual([]);
  });

  it("does not report a deletion before reads show it", async () => {
    const follower = await prepared({ settleMs: 150 });
    await follower.put(ANN, many(3));
    server.lagMs = 60_000;
    await expect(follower.drop(ANN, ["e0"])).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.put(ANN, many(1))).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.dropUser(ANN)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("prevents a timed-out write from restoring dropped entries", async () => {
    const follower = await prepared({ timeoutMs: 1500, deadlineMs: 1600 });
    // Late by less than the drop waits, with room for a machine that is busy.
    server.troubles.push({ at: "/vectors/upsert", afterMs: 1700 });
    await expect(follower.put(ANN, many(2))).rejects.toMatchObject({ code: "unavailable" });
    await follower.drop(ANN, ["e0", "e1"]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(sent("/vectors/upsert")).toHaveLength(1);
    expect(await follower.held(ANN, ["e0", "e1"])).toEqual([]);
  });

  it("clears an index while it is prepared again, and while another process writes to it", async () => {
    await using shared = await startPineconeServer({ apiKey: KEY });
    const follower = opened(shared, "shared", { settleMs: 4000 });
    const other = opened(shared, "shared", { settleMs: 0 });
    for (const change of [() => follower.prepare(SPACE), () => other.put(ANN, many(1))]) {
      await Promise.all([follower.prepare(SPACE), other.prepare(SPACE)]);
      await follower.put(ANN, many(2));
      // The change comes between the deletions and the second look at what is left.
      for (const afterMs of [0, 500]) shared.troubles.push({ at: "/namespaces", afterMs });
      const clearing = follower.clear();
      await pause(250);
      await Promise.all([clearing, change()]);
      await follower.prepare(SPACE);
      expect(await readIds(follower, ANN)).toEqual([]);
    }
  });

  it("deletes an index of another dimension only if it created it", async () => {
    const client = clientOf(server);
    const spec = { serverless: { cloud: "aws" as const, region: "us-east-1" } };
    const kind = { metric: "cosine" as const, spec, tags: {}, suppressConflicts: true as const };
    await client.createIndex({ name: "theirs-12", dimension: 12, ...kind });
    await client.createIndex({ name: "theirs-too", dimension: 12, ...kind });
    const follower = opened(server, "theirs");
    await follower.prepare(SPACE);
    await follower.put(ANN, many(1));
    await follower.prepare({ fingerprint: "test/16", dimensions: 16 });
    const { indexes = [] } = await client.listIndexes();
    const names = indexes.map(({ name }) => name).filter((name) => name.startsWith("theirs"));
    expect(names.sort()).toEqual(["theirs-12", "theirs-16", "theirs-too"]);
  });

  it("refuses an index of another kind with its name", async () => {
    const made = clientOf(server).createIndex as (options: object) => Promise<unknown>;
    const spec = { serverless: { cloud: "aws", region: "us-east-1" } };
    await made.call(clientOf(server), { name: "far-8", dimension: 8, metric: "euclidean", spec });
    const preparing = opened(server, "far").prepare(SPACE);
    await expect(preparing).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("waits until an index is ready, and until an earlier one with its name is deleted", async () => {
    await using slow = await startPineconeServer({ createMs: 200, terminateMs: 200 });
    const client = clientOf(slow);
    const follower = opened(slow, "slow");
    await follower.prepare(SPACE);
    await follower.put(ANN, many(2));
    await client.deleteIndex("slow-8");
    await follower.clear();
    await follower.prepare(SPACE);
    await follower.put(ANN, many(1));
    expect(await readIds(follower, ANN)).toEqual(["e0"]);
  });

  it("reports a missing index, and recreates it when it is prepared again", async () => {
    await using emptied = await startPineconeServer();
    const follower = opened(emptied, "emptied");
    await follower.prepare(SPACE);
    await follower.put(ANN, many(2));
    emptied.empty();
    await expect(follower.put(ANN, many(1))).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.nearest(ANN, makeUnitVector([1]), { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    await follower.prepare(SPACE);
    expect(await follower.held(ANN, ["e0", "e1"])).toEqual([]);
    await follower.put(ANN, many(1));
    expect(await readIds(follower, ANN)).toEqual(["e0"]);
  });

  it("sends no name of a user or a project, and a text only if an entry has one", async () => {
    const follower = await prepared();
    await follower.put({ project: "acme-gmbh", user: "ann-the-user" }, many(1));
    await follower.nearest({ project: "acme-gmbh", user: "ann-the-user" }, makeUnitVector([1]), { limit: 1 });
    expect(JSON.stringify(server.received)).not.toMatch(/acme-gmbh|ann-the-user|"text"/);
    await follower.put(ANN, [{ ...makeEntry("e1", [1]), text: "Ann sails on Fridays." }]);
    expect(JSON.stringify(server.received)).toContain("Ann sails on Fridays.");
  });

  it("refuses invalid options", () => {
    const client = clientOf(server);
    for (const name of ["", "Keepsake", "1st", "with.dot", "a".repeat(31)]) {
      expect(() => createPineconeVectorIndex({ client, name })).toThrow(/name:/);
    }
    expect(() => createPineconeVectorIndex({ client, settleMs: -1 })).toThrow(/settleMs/);
  });
});
