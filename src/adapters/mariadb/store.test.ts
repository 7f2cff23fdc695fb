import { createPool } from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { type MariadbPlace, testMariadb } from "../../../test/mariadb/place.ts";
import { memoryStoreConformance } from "../../testing/memory-store/memory-store-conformance.ts";
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

it("accepts a pool of mysql2", async () => {
  const pool = createPool({});
  const ours: MariadbPool = pool;
  expect(ours).toBe(pool);
  await pool.end();
});
