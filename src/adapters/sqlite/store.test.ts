import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { memoryStoreConformance } from "../../testing/memory-store/memory-store-conformance.ts";
import { openSqliteStore } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-sqlite-"));
const paths = new WeakMap<MemoryStore, string>();
let count = 0;

async function open(path: string): Promise<MemoryStore> {
  const record = await openSqliteStore({ path });
  paths.set(record, path);
  return record;
}

const pathOf = (record: MemoryStore): string => paths.get(record) ?? "";

afterAll(() => rmSync(folder, { recursive: true }));

memoryStoreConformance({ name: "sqlite in memory", open: () => open(":memory:") });

memoryStoreConformance({
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
