import { setTimeout as pause } from "node:timers/promises";
import { isBusy } from "./errors.ts";

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Runs work that may find the file locked by another connection, again and again for as long as given, then throws
 * what it threw last. Waiting is done outside of SQLite, where it would hold up the whole process.
 */
export async function retryWhileBusy<Result>(
  forMs: number,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const end = performance.now() + forMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() + pauseMs > end) throw error;
      // Unevenly, so that two processes do not meet again and again.
      await pause(pauseMs * (0.5 + Math.random()));
    }
  }
}
