import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { isMemoryError, MemoryError } from "../../../errors.ts";

/** What was done with a file of another program. */
interface ChangedFile {
  readonly file: string;
  readonly changed: boolean;
  /** Whether nothing was written. */
  readonly dryRun: boolean;
  /** Lines that are not in the other version. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

interface FileChange {
  readonly isDryRun: boolean;
  /** Gives the new content; undefined for no file. It gets undefined if there is none. */
  readonly change: (text: string | undefined) => string | undefined;
}

/**
 * Changes a file of another program, completely or not at all. Keeps its mode, and follows a link to it. Throws
 * `invalid_input` if its content is not understood; it is not changed then.
 */
export function changeFile(file: string, { isDryRun, change }: FileChange): ChangedFile {
  const before = readText(file);
  let after: string | undefined;
  try {
    after = change(before);
  } catch (error) {
    if (isMemoryError(error)) throw new MemoryError(error.code, `${file}: ${error.message}`);
    throw error;
  }
  const changed = before !== after;
  if (changed && !isDryRun) replaceFile(file, before, after);
  return { file, changed, dryRun: isDryRun, ...compareLines(before ?? "", after ?? "") };
}

function readText(file: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (error instanceof TypeError) throw new MemoryError("invalid_input", `${file}: it is not UTF-8.`);
    throw error;
  }
}

function replaceFile(file: string, before: string | undefined, after: string | undefined): void {
  if (after === undefined) {
    rmSync(file);
    return;
  }
  if (before === undefined) mkdirSync(dirname(file), { recursive: true });
  const target = before === undefined ? file : realpathSync(file);
  const temporary = `${target}.keepsake-${process.pid}`;
  try {
    // These files hold keys of other programs, too.
    writeFileSync(temporary, after, { mode: 0o600, flush: true });
    if (before !== undefined) chmodSync(temporary, statSync(target).mode & 0o777);
    // The program may have written meanwhile.
    if (readText(file) !== before) {
      throw new MemoryError(
        "conflict",
        `${file} was changed meanwhile. End the program that writes it, and try again.`,
      );
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The lines between the common beginning and the common end. */
function compareLines(before: string, after: string): Pick<ChangedFile, "added" | "removed"> {
  const [old, fresh] = [before.split(/\r?\n/), after.split(/\r?\n/)];
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  return {
    removed: old.slice(start, old.length - end).filter((line) => before !== "" || line !== ""),
    added: fresh.slice(start, fresh.length - end).filter((line) => after !== "" || line !== ""),
  };
}

export function formatChange({ file, changed, dryRun, added, removed }: ChangedFile): string[] {
  if (!changed) return [`${file} stays as it is.`];
  return [
    `${dryRun ? "Would change" : "Changed"} ${file}:`,
    ...removed.map((line) => `- ${line}`),
    ...added.map((line) => `+ ${line}`),
  ];
}
