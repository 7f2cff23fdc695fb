import { createPool } from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { type MariadbPlace, testMariadb } from "../../../test/mariadb/place.ts";
import { memoryStoreConformance } from "../../testing/memory-store/memory-store-conformance.ts";
import { ANN, makeFullChangeSet } from "../../testing/memory-store/store-contents.ts";
import type { MariadbPool } from "./index.ts";

const { KEEPSAKE_TEST_MARIADB: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_MARIADB: eval "$(test/services/up mariadb)")';

describe.skipIf(!url)(`on a server${missing}`, () => {
  let place: MariadbPlace;
  memoryStoreConformance({
    name: "mariadb",
    randomHistories: 20,
    async setup() {
      place = testMariadb(url ?? "");
    },
    open: () => place.open(),
    async reopen(store) {
      await store.close();
      return place.again(store);
    },
    second: (store) => place.again(store),
    teardown: () => place.clear(),
  });
});

describe.skipIf(!url)(`a write on MariaDB that waits for a lock${missing}`, () => {
  it("fails once the time for one wait is over, and again succeeds when the lock is free", async () => {
    const place = testMariadb(url ?? "");
    const store = await place.open({ timeoutMs: 2500, patienceMs: 200 });
    const pool = createPool({ uri: place.addressOf(store) });
    await store.commit(ANN, makeFullChangeSet("0"));
    const other = await pool.getConnection();
    await other.query("START TRANSACTION");
    await other.query("SELECT * FROM users FOR UPDATE");
    const begun = performance.now();
    const write = () => store.commit(ANN, { ...makeFullChangeSet("1"), base: 1 });
    await expect(write()).rejects.toMatchObject({ code: "unavailable", cause: { errno: 1205 } });
    // One wait takes a second; eight would take eight.
    expect(performance.now() - begun).toBeLessThan(6000);
    await other.query("ROLLBACK");
    other.release();
    expect(await write()).toBe(2);
    await store.close();
    await pool.end();
    await place.clear();
  });
});

it("accepts a pool of mysql2", async () => {
  const pool = createPool({});
  const ours: MariadbPool = pool;
  expect(ours).toBe(pool);
  await pool.end();
});
