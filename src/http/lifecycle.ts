/** Where the server stands between its start and its end. */
export type Phase = "serving" | "leaving" | "closing";

/**
 * What is at work in the server. `leaving`: it still serves, and says that it is not ready, so that whoever sends it
 * requests stops. `closing`: what is at work finishes, and nothing new is taken.
 */
export interface Lifecycle {
  phase(): Phase;
  enter(phase: Phase): void;
  /** Counts work until it ends, and gives what it gives. */
  during<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Work that goes on after its answer: the end waits for it. Its errors are the caller's to handle before. */
  after(work: Promise<unknown>): void;
  /** Resolves when nothing is at work any more, or after so many ms. False where something still was. */
  idle(withinMs: number): Promise<boolean>;
}

export function lifecycle(): Lifecycle {
  let phase: Phase = "serving";
  const atWork = new Set<Promise<unknown>>();
  const watch = (work: Promise<unknown>): void => {
    const ended: Promise<void> = work
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        atWork.delete(ended);
      });
    atWork.add(ended);
  };
  return {
    phase: () => phase,
    enter(next) {
      phase = next;
    },
    during(run) {
      const work = run();
      watch(work);
      return work;
    },
    after: watch,
    async idle(withinMs) {
      const limit = AbortSignal.timeout(withinMs);
      const late = new Promise<void>((resolve) => limit.addEventListener("abort", () => resolve()));
      // What ends may have begun something that goes on after it.
      while (atWork.size > 0 && !limit.aborted) await Promise.race([Promise.all(atWork), late]);
      return atWork.size === 0;
    },
  };
}
