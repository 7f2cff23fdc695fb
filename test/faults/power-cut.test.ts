import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled } from "../left-out.ts";
import { cutPower, traceWorkload, type WorkloadTrace } from "./power-cut.ts";

// `node test/faults/power-cut.ts` simulates thousands of cuts; here enough to see that it works.
const STATES = 60;
const REQUESTS = 14;

describe.skipIf(!isInstalled("strace"))("a power cut at any moment", () => {
  let trace: WorkloadTrace;
  let control: WorkloadTrace;
  beforeAll(() => {
    trace = traceWorkload(1, false, REQUESTS);
    control = traceWorkload(1, true, REQUESTS);
  }, 120_000);
  afterAll(() => {
    trace = control = { events: [], requests: [] };
  });

  it("loses no acknowledged write, leaves none in part, and brings nothing back that was erased", {
    timeout: 120_000,
  }, async () => {
    const { states, acked, ...cuts } = await cutPower(trace, STATES, 1);
    expect(states).toBe(STATES);
    expect(acked).toBeGreaterThan(2 * REQUESTS);
    expect(cuts).toEqual({ lost: 0, half: 0, corrupt: 0, resurrected: 0, ackBeforeSync: 0, findings: [] });
  });

  it("loses acknowledged writes in a third of the states of the control at least, where SQLite syncs less", {
    timeout: 120_000,
  }, async () => {
    const { states, lost, ackBeforeSync } = await cutPower(control, STATES, 1);
    // The long form asks for half, of more states and a longer trace.
    expect(lost).toBeGreaterThanOrEqual(states / 3);
    expect(ackBeforeSync).toBeGreaterThan(0);
  });
});
