import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { memoryStoreConformance } from "../../testing/memory-store/memory-store-conformance.ts";
import { createInMemoryStore } from "../memory/index.ts";
import { openSqliteStore, textSecret } from "../sqlite/index.ts";
import { openSealedStore, secretKeyWrapper } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-sealed-"));
const wrapper = secretKeyWrapper(textSecret("a secret for the tests of encryption"));
const paths = new WeakMap<MemoryStore, string>();
let count = 0;

const nextPath = (): string => {
  count += 1;
  return join(folder, `${count}.db`);
};

async function seal(store: MemoryStore, path: string): Promise<MemoryStore> {
  const sealed = await openSealedStore(store, { keysPath: `${path}.keys`, wrapper });
  paths.set(sealed, path);
  return sealed;
}

const pathOf = (store: MemoryStore): string => paths.get(store) ?? "";
const openFile = async (path: string): Promise<MemoryStore> => seal(await openSqliteStore({ path }), path);

const knownGaps = {
  "erases a user's answers with an erasure, in the same commit, and no one else's":
    "a scrub does not look into kept answers, which the erasure deletes in its commit",
};

afterAll(() => rmSync(folder, { recursive: true }));

memoryStoreConformance({
  name: "encrypted, in memory",
  lacks: ["dump", "maintenance", "sharing", "attachments"],
  knownGaps,
  randomHistories: 20,
  open: () => seal(createInMemoryStore(), nextPath()),
});

memoryStoreConformance({
  name: "encrypted, sqlite in a file",
  lacks: ["dump", "sharing", "attachments"],
  knownGaps,
  randomHistories: 10,
  open: () => openFile(nextPath()),
  async reopen(store) {
    await store.close();
    return openFile(pathOf(store));
  },
  second: (store) => openFile(pathOf(store)),
});
