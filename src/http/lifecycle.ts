/** Where the server stands between its start and its end. */
export type ServerPhase = "serving" | "leaving" | "closing";

/** What can be broken off: answers that are sent in parts, and requests whose answer has not begun. */
export type BreakableWork = "streams" | "requests";

/**
 * What is at work in the server. `leaving`: it still serves, and says that it is not ready, so that whoever sends it
 * requests stops. `closing`: what is at work finishes, and nothing new is taken.
 */
export interface Lifecycle {
  /** Whether the newest write could not be stored. Then nobody should send requests here until one can be. */
  isRefusingWrites: boolean;
  phase(): ServerPhase;
  enterPhase(phase: ServerPhase): void;
  /** Ends what is still at work of this kind: each is told the reason, once. */
  breakOff(kind: BreakableWork, reason: Error): void;
  /** Calls back when work of this kind has to end; at once, where it has to by now. What it gives takes that back. */
  onBreakOff(kind: BreakableWork, tell: (reason: Error) => void): () => void;
  /** Counts work until it ends, and gives what it gives. */
  track<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Work that goes on after its answer: the end waits for it. Its errors are the caller's to handle before. */
  trackAfterAnswer(work: Promise<unknown>): void;
  /** Resolves when nothing is at work any more, or after so many ms. False where something still was. */
  waitUntilIdle(withinMs: number): Promise<boolean>;
}

export function createLifecycle(): Lifecycle {
  let phase: ServerPhase = "serving";
  const broken: { [kind in BreakableWork]?: Error } = {};
  const listeners = {
    streams: new Set<(reason: Error) => void>(),
    requests: new Set<(reason: Error) => void>(),
  };
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
    isRefusingWrites: false,
    phase: () => phase,
    enterPhase(next) {
      phase = next;
    },
    breakOff(kind, reason) {
      if (broken[kind]) return;
      broken[kind] = reason;
      for (const tell of listeners[kind]) tell(reason);
      listeners[kind].clear();
    },
    onBreakOff(kind, tell) {
      const reason = broken[kind];
      if (reason) tell(reason);
      else listeners[kind].add(tell);
      return () => void listeners[kind].delete(tell);
    },
    track(run) {
      const work = run();
      watch(work);
      return work;
    },
    trackAfterAnswer: watch,
    async waitUntilIdle(withinMs) {
      let isLate = false;
      let timer: NodeJS.Timeout | undefined;
      // It holds up the end of the process, too: what is at work may wait for a thread, which does not.
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          isLate = true;
          resolve();
        }, withinMs);
      });
      // What ends may have begun something that goes on after it.
      while (atWork.size > 0 && !isLate) await Promise.race([Promise.all(atWork), late]);
      clearTimeout(timer);
      return atWork.size === 0;
    },
  };
}
