import { afterAll, beforeAll, describe } from "vitest";
import { type MariadbPlace, testMariadb } from "../../../../test/mariadb/place.ts";
import type { Calls } from "../../../ports/language/model-calls.ts";
import { documentsConformance } from "../../../testing/documents-conformance.ts";
import { callsConformance } from "../../../testing/model-calls-conformance.ts";
import type { MariadbStore } from "../index.ts";

const { KEEPSAKE_TEST_MARIADB: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_MARIADB: eval "$(test/services/up mariadb)")';

describe.skipIf(!url)(`on a server${missing}`, () => {
  let place: MariadbPlace;
  const stores = new Map<Calls, MariadbStore>();
  let current: MariadbStore;
  beforeAll(() => {
    place = testMariadb(url ?? "");
  });
  afterAll(() => place.clear(), 60_000);

  const known = (store: MariadbStore): Calls => {
    stores.set(store.calls, store);
    return store.calls;
  };
  callsConformance({
    name: "mariadb",
    open: async () => known(await place.open()),
    reopen: async (calls) => {
      const store = stores.get(calls);
      await store?.close();
      return known(await place.again(store ?? {}));
    },
  });
  documentsConformance({
    name: "mariadb",
    async open() {
      current = await place.open();
      return current.documents;
    },
    second: async () => (await place.again(current)).documents,
  });
});
