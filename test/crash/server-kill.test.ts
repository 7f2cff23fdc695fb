import { expect, it } from "vitest";
import { killServers, serverEnds } from "./server-kill.ts";

// The long form is run by `.ci/run`.

it("a server that is killed under load has kept every write that it acknowledged", {
  timeout: 60_000,
}, async () => {
  const { acknowledged, inFlight, faults } = await serverEnds("SIGKILL", 2, 20260103);
  expect(faults).toEqual([]);
  expect([acknowledged >= 20, inFlight > 0]).toEqual([true, true]);
});

it("a server that stops under load completes all requests that it received before", {
  timeout: 60_000,
}, async () => {
  const { acknowledged, inFlight, faults } = await serverEnds("SIGTERM", 2, 20260104);
  expect(faults).toEqual([]);
  expect([acknowledged >= 20, inFlight > 0]).toEqual([true, true]);
});

it("servers that are killed again and again on one file lose, halve and repeat no write", {
  timeout: 120_000,
}, async () => {
  const { faults, acked, ...counts } = await killServers(4, 20260107);
  expect(faults).toEqual([]);
  expect(counts).toMatchObject({ kills: 4, lost: 0, half: 0, dup: 0 });
  expect(acked).toBeGreaterThanOrEqual(40);
});
