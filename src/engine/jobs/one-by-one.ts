import type { Job } from "./job.ts";

/** Lets several jobs run one after the other: what each takes of the time, all of them take together. */
export function createSerializer(): (job: Job) => Job {
  let last: Promise<void> = Promise.resolve();
  return (job) => ({
    ...job,
    async *run(signal) {
      const before = last;
      let leave = (): void => {};
      last = new Promise((resolve) => {
        leave = resolve;
      });
      try {
        await before;
        signal.throwIfAborted();
        yield* job.run(signal);
      } finally {
        leave();
      }
    },
  });
}
