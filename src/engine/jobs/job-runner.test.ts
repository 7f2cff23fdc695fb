import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { MemoryError } from "../../errors.ts";
import type { Job, JobStep } from "./job.ts";
import { createSerializer } from "./job.ts";
import { createJobRunner, type JobRunner } from "./job-runner.ts";

let record = createInMemoryStore();
const stopping = { controller: new AbortController() };
let started: JobRunner[] = [];

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-03-01T10:00:00Z") });
  stopping.controller = new AbortController();
  record = createInMemoryStore();
});
afterEach(async () => {
  stopping.controller.abort(new Error("stopped"));
  const ended = Promise.all(started.map((one) => one.end()));
  await vi.advanceTimersByTimeAsync(1000);
  await ended;
  started = [];
  vi.useRealTimers();
});

/** A job whose runs are counted, and wait where a gate is given. */
function job(fields: Partial<Job> & { steps?: (signal: AbortSignal) => AsyncGenerator<JobStep> } = {}) {
  const seen = { begun: 0, ended: 0, atOnce: 0, most: 0 };
  const given: Job = {
    name: "expiry",
    about: "counts",
    restFactor: 0,
    async *run(signal) {
      seen.begun += 1;
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      try {
        if (fields.steps) yield* fields.steps(signal);
        else yield { done: 1 };
        seen.ended += 1;
      } finally {
        seen.atOnce -= 1;
      }
    },
    ...fields,
  };
  const running = createJobRunner(
    { clock: () => new Date(), store: record },
    given,
    stopping.controller.signal,
  );
  started.push(running);
  return { running, seen };
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

it("runs when requested, and once more when requested during a run", async () => {
  const { running, seen } = job({
    async *steps() {
      await pause(50);
      yield { done: 1 };
    },
  });
  running.requestRun();
  await pass(10);
  running.requestRun();
  running.requestRun();
  expect((await running.state()).state).toBe("running");
  await pass(200);
  expect(seen).toMatchObject({ begun: 2, ended: 2, most: 1 });
  expect(await running.state()).toMatchObject({ state: "idle", done: 1, attempts: 0 });
});

it("runs again at its interval, and reports when", async () => {
  const { running, seen } = job({ everyMs: 60_000 });
  running.start(5000);
  expect(await running.state()).toMatchObject({ state: "scheduled", nextRun: "2026-03-01T10:00:05.000Z" });
  await pass(5000);
  expect(seen.ended).toBe(1);
  expect(await running.state()).toMatchObject({
    lastRun: "2026-03-01T10:00:05.000Z",
    nextRun: "2026-03-01T10:01:05.000Z",
  });
  await pass(120_000);
  expect(seen.ended).toBe(3);
});

it("retries after a failure with longer pauses, and reports the problem", async () => {
  let isDown = true;
  const { running, seen } = job({
    async *steps() {
      if (isDown) throw new MemoryError("unavailable", "the database is locked.");
      yield { done: 7 };
    },
  });
  running.requestRun();
  await pass(0);
  expect(await running.state()).toMatchObject({
    state: "failing",
    attempts: 1,
    problem: "the database is locked.",
    nextRun: "2026-03-01T10:00:01.000Z",
  });
  await pass(3000);
  expect(seen.begun).toBe(3);
  expect((await running.state()).attempts).toBe(3);
  isDown = false;
  await pass(4000);
  const state = await running.state();
  expect(state).toMatchObject({ state: "idle", done: 7, attempts: 0 });
  expect(state.problem).toBeUndefined();
});

it("reports a foreign error only as an internal error", async () => {
  const { running } = job({
    // biome-ignore lint/correctness/useYield: it fails before.
    async *steps() {
      throw new TypeError("Ana's salary is not a function");
    },
  });
  running.requestRun();
  await pass(0);
  expect((await running.state()).problem).toBe("internal error.");
});

it("rests after each step three times as long as the step took", async () => {
  const at: number[] = [];
  const { running } = job({
    restFactor: 3,
    async *steps() {
      for (let done = 1; done <= 3; done += 1) {
        await pause(20);
        at.push(Date.now());
        yield { done };
      }
    },
  });
  running.requestRun();
  await pass(1000);
  expect(at.map((time) => time - (at[0] ?? 0))).toEqual([0, 80, 160]);
});

it("serialized jobs never run together, and the next one runs after a failure", async () => {
  const inTurn = createSerializer();
  let atOnce = 0;
  let most = 0;
  const one = (name: "expiry" | "decay", fails: boolean): Job =>
    inTurn({
      name,
      about: "takes its turn",
      restFactor: 0,
      async *run() {
        atOnce += 1;
        most = Math.max(most, atOnce);
        try {
          await pause(20);
          if (fails) throw new Error("broken");
          yield { done: 1 };
        } finally {
          atOnce -= 1;
        }
      },
    });
  const all = [one("expiry", true), one("decay", false)].map((each) =>
    createJobRunner({ clock: () => new Date(), store: record }, each, stopping.controller.signal),
  );
  started.push(...all);
  for (const each of all) each.requestRun();
  await pass(100);
  expect(most).toBe(1);
  expect(await all[1]?.state()).toMatchObject({ state: "idle", done: 1 });
});

it("ends at a stop in the middle of a run, and never runs again", async () => {
  const { running, seen } = job({
    everyMs: 1000,
    async *steps(signal) {
      for (let done = 1; !signal.aborted; done += 1) {
        await pause(10);
        yield { done };
      }
      signal.throwIfAborted();
    },
  });
  running.start(0);
  await pass(35);
  stopping.controller.abort(new Error("stopped"));
  const ended = running.end();
  await pass(10);
  await ended;
  // By what timers of its own would do: other files' remains in this thread may have set some as well.
  const renewed = vi.spyOn(record.jobs, "renewLease");
  running.requestRun();
  await pass(100_000);
  expect(seen).toMatchObject({ begun: 1, ended: 0, atOnce: 0 });
  expect(renewed).not.toHaveBeenCalled();
  expect((await running.state()).state).toBe("idle");
});

it("makes room for the same work in the foreground, and continues afterwards", async () => {
  const { running, seen } = job({
    async *steps(signal) {
      for (let done = 1; done < 1000; done += 1) {
        signal.throwIfAborted();
        await pause(10);
        yield { done };
      }
    },
  });
  running.requestRun();
  await pass(20);
  const shown = (async () => {
    for await (const step of running.runNow(async function* () {
      expect(seen.atOnce).toBe(0);
      yield "mine";
    }))
      return step;
    return undefined;
  })();
  await pass(20);
  expect(await shown).toBe("mine");
  await pass(0);
  expect(seen).toMatchObject({ begun: 2, atOnce: 1 });
});

it("shows the note of another process until it has run itself", async () => {
  await record.jobs.saveJobRun({
    name: "decay",
    at: "2026-02-01T00:00:00.000Z",
    tookMs: 5,
    done: 3,
    attempts: 0,
  });
  const { running } = job({ name: "decay" });
  expect(await running.state()).toMatchObject({
    state: "idle",
    lastRun: "2026-02-01T00:00:00.000Z",
    done: 3,
  });
  running.requestRun();
  await pass(0);
  expect(await running.state()).toMatchObject({ lastRun: "2026-03-01T10:00:00.000Z", done: 1 });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
