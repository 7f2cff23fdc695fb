import { describe, expect, it } from "vitest";
import { createMemoryQueue } from "../adapters/memory/queue.ts";
import type { JobName } from "../domain/operations/job.ts";
import { MemoryError } from "../errors.ts";
import type { Queue } from "../ports/queue.ts";
import { QUEUE_CASES } from "./queue-conformance.ts";

type Fault = (queue: Queue) => Partial<Queue>;
type Run = (signal: AbortSignal) => Promise<void>;

/** A queue whose runs are others than those that its workers gave. */
const changingRuns =
  (change: (run: Run, job: JobName) => Run): Fault =>
  (queue) => ({ work: (job, run) => queue.work(job, change(run, job)) });

/** By the case that must detect it, what is wrong with a queue. */
const FAULTS: { readonly [title: string]: { readonly [what: string]: Fault } } = {
  "runs an offer once, by one of the workers": {
    "runs an offer twice": changingRuns((run) => async (signal) => {
      await run(signal);
      await run(signal);
    }),
    "loses an offer": () => ({ offer: () => undefined }),
  },
  "keeps jobs apart": {
    "runs all jobs at an offer": (queue) => ({
      offer(_job, options) {
        for (const job of ["expiry", "decay"] as const) queue.offer(job, options);
      },
    }),
  },
  "treats several offers of a waiting job as one": {
    "runs each offer of a waiting job": (queue) => {
      let offers = 0;
      return {
        offer(job, options) {
          offers += 1;
          queue.offer(job, options);
        },
        work: (job, run) =>
          queue.work(job, async (signal) => {
            for (; offers > 0; offers -= 1) await run(signal);
          }),
      };
    },
  },
  "runs a job once more if it was offered during a run, and never twice at once": {
    "loses an offer during a run": (queue) => {
      let isRunning = false;
      return {
        offer(job, options) {
          if (!isRunning) queue.offer(job, options);
        },
        work: (job, run) =>
          queue.work(job, async (signal) => {
            isRunning = true;
            await run(signal).finally(() => {
              isRunning = false;
            });
          }),
      };
    },
    "runs a job twice at once": changingRuns((run) => async (signal) => {
      await Promise.all([run(signal), run(signal)]);
    }),
  },
  "runs offers that were made before there was a worker": {
    "loses an offer that no worker waits for": (queue) => {
      const worked = new Set<JobName>();
      return {
        offer(job, options) {
          if (worked.has(job)) queue.offer(job, options);
        },
        work(job, run) {
          worked.add(job);
          return queue.work(job, run);
        },
      };
    },
  },
  "keeps a delayed offer until its time": {
    "ignores a delay": (queue) => ({ offer: (job) => queue.offer(job) }),
  },
  "retries a failing run, then quarantines it, and continues with the next offer": {
    "gives up a run that fails": changingRuns((run) => (signal) => run(signal).catch(() => undefined)),
    "retries every failing run without limit": changingRuns((run) => async (signal) => {
      await run(signal).catch(() => {
        throw new MemoryError("unavailable", "it is down.");
      });
    }),
    "shows a user's text": (queue) => ({
      setAside: async (limit) =>
        (await queue.setAside(limit)).map((one) => ({ ...one, message: "Ana's salary" })),
    }),
  },
  "reports the codes of our own errors, newest first": {
    "reports the oldest first": (queue) => ({
      setAside: async (limit) => (await queue.setAside(limit)).reverse(),
    }),
    "reports every error as an internal one": (queue) => ({
      setAside: async (limit) =>
        (await queue.setAside(limit)).map((one) => ({ ...one, problem: "internal" })),
    }),
    "reports all, whatever the limit": (queue) => ({ setAside: () => queue.setAside(1000) }),
  },
  "runs a quarantined run again, once": {
    "releases a run without running it": (queue) => ({
      again: async (id) => (await queue.setAside(1000)).some((one) => one.id === id),
    }),
    "says that a missing run was released": (queue) => ({
      again: async (id) => (await queue.again(id)) || true,
    }),
  },
  "retries a temporary error without limit": {
    "quarantines a temporary error": changingRuns((run) => async (signal) => {
      await run(signal).catch(() => {
        throw new Error("it is down.");
      });
    }),
  },
  "stops on request: waits for the run, starts nothing, and leaves an interrupted run to others": {
    "stops no worker": (queue) => ({
      async work(job, run) {
        await queue.work(job, run);
        return async () => undefined;
      },
    }),
    "takes an interrupted run as done": changingRuns((run) => (signal) => run(signal).catch(() => undefined)),
  },
  "never throws at an offer, even when it is closed": {
    "throws at an offer after it was closed": (queue) => {
      let isClosed = false;
      return {
        offer(job, options) {
          if (isClosed) throw new MemoryError("unavailable", "this queue is closed.");
          queue.offer(job, options);
        },
        close() {
          isClosed = true;
          return queue.close();
        },
      };
    },
    "says that it is down while it is open": () => ({ isUp: async () => false }),
  },
};

/** Runs a case on a new queue, with a fault or without. Gives whether it passed. */
async function isPassed(title: string, fault: Fault, soonMs: number): Promise<boolean> {
  const reference = createMemoryQueue({ firstPauseMs: 1 });
  const queue = { ...reference, ...fault(reference) };
  try {
    await QUEUE_CASES[title]?.({ queue, second: async () => queue, soonMs, whileMs: 50 });
    return true;
  } catch {
    return false;
  } finally {
    await reference.close();
  }
}

describe("the suite of queues", () => {
  it.each(Object.keys(QUEUE_CASES))("finds no fault in the reference where it %s", async (title) => {
    expect(await isPassed(title, () => ({}), 10_000)).toBe(true);
  });

  it("has a fault for each case", () => {
    expect(Object.keys(FAULTS)).toEqual(Object.keys(QUEUE_CASES));
  });

  const planted = Object.entries(FAULTS).flatMap(([title, faults]) =>
    Object.entries(faults).map(([what, fault]) => ({ title, what, fault })),
  );
  it.each(planted)("detects one that $what", async ({ title, fault }) => {
    // Most faults keep something from happening: the shorter the time, the sooner the case fails.
    expect(await isPassed(title, fault, 400)).toBe(false);
  });
});
