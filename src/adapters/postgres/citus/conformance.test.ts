import { describe } from "vitest";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import { memoryStoreConformance } from "../../../testing/memory-store/memory-store-conformance.ts";

const { KEEPSAKE_TEST_CITUS: url } = process.env;
const missing = url ? "" : " (needs KEEPSAKE_TEST_CITUS, the address of a coordinator with workers)";

describe.skipIf(!url)(`on a Citus cluster${missing}`, () => {
  let place: PostgresPlace;
  memoryStoreConformance({
    name: "postgres on Citus",
    randomHistories: 6,
    async setup() {
      place = testPlace(url ?? "", { pipeline: true, options: "-c citus.shard_count=4" });
    },
    open: () => place.open(),
    async reopen(record) {
      await record.close();
      return place.again(record);
    },
    second: (record) => place.again(record),
    teardown: () => place.clear(),
  });
});
