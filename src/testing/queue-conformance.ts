import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryError } from "../errors.ts";
import { MAX_ATTEMPTS_PER_RUN, type Queue } from "../ports/queue.ts";

/** What the suite needs of a queue. */
export interface QueueHarness {
  /** Shown in the test output: "memory", "bullmq". */
  readonly name: string;
  /** Opens an empty queue whose first delay after a failure is `firstPauseMs`. */
  open(options: { readonly firstPauseMs: number }): Promise<Queue>;
  /** Opens the same queue as another process would. Absent if there can be none. */
  second?(queue: Queue): Promise<Queue>;
  /** Releases what `open` and `second` took, once. */
  teardown?(): Promise<void>;
  /** What the suite needs and how to get it. It is then skipped and says so. */
  readonly missing?: string | undefined;
}

/** What a case is given. */
export interface QueueSubject {
  /** An empty queue whose first delay after a failure is some ms. */
  readonly queue: Queue;
  /** Opens the same queue as another process would, or gives the same one if there can be none. */
  second(): Promise<Queue>;
  /** The time in ms within which something that is due must happen. */
  readonly soonMs: number;
  /** A time in ms that is long enough to show that something does not happen. */
  readonly whileMs: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A run that counts, and lasts until it is released. */
function createGate() {
  const seen = { begun: 0, ended: 0, atOnce: 0, most: 0 };
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    seen,
    open: () => open(),
    async run(signal: AbortSignal): Promise<void> {
      seen.begun += 1;
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await Promise.race([gate, stopped]);
      seen.atOnce -= 1;
      signal.throwIfAborted();
      seen.ended += 1;
    },
  };
}

const within = (timeout: number) => ({ timeout, interval: 10 });

async function counting(queue: Queue, job: "expiry" | "decay") {
  const run = vi.fn(async (_signal: AbortSignal) => {});
  return { run, end: await queue.work(job, run) };
}

