import { describe, expect, it } from "vitest";
import { playReplayHistories } from "../../../test/replay/play-histories.ts";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { openSqliteStore } from "../../adapters/sqlite/index.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";

/** `npm run campaign -- --only P6 --size full` plays a thousand. */
const STORES: readonly (readonly [string, number, () => Promise<MemoryStore>])[] = [
  ["memory", 20, async () => createInMemoryStore()],
  ["sqlite", 4, () => openSqliteStore({ path: ":memory:" })],
];

describe.each(STORES)("replays of a store in %s", (_name, histories, openStore) => {
  it(`have the digests of the store, in ${histories} random histories of every kind of change`, {
    timeout: 600_000,
  }, async () => {
    const counts = await playReplayHistories(openStore, { histories });
    expect(counts.histories).toBe(histories);
    // Else it would compare nothing with nothing.
    if (histories >= 20) expect([counts.facts, counts.takenFacts].every((one) => one > 0)).toBe(true);
  });
});
