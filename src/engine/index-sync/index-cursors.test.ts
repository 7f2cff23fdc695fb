import { beforeEach, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { createIndexCursors } from "./index-cursors.ts";

const ANN = { project: "default", user: "ann" };
const NAME = "following shaky";
const noted = async (record: MemoryStore): Promise<number | undefined> =>
  (await record.jobs.userProgress(NAME, ANN))?.revision;

let record: MemoryStore;
beforeEach(async () => {
  record = createInMemoryStore();
  await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
  await record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
});

it("a cursor is cached at once, and saved a little later", async () => {
  const cursors = createIndexCursors(record.jobs, NAME);
  expect(await cursors.get(ANN)).toBe(0);
  cursors.advance(ANN, 2);
  expect([await cursors.get(ANN), await noted(record)]).toEqual([2, undefined]);
  await cursors.flush();
  expect(await noted(record)).toBe(2);
});

it("a cursor that another process has reset meanwhile stays reset", async () => {
  const cursors = createIndexCursors(record.jobs, NAME);
  cursors.advance(ANN, 1);
  await cursors.flush();
  // Somebody clears the index and fills it anew.
  await record.jobs.saveProgress(NAME, [{ scope: ANN, visit: { revision: 0 } }]);
  cursors.advance(ANN, 2);
  await cursors.flush();
  expect(await noted(record)).toBe(0);
  expect(await cursors.get(ANN)).toBe(0);
});

it("a cursor that another process has advanced may be saved with the local value", async () => {
  const cursors = createIndexCursors(record.jobs, NAME);
  expect(await cursors.get(ANN)).toBe(0);
  await record.jobs.saveProgress(NAME, [{ scope: ANN, visit: { revision: 1 } }]);
  cursors.advance(ANN, 2);
  await cursors.flush();
  expect(await noted(record)).toBe(2);
});
