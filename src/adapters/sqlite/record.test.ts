import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Record } from "../../ports/record.ts";
import { recordConformance } from "../../testing/record-conformance.ts";
import { openSqliteRecord } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-sqlite-"));
const paths = new WeakMap<Record, string>();
let count = 0;

async function open(path: string): Promise<Record> {
  const record = await openSqliteRecord({ path });
  paths.set(record, path);
  return record;
}

const pathOf = (record: Record): string => paths.get(record) ?? "";

afterAll(() => rmSync(folder, { recursive: true }));

recordConformance({ name: "sqlite in memory", open: () => open(":memory:") });

recordConformance({
  name: "sqlite in a file",
  randomHistories: 40,
  open: () => {
    count += 1;
    return open(join(folder, `${count}.db`));
  },
  async reopen(record) {
    await record.close();
    return open(pathOf(record));
  },
  second: (record) => open(pathOf(record)),
});
