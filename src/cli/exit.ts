import { isMemoryError, type MemoryError } from "../errors.ts";

/** What the shell is told. */
export const EXIT = { done: 0, failed: 1, wrongUse: 2, nothingFound: 3, interrupted: 130 } as const;

/** The exit status that an error of the library stands for. */
export function exitOf(error: MemoryError): number {
  if (error.code === "invalid_input") return EXIT.wrongUse;
  return error.code === "not_found" ? EXIT.nothingFound : EXIT.failed;
}

/** An error as people and programs are shown it: its code and message, never a stack, never a user's text. */
export function shownError(error: unknown): { code: string; message: string; status: number } {
  if (isMemoryError(error)) return { code: error.code, message: error.message, status: exitOf(error) };
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT" || code === "EACCES" || code === "EISDIR" || code === "ENOTDIR") {
    return {
      code: "unavailable",
      message: `a file cannot be read or written (${code}). Check its path and mode.`,
      status: EXIT.failed,
    };
  }
  if (code === "ENOSPC" || code === "EFBIG") {
    return {
      code: "unavailable",
      message: "the disk is full. Make room and try again.",
      status: EXIT.failed,
    };
  }
  const name = error instanceof Error ? error.name : "Error";
  return {
    code: "internal",
    message: `something went wrong here (${name}). Please report it.`,
    status: EXIT.failed,
  };
}
