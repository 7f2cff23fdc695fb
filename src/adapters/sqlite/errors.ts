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
  14: ["unavailable", "the file cannot be opened. Check that its folder is there and writable."],
  15: ["unavailable", "another program is opening the file. Try again."],
  18: ["invalid_input", "a text or a vector is too large for one row. Split it."],
  19: ["invalid_input", "the change-set holds a value that no row may hold. Nothing of it was stored."],
  26: ["corrupt", "the file is no database. Choose another path; it was left as it is."],
};

const BUSY: ReadonlySet<number> = new Set([5, 6, 15]);

/** Gives a fault of SQLite as an error of this library; anything else as it is. */
export function translate(path: string, error: unknown): unknown {
  if (isMemoryError(error) || !(error instanceof Error)) return error;
  if ("code" in error && error.code === "ERR_INVALID_STATE") {
    return new MemoryError("unavailable", `database ${path}: it is closed. Open it again.`, { cause: error });
  }
  const code = codeOf(error);
  if (code === undefined) return error;
  const [known, what] = CODES[code] ?? [
    "corrupt",
    `SQLite answers with code ${code}. Run \`keepsake doctor\`.`,
  ];
  return new MemoryError(known, `database ${path}: ${what}`, { cause: error });
}

/** Whether another connection holds what is needed, so that the same call may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && BUSY.has(code);
}

/** Whether there is no room, or the file may not grow. */
export function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === 13 || code === 10;
}

/** The primary result code of an error of SQLite (sqlite.org/rescode.html). */
export function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
