import { EXIT, exitInterrupted } from "./exit.ts";
import type { Printer } from "./print.ts";

/** The signal that ends a program which runs until it is told to stop. A second one does not wait. */
export function waitForStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    process.off("SIGINT", exitInterrupted);
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.on(signal, exitInterrupted);
        resolve(signal);
      });
    }
  });
}

/** For all of an end, where the settings say nothing: a container is killed ten seconds after it was told to stop. */
export const STOP_MS = 4000;

/**
 * Ends the program with 0 after so many ms, whatever still goes on: another server that does not answer, a job in the middle of
 * its work. What was acknowledged is stored by then, and jobs go on where they were at the next start.
 */
export function exitWithin(ms: number, print: Pick<Printer, "note">): void {
  const late = (): void => {
    print.note(
      "What had begun was not finished in time. What was acknowledged is stored; jobs go on at the next start.",
    );
    process.exit(EXIT.done);
  };
  setTimeout(late, ms).unref();
}
