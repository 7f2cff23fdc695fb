import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, isMemoryError, MemoryError } from "../../errors.ts";

/** Primary result codes of SQLite (sqlite.org/rescode.html) that have a meaning of their own here. */
const CODES: { readonly [code: number]: readonly [ErrorCode, string] } = {
  3: [
    "unavailable",
    "the file may not be read or written. Check its owner and mode, and those of its folder.",
  ],
  5: ["unavailable", "another program is writing to the file. Try again."],
  6: ["unavailable", "another program is writing to the file. Try again."],
  7: ["unavailable", "there is too little memory. Close other programs, or write less at once."],
  8: ["unavailable", "the file or its folder is read-only. Make both writable."],
  10: [
    "unavailable",
    "reading or writing the file failed. Check the disk and its free space; nothing of this change was stored.",
  ],
  11: ["corrupt", "the file is damaged. Keep a copy, and restore the newest export or backup."],
  13: ["unavailable", "the disk is full. Make room; nothing of this change was stored."],
  14: [
    "unavailable",
    "the file cannot be opened. Check that its folder is there and writable, and that not too many files are open.",
  ],
  15: ["unavailable", "another program is opening the file. Try again."],
  18: ["invalid_input", "a text or a vector is too large for one row. Split it."],
  19: ["invalid_input", "the change-set holds a value that no row may hold. Nothing of it was stored."],
  26: ["corrupt", "the file is no database. Choose another path; it was left as it is."],
};

const BUSY_CODES: ReadonlySet<number> = new Set([5, 6, 15]);

/** What the system refuses, for the files that are not SQLite's own: drafts, copies, the folder. */
const SYSTEM_REFUSALS: { readonly [code: string]: string } = {
  ENOSPC: "the disk is full. Make room and try again.",
  EDQUOT: "the quota of the disk is used up. Make room and try again.",
  EFBIG: "a file beside it may not grow any more. Raise the limit and try again.",
  EMFILE: "too many files are open. Close other programs, or raise the limit, and try again.",
  ENFILE: "too many files are open on this system. Close other programs and try again.",
  EACCES: "a file beside it may not be read or written. Check its owner and mode, and those of its folder.",
  EPERM: "a file beside it may not be read or written. Check its owner and mode, and those of its folder.",
  EROFS: "its disk is read-only. Make it writable.",
  EIO: "reading or writing a file beside it failed. Check the disk.",
};

/** What the system says of a call that it refused; nothing for any other error. */
function findSystemRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  const { code } = error;
  if (typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) return undefined;
  return SYSTEM_REFUSALS[code] ?? `a file beside it cannot be used (${code}). Check its path and mode.`;
}

/** Gives a fault of SQLite or of the file system as an error of this library; anything else as it is. */
export function translate(path: string, error: unknown): unknown {
  if (isMemoryError(error) || !(error instanceof Error)) return error;
  if ("code" in error && error.code === "ERR_INVALID_STATE") {
    return new MemoryError("unavailable", `database ${path}: it is closed. Open it again.`, { cause: error });
  }
  const refused = findSystemRefusal(error);
  if (refused !== undefined) {
    return new MemoryError("unavailable", `database ${path}: ${refused}`, { cause: error });
  }
  const code = getSqliteResultCode(error);
  if (code === undefined) return error;
  const [known, what] = CODES[code] ?? [
    "corrupt",
    `SQLite answers with code ${code}. Run \`keepsake doctor\`.`,
  ];
  return new MemoryError(known, `database ${path}: ${what}`, { cause: error });
}

/** Whether another connection holds what is needed, so that the same call may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  const code = getSqliteResultCode(error);
  return code !== undefined && BUSY_CODES.has(code);
}

/** Whether there is no room, or the file may not grow. */
export function isFull(error: unknown): boolean {
  const code = getSqliteResultCode(error);
  return code === 13 || code === 10;
}

/** SQLite's extended result code IOERR_FSYNC: the system could not make what was written durable (sqlite.org/rescode.html). */
const SYNC_FAILED = 1034;

/** Whether a sync failed. What was written before it may be lost, and the system does not say so again. */
export function isSyncFailure(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SYNC_FAILED;
}

/** What is thrown when a sync has failed, and for each write after that. */
export function createSyncError(path: string, cause?: unknown): MemoryError {
  return new MemoryError(
    "unavailable",
    `database ${path}: the disk failed to make a change durable. Whether that change was stored is not known, and nothing ` +
      "is written any more. Check the disk, then close the database and open it again.",
    { cause },
  );
}

/** The primary result code of an error of SQLite (sqlite.org/rescode.html). */
export function getSqliteResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

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
