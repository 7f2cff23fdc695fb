import { expect, it } from "vitest";
import { eraseAmongProcesses } from "./two-process-erasure.ts";

// The long form is run by `.ci/run`.
it.each(["list", "server", "remember"] as const)(
  "a server that erased, and is killed after another process (%s) used the file, has kept what it acknowledged",
  { timeout: 120_000 },
  async (other) => {
    const { acked, faults } = await eraseAmongProcesses(1, 20260105, undefined, other);
    expect(faults).toEqual([]);
    expect(acked).toBeGreaterThanOrEqual(2);
  },
);
