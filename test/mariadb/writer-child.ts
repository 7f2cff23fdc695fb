import { createPool } from "mysql2/promise";
import { openMariadbStore } from "../../src/adapters/mariadb/index.ts";
import { ANN, makeFullChangeSet } from "../../src/testing/memory-store/store-contents.ts";

/** Writes one change after the other, `writer-child.ts ADDRESS`, and says each revision once it is acknowledged. */
const pool = createPool({ uri: process.argv[2] ?? "", connectionLimit: 2 });
const store = await openMariadbStore({ pool });
for (let base = await store.revision(ANN); ; base += 1) {
  process.stdout.write(`${await store.commit(ANN, { ...makeFullChangeSet(String(base)), base })}\n`);
}
