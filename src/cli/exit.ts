import { isMemoryError, type MemoryError } from "../errors.ts";
import type { Printer } from "./printer.ts";

/** What the shell is told. */
export const EXIT = {
  done: 0,
  failed: 1,
  wrongUse: 2,
  nothingFound: 3,
  diskFailed: 70,
  interrupted: 130,
} as const;

/** The exit status that an error of the library stands for. */
export function toExitStatus(error: MemoryError): number {
  if (error.code === "invalid_input") return EXIT.wrongUse;
  return error.code === "not_found" ? EXIT.nothingFound : EXIT.failed;
}

/** An error as people and programs are shown it: its code and message, never a stack, never a user's text. */
export function toShownError(error: unknown): { code: string; message: string; status: number } {
  if (isMemoryError(error)) return { code: error.code, message: error.message, status: toExitStatus(error) };
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const unavailable = explainUnavailable(code);
  if (unavailable) return { code: "unavailable", message: unavailable, status: EXIT.failed };
  const name = error instanceof Error ? error.name : "Error";
  return {
    code: "internal",
    message: `something went wrong here (${[name, code].filter(Boolean).join(" ")}). Please report it.`,
    status: EXIT.failed,
  };
}

function explainUnavailable(code: string): string | undefined {
  if (/^(?:ENOENT|EACCES|EPERM|EISDIR|ENOTDIR|EROFS|ENAMETOOLONG|ELOOP)$/.test(code)) {
    return `a file cannot be read or written (${code}). Check its path and mode.`;
  }
  if (/^(?:ENOSPC|EFBIG|EDQUOT)$/.test(code)) return "the disk is full. Make room and try again.";
  if (/^(?:EMFILE|ENFILE)$/.test(code)) return "too many files are open. Close other programs and try again.";
  return undefined;
}

/** Ends the program when a person interrupts it. What is stored by then stays. */
export function exitInterrupted(): void {
  if (process.stderr.isTTY) process.stderr.write("\n");
  process.exit(EXIT.interrupted);
}

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
