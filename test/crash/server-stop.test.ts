import { expect, it } from "vitest";
import { serverStops } from "./server-stop.ts";

// The long form is run by `.ci/run`.

it("a server that is told to stop under load, with streams that never end, ends with 0 within five seconds and loses nothing", {
  timeout: 120_000,
}, async () => {
  const { acknowledged, exitMs, faults } = await serverStops(2, 20260105);
  expect(faults).toEqual([]);
  expect([acknowledged >= 10, exitMs.length]).toEqual([true, 2]);
});
