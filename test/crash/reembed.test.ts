import { expect, it } from "vitest";
import { reembedKill } from "./reembed-kill.ts";

// The long form, 20,000 memories, is run by `.ci/run`.

it("a killed re-embedding continues, and no search in between fails or mixes embedders", {
  timeout: 120_000,
}, async () => {
  const { faults, kills, searches } = await reembedKill(2000, 3, 20260103);
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThan(1);
  expect(searches).toBeGreaterThan(20);
});

it("an embedder that a project chooses comes as safely: 20 kills, and the old one is given nothing", {
  timeout: 240_000,
}, async () => {
  const { faults, kills, searches } = await reembedKill(2000, 20, 20261128, "choice");
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThan(10);
  expect(searches).toBeGreaterThan(20);
});
