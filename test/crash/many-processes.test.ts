import { expect, it } from "vitest";
import { playManyProcesses } from "./many-processes.ts";

// The long form is run by `.ci/run`.
it("processes that write, read and erase in one file, and are killed, lose nothing and bring nothing back", {
  timeout: 180_000,
}, async () => {
  const { faults, acked, histories } = await playManyProcesses(8, 20260106);
  expect(faults).toEqual([]);
  expect([histories, acked > 20]).toEqual([8, true]);
});
