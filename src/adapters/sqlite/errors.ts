import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, isMemoryError, MemoryError } from "../../errors.ts";

/** Primary result codes of SQLite (sqlite.org/rescode.html) with a special meaning here. */
const CODES: { readonly [code: number]: readonly [ErrorCode, string] } = {
  3: [
    "unavailable",
    "the file cannot be read or written. Check its owner and mode, and those of its folder.",
  ],
  5: ["unavailable", "another program is writing to the file. Try again."],
  6: ["unavailable", "another program is writing to the file. Try again."],
  7: ["unavailable", "there is not enough memory. Close other programs, or write less at once."],
  8: ["unavailable", "the file or its folder is read-only. Make both writable."],
  10: [
    "unavailable",
    "reading or writing the file failed. Check the disk and its free space; nothing of this change was stored.",
  ],
  11: ["corrupt", "the file is damaged. Keep a copy, then restore the newest export or backup."],
  13: ["unavailable", "the disk is full. Free some space; nothing of this change was stored."],
  14: [
    "unavailable",
    "the file cannot be opened. Check that its folder exists and is writable, and that not too many files are open.",
  ],
  15: ["unavailable", "another program is opening the file. Try again."],
  18: ["invalid_input", "a text or a vector is too large for one row. Split it."],
  19: ["invalid_input", "the change-set contains a value that cannot be stored. Nothing was stored."],
  26: ["corrupt", "the file is not a database. Choose another path. The file was not changed."],
};

const BUSY_CODES: ReadonlySet<number> = new Set([5, 6, 15]);

/** System errors for files other than SQLite's own: drafts, copies, the folder. */
const SYSTEM_REFUSALS: { readonly [code: string]: string } = {
  ENOSPC: "the disk is full. Free some space and try again.",
  EDQUOT: "the disk quota is used up. Free some space and try again.",
  EFBIG: "a file next to it reached its size limit. Raise the limit and try again.",
  EMFILE: "too many files are open. Close other programs, or raise the limit, and try again.",
  ENFILE: "too many files are open on this system. Close other programs and try again.",
  EACCES: "a file next to it cannot be read or written. Check its owner and mode, and those of its folder.",
  EPERM: "a file next to it cannot be read or written. Check its owner and mode, and those of its folder.",
  EROFS: "its disk is read-only. Make it writable.",
  EIO: "reading or writing a file next to it failed. Check the disk.",
};

/** The text for a refused system call; undefined for any other error. */
function findSystemRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  const { code } = error;
  if (typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) return undefined;
  return SYSTEM_REFUSALS[code] ?? `a file next to it cannot be used (${code}). Check its path and mode.`;
}

/** Translates an error of SQLite or the file system to an error of this library; gives any other error unchanged. */
export function translate(path: string, error: unknown): unknown {
  if (isMemoryError(error) || !(error instanceof Error)) return error;
  if ("code" in error && error.code === "ERR_INVALID_STATE") {
    return new MemoryError("unavailable", `database ${path}: the database is closed. Open it again.`, {
      cause: error,
    });
  }
  const refusal = findSystemRefusal(error);
  if (refusal !== undefined) {
    return new MemoryError("unavailable", `database ${path}: ${refusal}`, { cause: error });
  }
  const code = getSqliteResultCode(error);
  if (code === undefined) return error;
  const [errorCode, what] = CODES[code] ?? [
    "corrupt",
    `SQLite reports code ${code}. Run \`keepsake doctor\`.`,
  ];
  return new MemoryError(errorCode, `database ${path}: ${what}`, { cause: error });
}

/** Whether another connection holds a lock, so that the same call may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  const code = getSqliteResultCode(error);
  return code !== undefined && BUSY_CODES.has(code);
}

/** Whether the disk is full or the file may not grow. */
export function isFull(error: unknown): boolean {
  const code = getSqliteResultCode(error);
  return code === 13 || code === 10;
}

/** SQLite's extended result code IOERR_FSYNC: the system could not make a write durable (sqlite.org/rescode.html). */
const SYNC_FAILED = 1034;

/** Whether a sync failed. Earlier writes may then be lost, and the system does not report it again. */
export function isSyncFailure(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SYNC_FAILED;
}

/** The error for a failed sync, and for each write after it. */
export function createSyncError(path: string, cause?: unknown): MemoryError {
  return new MemoryError(
    "unavailable",
    `database ${path}: the disk failed to make a change durable. It is unknown whether that change was stored, and ` +
      "further writes are refused. Check the disk, then close the database and open it again.",
    { cause },
  );
}

/** The primary result code of an SQLite error (sqlite.org/rescode.html). */
export function getSqliteResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Retries work while another connection locks the file, for up to `forMs` milliseconds, then throws the last error. It waits
 * outside of SQLite, where waiting would block the whole process.
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
      // With jitter, so that two processes do not collide repeatedly.
      await pause(pauseMs * (0.5 + Math.random()));
    }
  }
}
