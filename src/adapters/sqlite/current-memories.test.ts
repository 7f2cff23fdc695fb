import { expect, it } from "vitest";
import { makeChangeSet, makeMemory } from "../../testing/memory-store/change-sets.ts";
import { openSqliteStore } from "./index.ts";

const MANY = 30_000;
const ANN = { project: "default", user: "ann" };
/** Processor time of this thread, in ms. To go through all of the user's versions takes twice as long. */
const MOST_MS = 20;

it("reads a page of current memories without scanning all 30,000 of a user", async () => {
  const record = await openSqliteStore({ path: ":memory:" });
  const memories = Array.from({ length: MANY }, (_, i) =>
    makeMemory(`a${i}`, 1, i % 3 === 0 ? { status: "retracted" } : {}),
  );
  await record.commit(ANN, makeChangeSet({ memories }));
  const took: number[] = [];
  for (let time = 0; time < 4; time += 1) {
    const before = process.threadCpuUsage();
    const page = await record.jobs.currentMemories(ANN, { after: "a15000", limit: 100 });
    const { user, system } = process.threadCpuUsage(before);
    took.push((user + system) / 1000);
    expect(page.memories.map(({ id }) => id).slice(0, 3)).toEqual(["a15001", "a15002", "a15004"]);
    expect([page.memories.length, page.more]).toEqual([100, true]);
  }
  expect(Math.min(...took), `${took.map(Math.round).join(", ")} ms`).toBeLessThan(MOST_MS);
  await record.close();
});
