import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createInMemoryVectorIndex } from "../../adapters/memory/index.ts";
import { openSqliteStore } from "../../adapters/sqlite/index.ts";
import { createMemory } from "../../memory.ts";
import { restoreMemory } from "../../restore.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import { readIds } from "../../testing/vector-index/index-fixtures.ts";

const ANN = { project: "default", user: "ann" };
let folder = "";
afterEach(() => rm(folder, { recursive: true, force: true }));

it("an index is filled again after the database was restored", async () => {
  folder = await mkdtemp(join(tmpdir(), "keepsake-restored-"));
  const path = join(folder, "keepsake.db");
  const copy = join(folder, "copy.db");
  const index = createInMemoryVectorIndex();
  const embedder = hashEmbedder(64);
  const first = await createMemory({ path, index: { ...index, close: async () => {} }, embedder });
  const ann = first.scope({ user: "ann" });
  await ann.remember("I play the cello.");
  await expect.poll(async () => (await readIds(index, ANN)).length).toBeGreaterThan(0);
  await first.backup(copy);
  // What is said and changed after the copy: the index takes it in, and the record has never heard of it in the end.
  const [memory] = (await ann.list()).items;
  await ann.update(memory?.id ?? "", { text: "Ann plays the tuba in a marching band." });
  const asOf = await ann.revision();
  await first.close();
  await restoreMemory({ from: copy, path, replace: true });

  const second = await createMemory({ path, index: { ...index, close: async () => {} }, embedder });
  // As many writes as there were, so that its revision is the one that the index knows.
  while ((await second.scope({ user: "ann" }).revision()) < asOf) {
    await second.scope({ user: "ann" }).remember("I keep bees.");
  }
  await second.close();
  const record = await openSqliteStore({ path });
  for (const { id, vector } of (await record.since(ANN, 0)).units) {
    const [hit] = await index.nearest(ANN, vector, { limit: 1 });
    expect({ id, near: (hit?.score ?? 0) > 0.99 }).toEqual({ id, near: true });
  }
  await record.close();
});
