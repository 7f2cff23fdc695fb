import { expect, it } from "vitest";
import { reembedKill } from "./reembed-kill.ts";

// The long form, 20,000 memories, is run by `.ci/run`.

it("a re-embedding that is killed goes on, and no search in between fails or mixes spaces", {
  timeout: 120_000,
}, async () => {
  const { faults, kills, searches } = await reembedKill(2000, 3, 20260103);
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThan(1);
  expect(searches).toBeGreaterThan(20);
});
