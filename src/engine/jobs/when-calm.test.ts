import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Job, JobStep } from "./job.ts";
import { deferWhileBusy } from "./job.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function twoSteps(): Job {
  return {
    name: "expiry",
    about: "counts",
    restFactor: 0,
    async *run() {
      yield { done: 1 };
      yield { done: 2 };
    },
  };
}

/** The steps that were made so far, as they are made. */
function running(workload: () => number, signal: AbortSignal = new AbortController().signal) {
  const steps: JobStep[] = [];
  const ended = (async () => {
    for await (const step of deferWhileBusy(twoSteps(), workload).run(signal)) steps.push(step);
  })();
  return { steps, ended };
}

it("waits before each step while the process is busy", async () => {
  let share = 0.9;
  const { steps, ended } = running(() => share);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(steps).toEqual([]);
  share = 0.1;
  await vi.advanceTimersByTimeAsync(1000);
  await ended;
  expect(steps).toEqual([{ done: 1 }, { done: 2 }]);
});

it("runs eventually in a process that is always busy", async () => {
  const { steps, ended } = running(() => 1);
  await vi.advanceTimersByTimeAsync(14 * 60_000);
  expect(steps).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  await ended;
  expect(steps).toHaveLength(2);
});

it("stops waiting when its owner stops", async () => {
  const stopping = new AbortController();
  const { steps, ended } = running(() => 1, stopping.signal);
  const failed = expect(ended).rejects.toThrow("stopped");
  await vi.advanceTimersByTimeAsync(5000);
  stopping.abort(new Error("stopped"));
  await vi.advanceTimersByTimeAsync(0);
  await failed;
  expect(steps).toEqual([]);
});

it("measures this process when no workload is given", async () => {
  vi.useRealTimers();
  const steps: JobStep[] = [];
  for await (const step of deferWhileBusy(twoSteps()).run(new AbortController().signal)) steps.push(step);
  expect(steps).toHaveLength(2);
});
