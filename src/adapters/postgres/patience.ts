import { setTimeout as pause } from "node:timers/promises";
import { isTransientFault, UnknownOutcomeError } from "./errors.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/** For how long the same work is tried again, in ms. */
export interface TransientRetryWindow {
  readonly forMs: number;
  /** Where it is not known whether it was stored: to say so is the last resort. */
  readonly unknownForMs: number;
}

/** Runs work that a restart of the server or another transaction may break off, again and again for as long as given. */
export async function retryTransientFaults<Result>(
  { forMs, unknownForMs }: TransientRetryWindow,
  work: () => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
    try {
      return await work();
    } catch (error) {
      const patience = error instanceof UnknownOutcomeError ? unknownForMs : forMs;
      if (!isTransientFault(error) || performance.now() - begun + pauseMs > patience) throw error;
      // Unevenly, so that two servers do not meet again and again.
      await pause(pauseMs * (0.5 + Math.random()));
    }
  }
}
