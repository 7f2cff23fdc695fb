import { expect, it } from "vitest";
import { importKill } from "./import-kill.ts";
import { writerKill } from "./writer-kill.ts";

// The long forms, 200 and 50 kills, are run by `.ci/run`.

it("a writer killed at random moments loses nothing that it acknowledged", { timeout: 60_000 }, async () => {
  const { acknowledged, faults } = await writerKill(8, 20260101);
  expect(faults).toEqual([]);
  expect(acknowledged).toBeGreaterThan(8);
});

it("an import killed halfway is completed by running it again", { timeout: 60_000 }, async () => {
  expect(await importKill(3, 20260102, 120)).toEqual([]);
});
