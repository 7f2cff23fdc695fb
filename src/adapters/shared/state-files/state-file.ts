import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMemoryError, MemoryError } from "../../../errors.ts";
import type { StateFile, StateFormat } from "../../../ports/stores/state-file.ts";
import { syncNames } from "../sync-names.ts";
import { withLock } from "./file-lock.ts";

/** How long a read is cached at most, whatever the times of the file are. */
const MAX_CACHED_MS = 500;

/**
 * Opens a file with mode 0600. Several processes may use it: it is read again after each change, and writes are serialised.
 * Throws `corrupt` if the file contains something else, and `unavailable` if it cannot be read or written.
 */
export function openStateFile<State>(path: string, format: StateFormat<State>): StateFile<State> {
  let known: { mark: string; at: number; state: State } | undefined;
  return {
    read() {
      const mark = getFileMark(path);
      if (mark === undefined) {
        known = undefined;
        return undefined;
      }
      // Two changes within one tick of the disk's clock have the same mark, so time is checked as well.
      const now = performance.now();
      if (known?.mark !== mark || now - known.at > MAX_CACHED_MS)
        known = { mark, at: now, state: parseFile(path, format) };
      return known.state;
    },
    write(change, patienceMs) {
      withWriteErrors(path, format, () =>
        withLock(
          `${path}.lock`,
          (isHeld) => {
            const held = getFileMark(path) === undefined ? format.empty : parseFile(path, format);
            const next = change(held);
            if (next !== held) replaceFile(path, { name: format.name, text: format.format(next) }, isHeld);
          },
          patienceMs,
        ),
      );
      known = undefined;
    },
  };
}

/** Gives a mark that changes with the file; undefined if there is no file. */
function getFileMark(path: string): string | undefined {
  const state = statSync(path, { bigint: true, throwIfNoEntry: false });
  return state && `${state.ino}/${state.mtimeNs}/${state.size}`;
}

function parseFile<State>(path: string, { name, parse, remedy }: StateFormat<State>): State {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new MemoryError("unavailable", `${name} ${path}: cannot read the file. Check its owner and mode.`, {
      cause,
    });
  }
  try {
    return parse(text);
  } catch (cause) {
    throw new MemoryError("corrupt", `${name} ${path}: not a ${name} file. ${remedy}`, { cause });
  }
}

interface FileContent {
  readonly name: string;
  readonly text: string;
}

/** Writes a temporary file and renames it: readers never see a partial file, and a power cut leaves the old or the new one. */
function replaceFile(path: string, { name, text }: FileContent, isHeld: () => boolean): void {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
    if (!isHeld()) {
      throw new MemoryError(
        "unavailable",
        `${name} ${path}: another program has changed the file. Try again.`,
      );
    }
    renameSync(draft, path);
    // A revoked key stays revoked after a power cut.
    syncNames(dirname(path));
  } finally {
    rmSync(draft, { force: true });
  }
}

function withWriteErrors(path: string, { name }: { readonly name: string }, work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (isMemoryError(cause)) throw cause;
    throw new MemoryError("unavailable", `${name} ${path}: cannot write the file. Is the folder writable?`, {
      cause,
    });
  }
}
