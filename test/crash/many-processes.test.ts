import { expect, it } from "vitest";
import { playManyProcesses } from "./many-processes.ts";

// `.ci/run` plays 20 histories, and `npm run -s campaign -- --size full` plays 2,000.
it("processes that write, read and erase in one file, and are killed, lose nothing and bring nothing back", {
  timeout: 180_000,
}, async () => {
  const { faults, acked, histories, backups } = await playManyProcesses(8, 20260106);
  expect(faults).toEqual([]);
  expect([histories, acked > 20, backups > 0]).toEqual([8, true, true]);
});
