import { writeSync } from "node:fs";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";

// `open-child.ts PATH`: opens a file, says so, and closes it.
const [, , path = ""] = process.argv;
writeSync(1, "begun\n");
try {
  const record = await openSqliteStore({ path });
  writeSync(1, "opened\n");
  await record.close();
} catch (error) {
  writeSync(1, `${(error as { code?: string }).code}: ${(error as Error).message}\n`);
}
