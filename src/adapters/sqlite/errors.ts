import { isMemoryError, MemoryError } from "../../errors.ts";

/** Primary result codes of SQLite (sqlite.org/rescode.html) that have a meaning of their own here. */
const CODES: { readonly [code: number]: readonly ["unavailable" | "corrupt" | "conflict", string] } = {
  3: [
    "unavailable",
    "the file may not be read or written. Check its owner and mode, and those of its folder.",
  ],
  5: ["unavailable", "another program is writing to the file. Try again."],
  6: ["unavailable", "another program is writing to the file. Try again."],
  8: ["unavailable", "the file or its folder is read-only. Make both writable."],
  10: [
    "unavailable",
    "reading or writing the file failed. Check the disk; nothing of this change was stored.",
  ],
  11: ["corrupt", "the file is damaged. Keep a copy, and restore the newest export or backup."],
  13: ["unavailable", "the disk is full. Make room; nothing of this change was stored."],
  14: ["unavailable", "the file cannot be opened. Check that its folder is there and writable."],
  26: ["corrupt", "the file is no database. Choose another path; it was left as it is."],
};

/** Runs work on the database and gives its faults as errors of this library. */
export function translated<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw translate(path, error);
  }
}

export function translate(path: string, error: unknown): unknown {
  if (isMemoryError(error) || !(error instanceof Error)) return error;
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
  if (code === undefined) return error;
  const [known, what] = CODES[code] ?? [
    "corrupt",
    `SQLite answers with code ${code}. Run \`keepsake doctor\`.`,
  ];
  return new MemoryError(known, `database ${path}: ${what}`, { cause: error });
}
