import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Place, testPlace } from "../../../test/postgres/place.ts";
import { changes, erasure, memory, message, unit } from "../../testing/change-sets.ts";
import { ANN, BOB } from "../../testing/record-dump.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
const WORD = "zqx81canary";

describe.skipIf(!url)(`what an erasure leaves in the files of the tables${missing}`, () => {
  let place: Place;
  beforeAll(() => {
    place = testPlace(url ?? "", { pipeline: true });
  });
  afterAll(() => place.clear(), 60_000);

  /** How many files of tables of a schema hold the word, asked of the server's own disk. */
  async function filesHolding(schema: string): Promise<string[]> {
    await place.pool.query("CHECKPOINT");
    const { rows } = await place.pool.query<{ name: string }>(
      "SELECT c.relname AS name FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid " +
        "WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'i') AND (" +
        "position($2::bytea IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0 OR " +
        "(t.oid IS NOT NULL AND position($2::bytea IN pg_read_binary_file(pg_relation_filepath(t.oid))) > 0)) ORDER BY 1",
      [schema, Buffer.from(WORD)],
    );
    return rows.map(({ name }) => name);
  }

  it("is nothing, once it is verified; and everything before", async () => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    await record.commit(
      ANN,
      changes({
        messages: [message("m1", { content: `I keep a ${WORD}.` })],
        memories: [memory("a", 1, { text: `The user keeps a ${WORD}.` })],
        units: [unit("a", "memory", "a", WORD), unit("m1#0", "passage", "m1", WORD)],
      }),
    );
    await record.commit(BOB, changes({ messages: [message("m1")], memories: [memory("a")] }));
    await record.keepBlock(ANN, { revision: 1, bytes: Buffer.from(WORD) });
    await record.commit(
      ANN,
      changes({
        base: 1,
        cause: "forget",
        dropUnits: ["m1#0"],
        erase: {
          messages: [{ id: "m1", content: "", keepMetadata: false }],
          memories: ["a"],
          rewrites: [],
          receipt: erasure("e1"),
        },
      }),
    );
    const before = (await filesHolding(schema)).map((name) => name.replace(/_\d+$/, ""));
    expect(before).toEqual(["blocks", "messages", "units", "versions"]);
    const places = await record.scrub(ANN, [WORD]);
    expect(places).toContainEqual({ place: "PostgreSQL: freed space of its tables", found: 0 });
    expect(await filesHolding(schema)).toEqual([]);
    expect((await record.since(BOB, 0)).messages).toHaveLength(1);
    expect(await place.pool.query(`SELECT name FROM ${schema}.freed`)).toMatchObject({
      rows: [{ name: "" }],
    });
    await record.close();
  });

  it("is in the log until that was turned over, which the background does", async () => {
    const record = await place.open();
    const schema = place.schemaOf(record);
    await record.commit(ANN, changes({ messages: [message("m1", { content: WORD })] }));
    await record.scrub(ANN, [WORD]);
    const position = async (): Promise<number> => {
      const sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS at";
      return (await place.pool.query<{ at: number }>(sql)).rows[0]?.at ?? 0;
    };
    const before = await position();
    expect(await record.tidy?.()).toBe(3);
    expect(await position()).toBeGreaterThan(before + 2 * 16 * 1024 * 1024);
    const [, log] = (await record.remains?.()) ?? [];
    expect(log).toEqual({ place: "PostgreSQL: write-ahead log", forMs: 7 * 86_400_000 });
    await place.pool.query(`UPDATE ${schema}.freed SET up_to = NULL`);
    expect([await record.tidy?.(), await record.tidy?.()]).toEqual([0, 0]);
    expect((await place.pool.query(`SELECT name FROM ${schema}.freed`)).rows).toEqual([]);
    await record.close();
  });

  it("is done in the background where the tables could not be had, and the receipt says until when", async () => {
    const record = await place.open({ logKeptMs: 86_400_000 });
    const schema = place.schemaOf(record);
    await record.commit(ANN, changes({ messages: [message("m1", { content: WORD })] }));
    const holder = await place.pool.connect();
    await holder.query(`BEGIN; LOCK TABLE ${schema}.receipts IN ACCESS SHARE MODE`);
    const places = await record.scrub(ANN, [WORD]);
    expect(places.map(({ place: name }) => name)).not.toContain("PostgreSQL: freed space of its tables");
    await place.pool.query(`UPDATE ${schema}.freed SET up_to = NULL WHERE name = ''`);
    expect(await record.tidy?.()).toBe(0);
    await holder.query("ROLLBACK");
    holder.release();
    await place.pool.query(`UPDATE ${schema}.freed SET since = now() - interval '4 days'`);
    expect(await record.tidy?.()).toBe(1);
    expect(await record.remains?.()).toEqual([
      { place: "PostgreSQL: freed space of its tables", forMs: 7 * 86_400_000 },
      { place: "PostgreSQL: write-ahead log", forMs: 86_400_000 },
    ]);
    await record.close();
  });
});
