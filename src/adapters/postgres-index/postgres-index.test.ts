import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Pool } from "pg";
import { afterAll, describe, expect, expectTypeOf, it } from "vitest";
import { faultyLine } from "../../../test/postgres/faulty-line.ts";
import { matchesFilter, type Where } from "../../domain/filters/metadata-filter.ts";
import { makeEntry, makeRandomVectors } from "../../testing/vector-index/index-fixtures.ts";
import { vectorIndexConformance } from "../../testing/vector-index/vector-index-conformance.ts";
import { createPgvectorIndex, type IndexPool } from "./index.ts";

const url = process.env.KEEPSAKE_TEST_POSTGRES;
const HOW = "set KEEPSAKE_TEST_POSTGRES to the address of a PostgreSQL with pgvector";

it("accepts a pool of pg", () => {
  expectTypeOf<Pool>().toExtend<IndexPool>();
});

it("refuses a prefix that is not a plain name", () => {
  const pool = { connect: () => Promise.reject(new Error("never asked")), on: () => undefined };
  expect(() => createPgvectorIndex({ pool, prefix: 'x"; DROP TABLE y' })).toThrow(/prefix/);
});

it("reports a server that is gone", async () => {
  const pool = new Pool({ host: "127.0.0.1", port: 1, max: 1 });
  const follower = createPgvectorIndex({ pool });
  await expect(follower.prepare({ fingerprint: "test/8", dimensions: 8 })).rejects.toMatchObject({
    code: "unavailable",
  });
  await pool.end();
});

it("reports a hanging server within the deadline, then uses a new connection", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const pool = new Pool({ host: "127.0.0.1", port, max: 1, connectionTimeoutMillis: 400 });
  const follower = createPgvectorIndex({ pool, timeoutMs: 150 });
  for (let tried = 0; tried < 2; tried += 1) {
    const begun = performance.now();
    await expect(follower.prepare({ fingerprint: "test/8", dimensions: 8 })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(performance.now() - begun).toBeLessThan(1500);
  }
  await pool.end();
  for (const socket of sockets) socket.destroy();
  server.close();
});

describe.skipIf(!url)(`pgvector (${HOW})`, () => {
  const pool = new Pool({ connectionString: url, max: 8 });
  const prefixes: string[] = [];
  const removed = async (prefix: string): Promise<void> => {
    await pool.query(`DROP TABLE IF EXISTS ${prefix}_index, ${prefix}_index_space`);
  };
  afterAll(() => pool.end());
  const named = (): string => {
    const prefix = `t_${randomBytes(6).toString("hex")}`;
    prefixes.push(prefix);
    return prefix;
  };
  let prefix = "";

  it("continues after a connection ends during a query or just when it is ready", async () => {
    const line = await faultyLine(url ?? "");
    const far = new Pool({ connectionString: line.url, max: 1 });
    far.on("error", () => {});
    const follower = createPgvectorIndex({ pool: far, prefix: named(), timeoutMs: 2000 });
    const space = { fingerprint: "test/8", dimensions: 8 };
    await follower.prepare(space);
    line.become("silent");
    const asked = follower.prepare(space);
    setTimeout(() => line.cut(), 50);
    await expect(asked).rejects.toMatchObject({ code: "unavailable" });
    line.become("ends what has begun");
    await expect(follower.prepare(space)).rejects.toMatchObject({ code: "unavailable" });
    await follower.prepare(space);
    await far.end();
    await line.close();
  });

  vectorIndexConformance({
    name: "pgvector",
    async open() {
      prefix = named();
      return createPgvectorIndex({ pool, prefix });
    },
    reopen: async () => createPgvectorIndex({ pool, prefix }),
    second: async () => createPgvectorIndex({ pool, prefix }),
    remove: () => removed(prefix),
  });

  it("supports every filter, with the meaning of the memory store", async () => {
    const mine = named();
    const follower = createPgvectorIndex({ pool, prefix: mine });
    await follower.prepare({ fingerprint: "test/8", dimensions: 8 });
    const held = [
      makeEntry("a", [1], { at: 1000, kind: "fact" }),
      makeEntry("b", [1, 1], { at: 2000, session: "monday" }),
      makeEntry("c", [0, 1], { type: "passage", at: 3000, kind: "event", session: "it's" }),
    ];
    const of = { project: "default", user: "ann" };
    await follower.put(of, held);
    const filters: Where[] = [
      { session: { $exists: true } },
      { session: { $exists: false } },
      { session: { $ne: "monday" } },
      { session: { $nin: ["monday", "it's"] } },
      { session: "it's" },
      { $not: { type: "memory" } },
      { kind: { $not: { $eq: "fact" } } },
      { at: { $in: [] } },
      { at: { $nin: [] } },
      { unknown: "x" },
      { unknown: { $ne: "x" } },
      { at: "1000" },
      { kind: null },
      { at: { $gt: 1000, $lte: 3000 } },
      { $or: [] },
      { $and: [] },
    ];
    for (const where of filters) {
      const hits = await follower.nearest(of, held[0]?.vector ?? new Float32Array(8), { limit: 9, where });
      const wanted = held.filter(({ metadata }) => matchesFilter(where, { ...metadata })).map(({ id }) => id);
      expect({ where, ids: hits.map(({ id }) => id).sort() }).toEqual({ where, ids: wanted });
    }
    await removed(mine);
  });

  it("finds a user's nearest entries among those of many others", { timeout: 60_000 }, async () => {
    const mine = named();
    const follower = createPgvectorIndex({ pool, prefix: mine });
    await follower.prepare({ fingerprint: "test/32", dimensions: 32 });
    const vectors = makeRandomVectors(3000, 32, 5);
    for (let user = 0; user < 3; user += 1) {
      const own = vectors.slice(user * 1000, (user + 1) * 1000);
      await follower.put(
        { project: "default", user: `user ${user}` },
        own.map((vector, i) => makeEntry(`e${i}`, vector)),
      );
    }
    await pool.query(`ANALYZE ${mine}_index`);
    const own = vectors.slice(0, 1000);
    let found = 0;
    for (const asked of makeRandomVectors(20, 32, 6)) {
      const exact = own
        .map((vector, i) => ({
          id: `e${i}`,
          score: vector.reduce((sum, part, k) => sum + part * (asked[k] ?? 0), 0),
        }))
        .sort((one, other) => other.score - one.score)
        .slice(0, 10)
        .map(({ id }) => id);
      const hits = await follower.nearest({ project: "default", user: "user 0" }, asked, { limit: 100 });
      expect(hits).toHaveLength(100);
      const ids = new Set(hits.map(({ id }) => id));
      found += exact.filter((id) => ids.has(id)).length;
    }
    expect(found).toBeGreaterThanOrEqual(190);
    await removed(mine);
  });

  it("stores long vectors with 16 bits, and refuses longer ones", async () => {
    const mine = named();
    const follower = createPgvectorIndex({ pool, prefix: mine });
    await follower.prepare({ fingerprint: "test/3072", dimensions: 3072 });
    const [vector = new Float32Array(0)] = makeRandomVectors(1, 3072);
    const of = { project: "default", user: "ann" };
    await follower.put(of, [makeEntry("long", vector)]);
    const [hit] = await follower.nearest(of, vector, { limit: 1 });
    expect(hit?.score).toBeCloseTo(1, 3);
    await expect(follower.prepare({ fingerprint: "test/5000", dimensions: 5000 })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await removed(mine);
  });
});
