import * as z from "zod";
import { openStateFile } from "../../adapters/shared/state-files/state-file.ts";
import { MemoryError } from "../../errors.ts";
import type { Documents, SharedDocument } from "../../ports/stores/documents.ts";
import type { StateFormat } from "../../ports/stores/state-file.ts";
import { EMPTY_RING, KEY_SCOPES, type KeyEntry, type KeyRing, type KeyStore } from "./key-ring.ts";

/**
 * Opens a store of key hashes in a file with mode 0600. Several processes may use it: it is read again after each change,
 * and writes are serialised. Throws `corrupt` if the file contains something else, and `unavailable` if it cannot be read
 * or written.
 */
export function keysFile(path: string): KeyStore {
  return openStateFile(path, KEYS_FORMAT);
}

/** Gives the path of a database's keys file. */
export function keysPathOf(database: string): string {
  return `${database}.keys.json`;
}

const DOCUMENT_NAME = "keys";

/** Keys that several servers share. `read` gives the state of the last `refresh`, which runs before each request. */
export type SharedKeys = KeyStore & Required<Pick<KeyStore, "refresh" | "kept">>;

/**
 * Opens a store of key hashes in the shared database. A change is valid here at once and is stored in the background, in
 * order; `kept` waits for it. A change that cannot be stored is undone. Throws `corrupt` if the document is something else.
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
      // Changed here meanwhile: the result is outdated, and may lack the text.
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
      // No real mark is empty, so the next refresh reads the document again.
      known = { mark: "", ring };
      // A write without patience is a time of last use, which may be lost.
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

/** Applies a change to the stored text. Gives the same text if nothing changes. */
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
      "keys: the shared database contains no valid keys. Restore the newest backup.",
      {
        cause,
      },
    );
  }
}

/**
 * Shares one call among all callers that wait while another call runs. The shared call starts after they asked, so none gets
 * an outdated result. At most two calls run at once.
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
  // Keys of version 1 had no scopes and could do everything, so they get all scopes.
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

/** Parses stored keys of this or an earlier version. Throws if the text is invalid. */
function parseKeyRing(text: string): KeyRing {
  return KEY_RING_SCHEMA.parse(JSON.parse(text));
}

/** Gives keys in their stored form. */
function formatKeyRing(ring: KeyRing): string {
  return `${JSON.stringify({ version: 2, ...ring }, null, 2)}\n`;
}

const KEYS_FORMAT: StateFormat<KeyRing> = {
  name: "keys",
  empty: EMPTY_RING,
  parse: parseKeyRing,
  format: formatKeyRing,
  remedy: "Restore the right file, or delete it: the next start creates a new key.",
};
