import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { type PostgresPlace, testPlace } from "../../../test/postgres/place.ts";
import { makeChangeSet, makeMemory, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { memoryStoreConformance } from "../../testing/memory-store/memory-store-conformance.ts";
import { ANN, copyAll, requireStoreDump } from "../../testing/memory-store/store-contents.ts";
import { createInMemoryStore } from "../memory/index.ts";
import type { PostgresPool } from "./database/connection.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

describe.skipIf(!url)(`on a server${missing}`, () => {
  for (const [name, pipeline, fastPath] of [
    ["postgres", true, true],
    ["postgres, without the fast path", true, false],
    ["postgres, one query after the other", false, false],
  ] as const) {
    let place: PostgresPlace;
    memoryStoreConformance({
      name,
      // Many more are compared by `test/postgres/histories.ts`.
      randomHistories: fastPath ? 12 : 4,
      async setup() {
        place = testPlace(url ?? "", { pipeline });
      },
      open: () => place.open({ fastPath }),
      async reopen(record) {
        await record.close();
        return place.again(record, { fastPath });
      },
      second: (record) => place.again(record, { fastPath }),
      teardown: () => place.clear(),
    });
  }
});

describe.skipIf(!url)(`a PostgreSQL database copied from another store${missing}`, () => {
  it("has up-to-date statistics in the server", async () => {
    const place = testPlace(url ?? "", { pipeline: true });
    const elsewhere = createInMemoryStore();
    await elsewhere.commit(
      ANN,
      makeChangeSet({ messages: [makeMessage("m")], memories: [makeMemory("a"), makeMemory("b")] }),
    );
    const record = await place.open();
    const known = async (): Promise<unknown> => {
      const sql =
        "SELECT relname AS name, reltuples AS rows FROM pg_class WHERE relnamespace = $1::regnamespace " +
        "AND relname IN ('messages', 'heads', 'users') ORDER BY 1";
      return (await place.pool.query(sql, [place.schemaOf(record)])).rows;
    };
    await copyAll(requireStoreDump(elsewhere), requireStoreDump(record));
    expect(await known()).toEqual([
      { name: "heads", rows: 2 },
      { name: "messages", rows: 1 },
      { name: "users", rows: 1 },
    ]);
    await record.close();
    await place.clear();
  });
});

it("accepts a pool of pg", async () => {
  const pool = new Pool();
  const ours: PostgresPool = pool;
  expect(ours).toBe(pool);
  await pool.end();
});
