import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { MemoryError } from "../../errors.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Job } from "./job.ts";
import { createJobRunner, type JobRunner } from "./job-runner.ts";

let record: MemoryStore;
let stopping: AbortController;
let started: JobRunner[] = [];

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-03-01T10:00:00Z") });
  record = createInMemoryStore();
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort(new Error("stopped"));
  const ended = Promise.all(started.map((one) => one.end()));
  await vi.advanceTimersByTimeAsync(1000);
  await ended;
  started = [];
  vi.useRealTimers();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** What was seen of a job over all processes. */
interface Seen {
  begun: number;
  ended: number;
  atOnce: number;
  most: number;
  broken: number;
}

function counting(): Seen {
  return { begun: 0, ended: 0, atOnce: 0, most: 0, broken: 0 };
}

/** A process that runs the job; `takesMs` is how long a run takes. */
function process(
  seen: Seen,
  { takesMs = 0, on = record, ...fields }: Partial<Job> & { takesMs?: number; on?: MemoryStore } = {},
) {
  const job: Job = {
    name: "expiry",
    about: "counts",
    restFactor: 0,
    async *run(signal) {
      seen.begun += 1;
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      try {
        for (let ms = 0; ms < takesMs; ms += 100) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          signal.throwIfAborted();
        }
        yield { done: 1 };
        seen.ended += 1;
      } catch (error) {
        seen.broken += 1;
        throw error;
      } finally {
        seen.atOnce -= 1;
      }
    },
    ...fields,
  };
  const running = createJobRunner({ clock: () => new Date(), store: on }, job, stopping.signal);
  started.push(running);
  return running;
}

it("of many processes on one store, one runs a job, once in its interval", async () => {
  const seen = counting();
  for (let i = 0; i < 5; i += 1) process(seen, { everyMs: 60_000, takesMs: 2000 }).start(700 * i);
  await pass(10 * 62_000 - 100);
  expect(seen).toMatchObject({ begun: 10, ended: 10, most: 1 });
});

it("a process that stops releases its lease at once and leaves the job to others", async () => {
  const seen = counting();
  const own = new AbortController();
  const slow = { everyMs: 60_000, takesMs: 50_000 };
  const first = createJobRunner(
    { clock: () => new Date(), store: record },
    { name: "expiry", about: "hangs", restFactor: 0, ...slow, run: () => hanging(own.signal) },
    own.signal,
  );
  first.start(0);
  process(seen, slow).start(10);
  await pass(40_000);
  expect(seen.begun).toBe(0);
  own.abort(new Error("stopped"));
  await first.end();
  await pass(20_000);
  expect(seen.begun).toBe(1);
});

async function* hanging(signal: AbortSignal): AsyncGenerator<never, void, void> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  signal.throwIfAborted();
}

it("continues in another process after the lease of a killed one expires", async () => {
  const seen = counting();
  await record.jobs.takeLease("job expiry", { forMs: 30_000 });
  const running = process(seen, { everyMs: 60_000 });
  running.start(0);
  await pass(29_000);
  expect(seen.begun).toBe(0);
  expect(await running.state()).toMatchObject({ state: "scheduled", nextRun: "2026-03-01T10:00:30.000Z" });
  await pass(2000);
  expect(seen.ended).toBe(1);
});

it("a run requested while another process runs the job starts when that one ends", async () => {
  const seen = counting();
  const [one, other] = [process(seen, { takesMs: 12_000 }), process(seen)];
  one.requestRun();
  await pass(100);
  other.requestRun();
  await pass(11_000);
  expect(seen).toMatchObject({ begun: 1, ended: 0 });
  await pass(10_000);
  expect(seen).toMatchObject({ begun: 2, ended: 2, most: 1 });
});

it("a run that loses its lease is interrupted and does not count as a failure", async () => {
  const seen = counting();
  const stolen: MemoryStore = { ...record, jobs: { ...record.jobs, renewLease: async () => false } };
  const running = process(seen, { everyMs: 60_000, takesMs: 15_000, on: stolen });
  running.start(0);
  await pass(10_500);
  expect(seen).toMatchObject({ begun: 1, broken: 1 });
  expect(await running.state()).toMatchObject({ attempts: 0 });
});

it("a lease is held until it expires while the store cannot be asked", async () => {
  const seen = counting();
  const down: MemoryStore = {
    ...record,
    jobs: {
      ...record.jobs,
      renewLease: async () => Promise.reject(new MemoryError("unavailable", "the database is down.")),
    },
  };
  const running = process(seen, { takesMs: 60_000, on: down });
  running.requestRun();
  await pass(29_000);
  expect(seen.broken).toBe(0);
  await pass(2000);
  expect(seen.broken).toBe(1);
});

it("after an outage, processes retry one after the other, not all at once", async () => {
  const seen = counting();
  const broken = { everyMs: 60_000, run: () => failing(seen) };
  for (let i = 0; i < 5; i += 1) process(seen, broken).start(10 * i);
  await pass(900);
  expect(seen.begun).toBe(1);
  await pass(1000);
  expect(seen.begun).toBe(2);
});

// biome-ignore lint/correctness/useYield: it fails before.
async function* failing(seen: Seen): AsyncGenerator<never, void, void> {
  seen.begun += 1;
  throw new MemoryError("unavailable", "the server is down.");
}

it("an offered job runs before it is due, and reports its error", async () => {
  const seen = counting();
  const running = process(seen, { everyMs: 60_000 });
  running.start(0);
  await pass(0);
  const { signal } = new AbortController();
  await running.runOffered(signal);
  expect(seen.ended).toBe(2);
  const held = await record.jobs.takeLease("job decay", { forMs: 30_000 });
  expect(held.token).toBeDefined();
  await expect(process(seen, { name: "decay" }).runOffered(signal)).rejects.toMatchObject({
    code: "unavailable",
  });
  const broken = process(seen, { name: "tidying", run: () => failing(seen) });
  await expect(broken.runOffered(signal)).rejects.toThrow("the server is down.");
});
