import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { type Place, testPlace } from "../../../test/postgres/place.ts";
import { recordConformance } from "../../testing/record-conformance.ts";
import type { PostgresPool } from "./pool.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

describe.skipIf(!url)(`on a server${missing}`, () => {
  for (const pipeline of [true, false]) {
    let place: Place;
    recordConformance({
      name: pipeline ? "postgres" : "postgres, one query after the other",
      // Many more are compared by `test/postgres/histories.ts`.
      randomHistories: pipeline ? 12 : 4,
      async setup() {
        place = testPlace(url ?? "", { pipeline });
      },
      open: () => place.open(),
      async reopen(record) {
        await record.close();
        return place.again(record);
      },
      second: (record) => place.again(record),
      teardown: () => place.clear(),
    });
  }
});

it("takes a pool of pg as it is", async () => {
  const pool = new Pool();
  const ours: PostgresPool = pool;
  expect(ours).toBe(pool);
  await pool.end();
});
