import { describe, expect, it } from "vitest";
import { playShareHistories } from "../../../test/sharing/play-histories.ts";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { openSqliteStore } from "../../adapters/sqlite/index.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";

/** `npm run campaign -- --only S10 --size full` plays a thousand. */
const STORES: readonly (readonly [string, number, () => Promise<MemoryStore>])[] = [
  ["memory", 12, async () => createInMemoryStore()],
  ["sqlite", 2, () => openSqliteStore({ path: ":memory:" })],
];

describe.each(STORES)("what users see of each other in the store %s", (_name, histories, openStore) => {
  it(`is what the model says, in ${histories} random histories`, { timeout: 600_000 }, async () => {
    const counts = await playShareHistories(openStore, { histories });
    expect(counts.histories).toBe(histories);
    // Else it would compare nothing with nothing.
    if (histories >= 10) expect([counts.learnt, counts.sharedMemories].every((one) => one > 0)).toBe(true);
  });
});
