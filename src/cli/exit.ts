import { isMemoryError, type MemoryError } from "../errors.ts";
import type { Printer } from "./printer.ts";

/** Exit statuses. */
export const EXIT = {
  done: 0,
  failed: 1,
  wrongUse: 2,
  nothingFound: 3,
  diskFailed: 70,
  interrupted: 130,
} as const;

/** Gives the exit status for an error of the library. */
function toExitStatus(error: MemoryError): number {
  if (error.code === "invalid_input") return EXIT.wrongUse;
  return error.code === "not_found" ? EXIT.nothingFound : EXIT.failed;
}

/** Gives the code and message to show for an error: no stack, no user text. */
export function toShownError(error: unknown): { code: string; message: string; status: number } {
  if (isMemoryError(error)) return { code: error.code, message: error.message, status: toExitStatus(error) };
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const name = error instanceof Error ? error.name : "Error";
  const unavailable = explainUnavailable(name, code);
  if (unavailable) return { code: "unavailable", message: unavailable, status: EXIT.failed };
  return {
    code: "internal",
    message: `internal error (${[name, code].filter(Boolean).join(" ")}). Please report it.`,
    status: EXIT.failed,
  };
}

function explainUnavailable(name: string, code: string): string | undefined {
  // Of `AbortSignal.timeout`.
  if (name === "TimeoutError") return "it took too long and was stopped. Try again when less is going on.";
  if (/^(?:ENOENT|EACCES|EPERM|EISDIR|ENOTDIR|EROFS|ENAMETOOLONG|ELOOP)$/.test(code)) {
    return `cannot read or write a file (${code}). Check its path and permissions.`;
  }
  if (/^(?:ENOSPC|EFBIG|EDQUOT)$/.test(code)) return "the disk is full. Free some space and try again.";
  if (/^(?:EMFILE|ENFILE)$/.test(code)) return "too many files are open. Close other programs and try again.";
  if (code === "EIO") return "reading or writing a file failed (EIO). Check the disk and try again.";
  return undefined;
}

/** Exits after an interrupt. Data stored by then is kept. */
export function exitInterrupted(): void {
  if (process.stderr.isTTY) process.stderr.write("\n");
  process.exit(EXIT.interrupted);
}

/** Waits for SIGINT or SIGTERM. A second signal exits at once. */
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

/** Default time limit for shutdown, in ms. A container is killed ten seconds after the request to stop. */
export const STOP_MS = 4000;

/**
 * Exits with 0 after `ms` milliseconds, even if work is still running, such as a job or a call to a server that does not
 * answer. Acknowledged writes are stored by then. Jobs continue at the next start.
 */
export function exitWithin(ms: number, print: Pick<Printer, "note">): void {
  const exitNow = (): void => {
    print.note(
      "Shutdown took too long; stopping now. Acknowledged writes are stored. Jobs continue at the next start.",
    );
    process.exit(EXIT.done);
  };
  setTimeout(exitNow, ms).unref();
}
