import { afterAll, beforeAll, describe } from "vitest";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import type { Calls } from "../../../ports/language/model-calls.ts";
import { callsConformance } from "../../../testing/model-calls-conformance.ts";
import type { PostgresStore } from "../index.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

describe.skipIf(!url)(`on a server${missing}`, () => {
  let place: PostgresPlace;
  const records = new Map<Calls, PostgresStore>();
  beforeAll(() => {
    place = testPlace(url ?? "", { pipeline: true });
  });
  afterAll(() => place.clear(), 60_000);

  const known = (record: PostgresStore): Calls => {
    records.set(record.calls, record);
    return record.calls;
  };
  callsConformance({
    name: "postgres",
    open: async () => known(await place.open()),
    reopen: async (calls) => {
      const record = records.get(calls);
      await record?.close();
      return known(await place.again(record ?? {}));
    },
  });
});
