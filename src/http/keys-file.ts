import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { isMemoryError, MemoryError } from "../errors.ts";
import { EMPTY_RING, type KeyRing, type KeyStore } from "./keys/entries.ts";
import { withLock } from "./keys/lock.ts";
import { formatKeyRing, parseKeyRing } from "./keys/written.ts";

/** Longest time that what was read counts without another look, whatever the file's own times say. */
const MAX_CACHED_MS = 500;

/**
 * Keys in a file of mode 0600, by their hashes. Other processes may change it: it is read again whenever it did, and
 * writes of several come one after the other. `corrupt` where the file holds something else, `unavailable` where it
 * cannot be read or written.
 */
export function keysFile(path: string): KeyStore {
  let known: { mark: string; at: number; ring: KeyRing } | undefined;
  return {
    read() {
      const mark = getFileMark(path);
      if (mark === undefined) {
        known = undefined;
        return undefined;
      }
      // Two changes within one tick of the disk's clock can leave the same mark, so that it is not asked alone.
      const now = performance.now();
      if (known?.mark !== mark || now - known.at > MAX_CACHED_MS)
        known = { mark, at: now, ring: parseKeyFile(path) };
      return known.ring;
    },
    write(change, patienceMs) {
      withWriteErrors(path, () =>
        withLock(
          `${path}.lock`,
          (isHeld) => {
            const held = getFileMark(path) === undefined ? EMPTY_RING : parseKeyFile(path);
            const next = change(held);
            if (next !== held) replaceFile(path, next, isHeld);
          },
          patienceMs,
        ),
      );
      known = undefined;
    },
  };
}

/** The file of the keys of a database. */
export function keysPathOf(database: string): string {
  return `${database}.keys.json`;
}

/** Changes whenever the file does; undefined where there is none. */
function getFileMark(path: string): string | undefined {
  const state = statSync(path, { bigint: true, throwIfNoEntry: false });
  return state && `${state.ino}/${state.mtimeNs}/${state.size}`;
}

function parseKeyFile(path: string): KeyRing {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new MemoryError("unavailable", `keys ${path}: it cannot be read. Check its owner and mode.`, {
      cause,
    });
  }
  try {
    return parseKeyRing(text);
  } catch (cause) {
    throw new MemoryError(
      "corrupt",
      `keys ${path}: it holds no keys. Put the right file back, or take it away and the next start makes a new key.`,
      { cause },
    );
  }
}

/** Written whole under another name first: a reader never sees half a file, and a power cut leaves the old or the new. */
function replaceFile(path: string, ring: KeyRing, isHeld: () => boolean): void {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(draft, formatKeyRing(ring), { mode: 0o600, flag: "wx", flush: true });
    if (!isHeld()) {
      throw new MemoryError("unavailable", `keys ${path}: another program took over the file. Try again.`);
    }
    renameSync(draft, path);
    syncFolder(dirname(path));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The new name, too, outlives a power cut: a key that was revoked stays so. */
function syncFolder(folder: string): void {
  let open: number;
  try {
    open = openSync(folder, "r");
  } catch {
    // Some systems open no folders; they keep names by themselves.
    return;
  }
  try {
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}

function withWriteErrors(path: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (isMemoryError(cause)) throw cause;
    throw new MemoryError("unavailable", `keys ${path}: it cannot be written. Is the folder writable?`, {
      cause,
    });
  }
}