/** The behaviour of every queue, one rule per case. */
export const QUEUE_CASES: { readonly [title: string]: (subject: QueueSubject) => Promise<void> } = {
  "runs an offer once, by one of the workers": async ({ queue, second, soonMs, whileMs }) => {
    const [one, other] = [await counting(queue, "expiry"), await counting(await second(), "expiry")];
    queue.offer("expiry");
    const runs = (): number => one.run.mock.calls.length + other.run.mock.calls.length;
    await expect.poll(runs, within(soonMs)).toBe(1);
    await wait(whileMs);
    expect(runs()).toBe(1);
  },

  "keeps jobs apart": async ({ queue, soonMs }) => {
    const [expiry, decay] = [await counting(queue, "expiry"), await counting(queue, "decay")];
    queue.offer("decay");
    await expect.poll(() => decay.run.mock.calls.length, within(soonMs)).toBe(1);
    expect(expiry.run).not.toHaveBeenCalled();
  },

  "treats several offers of a waiting job as one": async ({ queue, second, soonMs, whileMs }) => {
    const other = await second();
    for (let i = 0; i < 10; i += 1) {
      queue.offer("expiry");
      other.offer("expiry");
    }
    await wait(whileMs);
    const { run } = await counting(queue, "expiry");
    await expect.poll(() => run.mock.calls.length, within(soonMs)).toBe(1);
    await wait(whileMs);
    expect(run).toHaveBeenCalledTimes(1);
  },

  "runs a job once more if it was offered during a run, and never twice at once": async ({
    queue,
    second,
    soonMs,
    whileMs,
  }) => {
    const { run, seen, open } = createGate();
    await queue.work("expiry", run);
    await (await second()).work("expiry", run);
    queue.offer("expiry");
    await expect.poll(() => seen.begun, within(soonMs)).toBe(1);
    for (let i = 0; i < 5; i += 1) queue.offer("expiry");
    await wait(whileMs);
    expect(seen.begun).toBe(1);
    open();
    await expect.poll(() => seen.ended, within(soonMs)).toBe(2);
    await wait(whileMs);
    expect(seen).toMatchObject({ begun: 2, ended: 2, most: 1 });
  },

  "runs offers that were made before there was a worker": async ({ queue, second, soonMs }) => {
    queue.offer("expiry");
    await wait(20);
    const { run } = await counting(await second(), "expiry");
    await expect.poll(() => run.mock.calls.length, within(soonMs)).toBe(1);
  },

  "keeps a delayed offer until its time": async ({ queue, soonMs }) => {
    const runs: string[] = [];
    for (const job of ["expiry", "decay"] as const)
      await queue.work(job, async () => {
        runs.push(job);
      });
    const begun = performance.now();
    queue.offer("expiry", { afterMs: 250 });
    queue.offer("decay");
    await expect.poll(() => runs.length, within(soonMs)).toBe(2);
    expect(performance.now() - begun).toBeGreaterThan(200);
    expect(runs).toEqual(["decay", "expiry"]);
  },

  "retries a failing run, then quarantines it, and continues with the next offer": async ({
    queue,
    soonMs,
  }) => {
    let isBroken = true;
    const run = vi.fn(async () => {
      if (isBroken) throw new TypeError("Ana's salary is not a function");
    });
    await queue.work("expiry", run);
    queue.offer("expiry");
    await expect.poll(() => queue.setAside(10), within(soonMs)).toHaveLength(1);
    expect(run).toHaveBeenCalledTimes(MAX_ATTEMPTS_PER_RUN);
    const [aside] = await queue.setAside(10);
    expect(aside).toMatchObject({ job: "expiry", attempts: MAX_ATTEMPTS_PER_RUN, problem: "internal" });
    const now = performance.timeOrigin + performance.now();
    expect(Math.abs(Date.parse(aside?.at ?? "") - now)).toBeLessThan(60_000);
    expect(JSON.stringify(aside)).not.toContain("salary");
    isBroken = false;
    queue.offer("expiry");
    await expect.poll(() => run.mock.calls.length, within(soonMs)).toBe(MAX_ATTEMPTS_PER_RUN + 1);
    expect(await queue.setAside(10)).toHaveLength(1);
  },

  "reports the codes of our own errors, newest first": async ({ queue, soonMs }) => {
    const broken = (code: "corrupt" | "unsupported") => async () => {
      throw new MemoryError(code, "it is broken.");
    };
    await queue.work("expiry", broken("corrupt"));
    queue.offer("expiry");
    await expect.poll(() => queue.setAside(10), within(soonMs)).toHaveLength(1);
    await queue.work("decay", broken("unsupported"));
    queue.offer("decay");
    await expect.poll(() => queue.setAside(10), within(soonMs)).toHaveLength(2);
    const aside = await queue.setAside(10);
    expect(aside.map(({ job, problem }) => [job, problem])).toEqual([
      ["decay", "unsupported"],
      ["expiry", "corrupt"],
    ]);
    expect(await queue.setAside(1)).toEqual(aside.slice(0, 1));
  },

  "runs a quarantined run again, once": async ({ queue, soonMs }) => {
    let isBroken = true;
    const run = vi.fn(async () => {
      if (isBroken) throw new Error("broken");
    });
    await queue.work("expiry", run);
    queue.offer("expiry");
    await expect.poll(() => queue.setAside(10), within(soonMs)).toHaveLength(1);
    isBroken = false;
    const [{ id } = { id: "" }] = await queue.setAside(10);
    expect(await queue.again("nobody")).toBe(false);
    expect(await queue.again(id)).toBe(true);
    await expect.poll(() => run.mock.calls.length, within(soonMs)).toBe(MAX_ATTEMPTS_PER_RUN + 1);
    expect(await queue.setAside(10)).toEqual([]);
    expect(await queue.again(id)).toBe(false);
  },

  "retries a temporary error without limit": async ({ queue, soonMs }) => {
    let left = MAX_ATTEMPTS_PER_RUN + 1;
    const run = vi.fn(async () => {
      left -= 1;
      if (left >= 0) throw new MemoryError("unavailable", "the server is down.");
    });
    await queue.work("expiry", run);
    queue.offer("expiry");
    await expect.poll(() => run.mock.calls.length, within(soonMs)).toBe(MAX_ATTEMPTS_PER_RUN + 2);
    expect(await queue.setAside(10)).toEqual([]);
  },

  "stops on request: waits for the run, starts nothing, and leaves an interrupted run to others": async ({
    queue,
    second,
    soonMs,
    whileMs,
  }) => {
    const { run, seen } = createGate();
    const end = await queue.work("expiry", run);
    queue.offer("expiry");
    await expect.poll(() => seen.begun, within(soonMs)).toBe(1);
    await end();
    expect(seen).toMatchObject({ begun: 1, ended: 0, atOnce: 0 });
    await wait(whileMs);
    expect(seen.begun).toBe(1);
    const { run: taken } = await counting(await second(), "expiry");
    await expect.poll(() => taken.mock.calls.length, within(soonMs)).toBe(1);
    expect(await queue.setAside(10)).toEqual([]);
  },

  "never throws at an offer, even when it is closed": async ({ queue }) => {
    expect(await queue.isUp()).toBe(true);
    await queue.close();
    expect(() => queue.offer("expiry")).not.toThrow();
    await wait(20);
  },
};

/** Runs the whole contract of `ports/queue.ts` against one adapter. Call it at the top level of a test file. */
export function queueConformance(harness: QueueHarness): void {
  const { missing } = harness;
  describe.skipIf(missing)(`Queue: ${harness.name}${missing ? ` (${missing})` : ""}`, () => {
    let queue: Queue;
    let others: Queue[] = [];
    beforeEach(async () => {
      queue = await harness.open({ firstPauseMs: 10 });
    });
    afterEach(async () => {
      await Promise.all([queue, ...others].map((one) => one.close()));
      others = [];
    });
    if (harness.teardown) {
      const teardown = harness.teardown;
      afterEach(teardown);
    }
    /** Another process on the same queue, or the same queue if there can be none. */
    const second = async (): Promise<Queue> => {
      if (!harness.second) return queue;
      const other = await harness.second(queue);
      others.push(other);
      return other;
    };

    for (const [title, run] of Object.entries(QUEUE_CASES))
      it(title, () => run({ queue, second, soonMs: 10_000, whileMs: 300 }));
  });
}
