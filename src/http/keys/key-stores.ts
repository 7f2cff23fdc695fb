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
import * as z from "zod";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { Documents, SharedDocument } from "../../ports/documents.ts";
import { withLock } from "./file-lock.ts";
import { EMPTY_RING, KEY_SCOPES, type KeyEntry, type KeyRing, type KeyStore } from "./key-ring.ts";

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

const DOCUMENT_NAME = "keys";

/** Keys that several servers share. `read` gives what `refresh` learnt last; the server asks for that before each request. */
export type SharedKeys = KeyStore & Required<Pick<KeyStore, "refresh" | "kept">>;

/**
 * Keys in what several servers share, by their hashes. A change counts here at once and is kept behind it, after those that came
 * before: `kept` waits for it. Where it cannot be kept, it stops to count. `corrupt` where something else is there.
 */
export function sharedKeys(documents: Documents): SharedKeys {
  let known: { readonly mark: string; readonly ring: KeyRing } | undefined;
  let writing: Promise<void> = Promise.resolve();
  let failure: { readonly reason: unknown } | undefined;
  const learn = (found: SharedDocument | undefined): void => {
    if (found?.mark === known?.mark) return;
    known = found && { mark: found.mark, ring: parseSharedKeys(found.text ?? "") };
  };
  const look = coalesceCalls(async () => {
    for (;;) {
      await writing;
      const mark = known?.mark;
      const found = await documents.read(DOCUMENT_NAME, mark);
      // Something was written here meanwhile: what was found says nothing of it, and may be told without its text.
      if (known?.mark !== mark) continue;
      learn(found);
      return;
    }
  });
  const keep = async (change: (held: KeyRing) => KeyRing, isTold: boolean): Promise<void> => {
    try {
      learn(await documents.change(DOCUMENT_NAME, (text) => applyChange(text, change)));
    } catch (reason) {
      known = undefined;
      if (isTold) failure ??= { reason };
    }
  };
  return {
    read: () => known?.ring,
    refresh: look,
    write(change, patienceMs) {
      const held = known?.ring ?? EMPTY_RING;
      const ring = change(held);
      if (ring === held) return;
      // No mark is empty: what others have written is looked at all the same.
      known = { mark: "", ring };
      // What has no patience is a note that may be lost; nobody waits to be told of it.
      writing = writing.then(() => keep(change, patienceMs !== 0));
    },
    async kept() {
      await writing;
      const { reason } = failure ?? {};
      failure = undefined;
      if (reason !== undefined) throw reason;
    },
  };
}

/** As a text again; the same one where nothing changes. */
function applyChange(text: string | undefined, change: (held: KeyRing) => KeyRing): string | undefined {
  const held = text === undefined ? EMPTY_RING : parseSharedKeys(text);
  const next = change(held);
  return next === held ? text : formatKeyRing(next);
}

function parseSharedKeys(text: string): KeyRing {
  try {
    return parseKeyRing(text);
  } catch (cause) {
    throw new MemoryError(
      "corrupt",
      "keys: what the servers share holds no keys. Restore the newest backup.",
      {
        cause,
      },
    );
  }
}

/**
 * One look for all who ask while another is under way: it begins after they asked, so that none is told what was true before. At
 * most two are under way, however many ask.
 */
function coalesceCalls(look: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    running = look().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}

const ENTRY_SCHEMA = z.object({
  id: z.string(),
  project: z.string(),
  hash: z.string(),
  createdAt: z.string(),
});
const SESSIONS_SCHEMA = z.array(
  z.object({ key: z.string(), hash: z.string(), proofHash: z.string(), expiresAt: z.string() }),
);
const SCOPED_ENTRY_SCHEMA = ENTRY_SCHEMA.extend({
  scopes: z.array(z.enum(KEY_SCOPES)),
  expiresAt: z.string().optional(),
  user: z.string().optional(),
  label: z.string().optional(),
  lastUsedAt: z.string().optional(),
  past: z.array(z.object({ hash: z.string(), until: z.string() })).optional(),
});

const KEY_RING_SCHEMA = z.discriminatedUnion("version", [
  // Keys had no scopes then: they could do everything, and so they can now.
  z
    .object({ version: z.literal(1), keys: z.array(ENTRY_SCHEMA), sessions: SESSIONS_SCHEMA })
    .transform(({ keys, sessions }) => ({
      keys: keys.map((entry) => ({ ...entry, scopes: KEY_SCOPES })),
      sessions,
    })),
  z
    .object({ version: z.literal(2), keys: z.array(SCOPED_ENTRY_SCHEMA), sessions: SESSIONS_SCHEMA })
    .transform(({ keys, sessions }) => ({ keys: keys as readonly KeyEntry[], sessions })),
]);

/** The keys in a text that `textOf` made, or an earlier version of it. Throws where it is none. */
function parseKeyRing(text: string): KeyRing {
  return KEY_RING_SCHEMA.parse(JSON.parse(text));
}

/** Keys as they are kept. */
function formatKeyRing(ring: KeyRing): string {
  return `${JSON.stringify({ version: 2, ...ring }, null, 2)}\n`;
}
