import { randomBytes } from "node:crypto";
import { type EventEmitter, once } from "node:events";
import type { Socket } from "node:net";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type PostgresPlace, testPlace } from "../../../test/postgres/place.ts";
import { makeAttachment } from "../../testing/memory-store/attachment-cases.ts";
import {
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeUnit,
} from "../../testing/memory-store/change-sets.ts";
import { ANN, BOB } from "../../testing/memory-store/store-contents.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
const WORD = "zqx81canary";

const ERASE_MESSAGE = {
  messages: [{ id: "m1", content: "", keepMetadata: false }],
  memories: [],
  rewrites: [],
  receipt: makeErasureReceipt("e1"),
};

/** What the driver has and does not declare. */
interface ReplicaConnection {
  readonly stream: Socket;
  sendCopyFromChunk(bytes: Buffer): void;
}

describe.skipIf(!url)(`the freed space of tables after an erasure${missing}`, () => {
  let place: PostgresPlace;
  beforeAll(() => {
    place = testPlace(url ?? "", { pipeline: true });
  });
  afterAll(() => place.clear(), 60_000);

  /** How many files of tables of a schema hold the word, asked of the server's own disk. */
  async function filesHolding(schema: string, word = WORD): Promise<string[]> {
    await place.pool.query("CHECKPOINT");
    const { rows } = await place.pool.query<{ name: string }>(
      "SELECT c.relname AS name FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid " +
        "WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'i') AND (" +
        "position($2::bytea IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0 OR " +
        "(t.oid IS NOT NULL AND position($2::bytea IN pg_read_binary_file(pg_relation_filepath(t.oid))) > 0)) ORDER BY 1",
      [schema, Buffer.from(word)],
    );
    return rows.map(({ name }) => name);
  }

  it("contains erased rows before the erasure is verified, and none after", async () => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    await record.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage("m1", { content: `I keep a ${WORD}.` })],
        attachments: [makeAttachment("d", [...Buffer.from(WORD)])],
        memories: [makeMemory("a", 1, { text: `The user keeps a ${WORD}.` })],
        units: [makeUnit("a", "memory", "a", WORD), makeUnit("m1#0", "passage", "m1", WORD)],
      }),
    );
    await record.commit(BOB, makeChangeSet({ messages: [makeMessage("m1")], memories: [makeMemory("a")] }));
    await record.searchIndexes.save(ANN, { revision: 1, bytes: Buffer.from(WORD) });
    await record.commit(
      ANN,
      makeChangeSet({
        base: 1,
        cause: "forget",
        dropUnits: ["m1#0"],
        erase: {
          messages: [{ id: "m1", content: "", keepMetadata: false }],
          memories: ["a"],
          rewrites: [],
          attachments: ["d"],
          receipt: makeErasureReceipt("e1"),
        },
      }),
    );
    const before = (await filesHolding(schema)).map((name) => name.replace(/_\d+$/, ""));
    expect(before).toEqual(["attachments", "blocks", "messages", "units", "versions"]);
    // Who reads what was before, in another test, puts it off.
    const scrub = () => record.erasures.scrub(ANN, [WORD]);
    const wiped = { place: "PostgreSQL: freed space of its tables", found: 0 };
    await expect.poll(scrub, { timeout: 30_000, interval: 100 }).toContainEqual(wiped);
    expect(await filesHolding(schema)).toEqual([]);
    expect((await record.since(BOB, 0)).messages).toHaveLength(1);
    expect(await place.pool.query(`SELECT name FROM ${schema}.freed`)).toMatchObject({
      rows: [{ name: "" }],
    });
    await record.close();
  });

  it("is wiped one table at a time, and once for all recorded erasures", async () => {
    const record = await place.open();
    for (const scope of [ANN, BOB]) {
      await record.commit(scope, makeChangeSet({ messages: [makeMessage("m1", { content: WORD })] }));
    }
    const seen = { now: 0, most: 0, all: 0 };
    const { query } = Client.prototype;
    vi.spyOn(Client.prototype, "query").mockImplementation(function (this: Client, ...asked: unknown[]) {
      const sent = Reflect.apply(query, this, asked);
      if (!JSON.stringify(asked[0]).includes("VACUUM (FULL)")) return sent;
      seen.all += 1;
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      return Promise.resolve(sent).finally(() => {
        seen.now -= 1;
      });
    });
    const scrubbed = Array.from({ length: 12 }, (_, i) =>
      record.erasures.scrub(i % 2 === 0 ? ANN : BOB, [WORD]),
    );
    await Promise.all(scrubbed).finally(() => vi.restoreAllMocks());
    expect(seen.most).toBe(1);
    // Two tables of everybody's and four of each one's part; alone, each of the twelve would have six written.
    expect(seen.all).toBeLessThanOrEqual(36);
    await record.close();
  });

  it("leaves no samples in the server's statistics after ANALYZE", async () => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    const said = Array.from({ length: 20 }, (_, i) => `${WORD} ${i}`);
    await record.commit(
      ANN,
      makeChangeSet({
        messages: said.map((content, i) => makeMessage(`m${i}`, { content })),
        memories: said.map((text, i) => makeMemory(`a${i}`, 1, { text })),
        units: said.map((text, i) => makeUnit(`a${i}`, "memory", `a${i}`, text)),
      }),
    );
    await record.searchIndexes.save(ANN, { revision: 1, bytes: Buffer.from(WORD) });
    const { rows: tables } = await place.pool.query<{ name: string }>(
      "SELECT oid::regclass::text AS name FROM pg_class " +
        "WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition",
      [schema],
    );
    await place.pool.query(`ANALYZE ${tables.map(({ name }) => name).join(", ")}`);
    const sampled = async (which: string): Promise<unknown[]> => {
      const sql = `SELECT DISTINCT attname FROM pg_stats WHERE schemaname = $1 AND ${which} ORDER BY 1`;
      return (await place.pool.query<{ attname: string }>(sql, [schema])).rows.map(({ attname }) => attname);
    };
    expect(await sampled(`concat(most_common_vals::text, histogram_bounds::text) LIKE '%${WORD}%'`)).toEqual(
      [],
    );
    // A column that is to be sampled holds nobody's words: what is new comes here after thinking.
    const texts =
      "(schemaname, tablename, attname) IN (SELECT table_schema, table_name, column_name FROM information_schema.columns WHERE data_type IN ('text', 'bytea', 'ARRAY'))";
    expect(await sampled(texts)).toEqual(["project", "space", "stored_at", "type"]);
    // A database that was sampled before that was so loses what it had.
    await place.pool.query(
      `ALTER TABLE ${schema}.messages ALTER body SET STATISTICS 100; ANALYZE ${schema}.messages; ` +
        `DROP TABLE ${schema}.uses, ${schema}.shares, ${schema}.share_parties, ${schema}.attachments, ${schema}.webhook_cursors, ${schema}.webhooks, ${schema}.embedder_choices; DELETE FROM ${schema}.migrations WHERE number >= 7`,
    );
    expect(await sampled("attname = 'body'")).toEqual(["body"]);
    const again = await place.again(record);
    expect(await sampled("attname = 'body'")).toEqual([]);
    expect((await again.since(ANN, 0)).messages).toHaveLength(20);
    // What was added since is there again, and empty.
    expect(await again.usage?.read(ANN)).toEqual([]);
    await again.close();
    await record.close();
  });

  it("is also in the write-ahead log until a background job rotates it", async () => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1", { content: WORD })] }));
    const wiped = { place: "PostgreSQL: freed space of its tables", found: 0 };
    await expect
      .poll(() => record.erasures.scrub(ANN, [WORD]), { timeout: 30_000, interval: 100 })
      .toContainEqual(wiped);
    const position = async (): Promise<number> => {
      const sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS at";
      return (await place.pool.query<{ at: number }>(sql)).rows[0]?.at ?? 0;
    };
    const before = await position();
    expect(await record.maintenance?.tidy()).toBe(3);
    expect(await position()).toBeGreaterThan(before + 2 * 16 * 1024 * 1024);
    const [, log] = (await record.maintenance?.remains()) ?? [];
    expect(log).toEqual({ place: "PostgreSQL: write-ahead log", forMs: 7 * 86_400_000 });
    await place.pool.query(`UPDATE ${schema}.freed SET up_to = NULL`);
    expect([await record.maintenance?.tidy(), await record.maintenance?.tidy()]).toEqual([0, 0]);
    expect((await place.pool.query(`SELECT name FROM ${schema}.freed`)).rows).toEqual([]);
    await record.close();
  });

  it("is not reported as clean while an older transaction runs", async () => {
    const record = await place.open();
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1", { content: WORD })] }));
    const holder = await place.pool.connect();
    // At work, with a number and no snapshot: what was there when it began is kept for it.
    await holder.query("BEGIN; SELECT pg_current_xact_id()");
    const places = await record.erasures.scrub(ANN, [WORD]);
    expect(places.map(({ place: name }) => name)).not.toContain("PostgreSQL: freed space of its tables");
    await holder.query("ROLLBACK");
    holder.release();
    await record.close();
  });

  /** Begins to keep what is there, and gives what ends it. */
  const HOLDERS: readonly [name: string, isLasting: boolean, hold: () => Promise<() => Promise<unknown>>][] =
    [
      [
        "a prepared transaction",
        true,
        async () => {
          await checkPreparing();
          const client = await place.pool.connect();
          await client.query(
            `BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION '${place.name}_prepared'`,
          );
          client.release();
          return () => place.pool.query(`ROLLBACK PREPARED '${place.name}_prepared'`);
        },
      ],
      ["a transaction of another database", false, () => holdElsewhere("COMMIT", async () => {})],
      [
        "a prepared transaction of another database",
        true,
        async () => {
          await checkPreparing();
          return holdElsewhere(`ROLLBACK PREPARED '${place.name}_elsewhere'`, (client) =>
            client.query(`PREPARE TRANSACTION '${place.name}_elsewhere'`),
          );
        },
      ],
      ["a replica that reports what it reads", false, async () => (await startReplica()).stop],
      [
        "the slot of a replica that is away",
        true,
        async () => {
          const slot = `${place.name}_slot`;
          await place.pool.query("SELECT pg_create_physical_replication_slot($1)", [slot]);
          await (await startReplica(slot)).stop();
          return () => place.pool.query("SELECT pg_drop_replication_slot($1)", [slot]);
        },
      ],
    ];

  /** A server takes this setting when it starts; `test/services/up` leaves one that runs as it is. */
  async function checkPreparing(): Promise<void> {
    const { rows } = await place.pool.query("SELECT current_setting('max_prepared_transactions') AS most");
    if (rows[0]?.most !== "0") return;
    throw new Error(
      "The server allows no prepared transactions (max_prepared_transactions = 0). Start it anew: test/services/down, then test/services/up.",
    );
  }

  /** Begins a transaction with a number in another database, and gives what ends it and removes the database. */
  async function holdElsewhere(
    end: string,
    prepare: (client: Client) => Promise<unknown>,
  ): Promise<() => Promise<unknown>> {
    const name = `${place.name}_other`;
    await place.pool.query(`CREATE DATABASE ${name}`);
    const address = new URL(url ?? "");
    address.pathname = `/${name}`;
    const client = new Client({ connectionString: address.href });
    await client.connect();
    await client.query("BEGIN; SELECT pg_current_xact_id()");
    await prepare(client);
    return async () => {
      await client.query(end);
      await client.end();
      await place.pool.query(`DROP DATABASE ${name}`);
    };
  }

  /** Connects as a replica does, and reports that its oldest reader is of now (`hot_standby_feedback`). */
  async function startReplica(slot?: string): Promise<{ readonly stop: () => Promise<void> }> {
    const { rows } = await place.pool.query<{ at: string; transaction: string }>(
      "SELECT pg_current_wal_flush_lsn()::text AS at, pg_snapshot_xmin(pg_current_snapshot())::text AS transaction",
    );
    const transaction = Number(BigInt(rows[0]?.transaction ?? 0) & 0xffffffffn);
    const config = { connectionString: url, application_name: `${place.name}_replica`, replication: "true" };
    const client = new Client(config);
    client.on("error", () => {});
    await client.connect();
    void client
      .query(`START_REPLICATION ${slot ? `SLOT "${slot}" ` : ""}PHYSICAL ${rows[0]?.at}`)
      .catch(() => undefined);
    const { connection } = client as unknown as { connection: EventEmitter & ReplicaConnection };
    await once(connection, "replicationStart");
    const feedback = Buffer.alloc(25);
    feedback.write("h");
    feedback.writeUInt32BE(transaction, 9);
    connection.sendCopyFromChunk(feedback);
    const reported = slot
      ? "SELECT count(*) AS found FROM pg_replication_slots AS slot WHERE slot_name = $1 AND slot.xmin IS NOT NULL"
      : "SELECT count(*) AS found FROM pg_stat_activity WHERE application_name = $1 AND backend_xmin IS NOT NULL";
    const count = async () =>
      (await place.pool.query(reported, [slot ?? config.application_name])).rows[0]?.found;
    await expect.poll(count).toBe("1");
    const isGone = async () =>
      (
        await place.pool.query("SELECT count(*) AS found FROM pg_stat_activity WHERE application_name = $1", [
          config.application_name,
        ])
      ).rows[0]?.found;
    return {
      async stop() {
        connection.stream.destroy();
        await expect.poll(isGone).toBe("0");
      },
    };
  }

  it.each(HOLDERS)("is not reported as clean while %s keeps the rows", async (_name, isLasting, hold) => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    const word = `w${randomBytes(8).toString("hex")}`;
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1", { content: word })] }));
    const wiped = { place: "PostgreSQL: freed space of its tables", found: 0 };
    const scrub = () => record.erasures.scrub(ANN, [word]);
    const release = await hold();
    try {
      await record.commit(ANN, makeChangeSet({ base: 1, cause: "forget", erase: ERASE_MESSAGE }));
      expect(await scrub()).not.toContainEqual(wiped);
      // The control: a rewrite at this moment would leave the word.
      const [part = ""] = await filesHolding(schema, word);
      await place.pool.query(`VACUUM (FULL) ${schema}.${part}`);
      expect(await filesHolding(schema, word)).toEqual([part]);
      const time = isLasting ? {} : { forMs: 7 * 86_400_000 };
      expect((await record.maintenance?.remains())?.[0]).toEqual({ place: wiped.place, ...time });
    } finally {
      await release();
    }
    await expect.poll(scrub, { timeout: 30_000, interval: 100 }).toContainEqual(wiped);
    expect(await filesHolding(schema, word)).toEqual([]);
    await record.close();
  });

  it("has no stated time while the server itself puts off the removal of rows", async () => {
    const record = await place.open();
    const { rows } = await place.pool.query(
      "SELECT current_setting('vacuum_defer_cleanup_age', true) AS age",
    );
    // The setting is gone since PostgreSQL 16.
    const hasSetting = rows[0]?.age !== null;
    const change = async (statement: string): Promise<void> => {
      if (!hasSetting) return;
      await place.pool.query(`ALTER SYSTEM ${statement}`);
      await place.pool.query("SELECT pg_reload_conf()");
    };
    await change("SET vacuum_defer_cleanup_age = 1");
    try {
      const read = async () => (await record.maintenance?.remains())?.[0]?.forMs;
      await expect.poll(read).toBe(hasSetting ? undefined : 7 * 86_400_000);
    } finally {
      await change("RESET vacuum_defer_cleanup_age");
    }
    await record.close();
  });

  it("is wiped in the background if tables are locked, and the receipt states the deadline", async () => {
    const record = await place.open({ logKeptMs: 86_400_000 });
    const schema = place.schemaOf(record);
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1", { content: WORD })] }));
    const holder = await place.pool.connect();
    await holder.query(`BEGIN; LOCK TABLE ${schema}.receipts IN ACCESS SHARE MODE`);
    const places = await record.erasures.scrub(ANN, [WORD]);
    expect(places.map(({ place: name }) => name)).not.toContain("PostgreSQL: freed space of its tables");
    await place.pool.query(`UPDATE ${schema}.freed SET up_to = NULL WHERE name = ''`);
    expect(await record.maintenance?.tidy()).toBe(0);
    await holder.query("ROLLBACK");
    holder.release();
    await place.pool.query(`UPDATE ${schema}.freed SET since = now() - interval '4 days'`);
    // Who reads what was before, in another test, puts this off, too.
    await expect.poll(() => record.maintenance?.tidy(), { timeout: 30_000, interval: 100 }).toBe(1);
    expect(await record.maintenance?.remains()).toEqual([
      { place: "PostgreSQL: freed space of its tables", forMs: 7 * 86_400_000 },
      { place: "PostgreSQL: write-ahead log", forMs: 86_400_000 },
    ]);
    await record.close();
  });

  it("is a fault if it outlasts the time that receipts state", async () => {
    const record = await place.open();
    const mark = (days: number) =>
      place.pool.query(
        `INSERT INTO ${place.schemaOf(record)}.freed (name, since) VALUES ('receipts', now() - make_interval(days => $1)) ` +
          "ON CONFLICT (name) DO UPDATE SET since = excluded.since",
        [days],
      );
    await mark(6);
    expect(await record.check()).toEqual([]);
    await mark(8);
    const problem = "of tables that were not rewritten within the time that receipts of erasures state";
    expect(await record.check()).toEqual([{ place: "freed space", problem, count: 1 }]);
    await record.close();
  });

  it("of a large table is wiped after an hour of collecting erasures", async () => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    const large = (i: number) => makeMessage(`m${i}`, { content: randomBytes(300_000).toString("hex") });
    for (let i = 0; i < 20; i += 1)
      await record.commit(ANN, makeChangeSet({ base: i, messages: [large(i)] }));
    const waiting = async (): Promise<string[]> => {
      const { rows } = await place.pool.query<{ name: string }>(
        `SELECT name FROM ${schema}.freed ORDER BY 1`,
      );
      return rows.map(({ name }) => name.replace(/_\d+$/, "")).filter((name) => name !== "");
    };
    // Who reads what was before, in another test, puts the smaller ones off, too.
    const scrub = async () => {
      const places = await record.erasures.scrub(ANN, [WORD]);
      expect(places.map(({ place: name }) => name)).not.toContain("PostgreSQL: freed space of its tables");
      return waiting();
    };
    await expect.poll(scrub, { timeout: 30_000, interval: 100 }).toEqual(["messages"]);
    await place.pool.query(`DELETE FROM ${schema}.freed WHERE name = ''`);
    expect([await record.maintenance?.tidy(), await waiting()]).toEqual([0, ["messages"]]);
    await place.pool.query(`UPDATE ${schema}.freed SET since = now() - interval '2 hours'`);
    await expect.poll(() => record.maintenance?.tidy(), { timeout: 30_000, interval: 100 }).toBe(1);
    expect(await waiting()).toEqual([]);
    await record.close();
  });
});
