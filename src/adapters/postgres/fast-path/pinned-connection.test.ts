import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import { makeChangeSet, makeMemory, makeMessage } from "../../../testing/memory-store/change-sets.ts";
import type { PostgresStore } from "../index.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
const OURS = { project: "ours", user: "ann" };
const THEIRS = { project: "theirs", user: "ann" };
const STATE =
  "SELECT current_user AS role, current_setting('search_path') AS path, current_setting('statement_timeout') AS wait, " +
  "coalesce(current_setting('keepsake.project', true), '') AS project, current_setting('enable_seqscan') AS scans, " +
  "current_setting('default_transaction_read_only') AS reads";

describe.skipIf(!url)(`reads over a pinned connection${missing}`, () => {
  let place: PostgresPlace;
  let record: PostgresStore;
  beforeAll(() => {
    place = testPlace(url ?? "", { pipeline: true, max: 3 });
  });
  beforeEach(async () => {
    record = await place.open();
  });
  afterEach(() => record.close());
  afterAll(() => place.clear());

  /** As every connection that the pool has now is to its owner. */
  async function states(): Promise<Set<string>> {
    const clients = await Promise.all([1, 2, 3].map(() => place.pool.connect()));
    const found = await Promise.all(clients.map((client) => client.query(STATE)));
    for (const client of clients) client.release();
    return new Set(found.map(({ rows }) => JSON.stringify(rows[0])));
  }

  it("restore the settings of the caller's connection", async () => {
    const before = await states();
    expect(before.size).toBe(1);
    await record.commit(OURS, makeChangeSet({ messages: [makeMessage("m")] }));
    expect(await record.revision(OURS)).toBe(1);
    expect(await record.revision(THEIRS)).toBe(0);
    expect(place.pool.idleCount).toBe(place.pool.totalCount - 1);
    await record.close();
    expect(place.pool.idleCount).toBe(place.pool.totalCount);
    expect(await states()).toEqual(before);
  });

  it("return the connection when there are no more reads", async () => {
    expect(await record.revision(OURS)).toBe(0);
    await expect.poll(() => place.pool.idleCount === place.pool.totalCount, { timeout: 10_000 }).toBe(true);
    expect(await record.revision(OURS)).toBe(0);
  });

  it("see only their own project's rows when projects alternate", async () => {
    for (const [scope, id] of [[OURS, "a"] as const, [THEIRS, "b"] as const]) {
      await record.commit(
        scope,
        makeChangeSet({ messages: [makeMessage(`${id}-m`)], memories: [makeMemory(id)] }),
      );
    }
    const ids = { messages: ["a-m", "b-m"], memories: ["b", "a"] };
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) => record.read(i % 3 === 0 ? THEIRS : OURS, ids)),
    );
    for (const [i, { messages, memories }] of all.entries()) {
      const id = i % 3 === 0 ? "b" : "a";
      expect([...messages, ...memories].map((one) => one.id)).toEqual([`${id}-m`, id]);
    }
  });

  it("see writes of another server at once", async () => {
    const other = await place.again(record);
    for (let revision = 1; revision <= 5; revision += 1) {
      await other.commit(
        OURS,
        makeChangeSet({ base: revision - 1, messages: [makeMessage(`m${revision}`)] }),
      );
      expect(await record.revision(OURS)).toBe(revision);
    }
    await other.close();
  });

  it("use another connection after theirs has ended", async () => {
    const ended = testPlace(url ?? "", { pipeline: true, max: 3 });
    const again = await ended.open();
    await again.commit(OURS, makeChangeSet({ messages: [makeMessage("m")] }));
    for (let i = 0; i < 3; i += 1) {
      expect(await again.revision(OURS)).toBe(1);
      // Asked by another pool: one of those that were ended would not be asked again.
      await place.pool.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
        [ended.name],
      );
    }
    expect(await again.revision(OURS)).toBe(1);
    await again.close();
    await ended.pool.end();
    await place.pool.query(`DROP SCHEMA ${ended.schemaOf(again)} CASCADE`);
  });

  it("do not wait for a table that is being rewritten", async () => {
    await record.commit(OURS, makeChangeSet({ messages: [makeMessage("m")] }));
    expect(await record.revision(OURS)).toBe(1);
    // Of no pool: all of its connections may be waiting.
    const writer = testPlace(url ?? "", { max: 1 });
    const holder = await writer.pool.connect();
    await holder.query(`BEGIN; LOCK TABLE ${place.schemaOf(record)}.messages IN ACCESS EXCLUSIVE MODE`);
    let isRead = false;
    const waiting = record.read(OURS, { messages: ["m"], memories: [] }).finally(() => {
      isRead = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const begun = performance.now();
    expect(await record.revision(THEIRS)).toBe(0);
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(isRead).toBe(false);
    await holder.query("ROLLBACK");
    expect((await waiting).messages.map(({ id }) => id)).toEqual(["m"]);
    holder.release();
    await writer.clear();
  });

  it("use transactions behind a pooler that shares connections", async () => {
    const pooled = testPlace(url ?? "", { pipeline: true, max: 3 });
    // What a pooler tells is not the number of the server's process.
    pooled.pool.on("connect", (client) => Object.assign(client, { processID: 1 }));
    const behind = await pooled.open();
    await behind.commit(OURS, makeChangeSet({ messages: [makeMessage("m")] }));
    expect(await behind.revision(OURS)).toBe(1);
    expect(pooled.pool.idleCount).toBe(pooled.pool.totalCount);
    const { rows } = await pooled.pool.query(STATE);
    expect(rows[0]).toMatchObject({ project: "", reads: "off", scans: "on" });
    await behind.close();
    await pooled.clear();
  });

  it("use ordinary connections if the pool has none to spare", async () => {
    const small = testPlace(url ?? "", { pipeline: true, max: 1 });
    const narrow = await small.open();
    const [revision] = await Promise.all([
      narrow.revision(OURS),
      narrow.since(OURS, 0),
      narrow.commit(OURS, makeChangeSet({ messages: [makeMessage("m")] })),
    ]);
    expect(revision).toBeLessThanOrEqual(1);
    expect(await narrow.revision(OURS)).toBe(1);
    expect(small.pool.totalCount).toBe(1);
    await narrow.close();
    await small.clear();
  });
});
