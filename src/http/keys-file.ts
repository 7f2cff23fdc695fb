import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { MemoryError } from "../errors.ts";
import type { KeyRing, KeyStore } from "./keys.ts";

const RING = z.object({
  version: z.literal(1),
  keys: z.array(z.object({ id: z.string(), project: z.string(), hash: z.string(), createdAt: z.string() })),
  sessions: z.array(
    z.object({ key: z.string(), hash: z.string(), proofHash: z.string(), expiresAt: z.string() }),
  ),
});

/**
 * Keys in a file of mode 0600, by their hashes. Other processes may change it: it is read again whenever it did.
 * `corrupt` where the file holds something else, `unavailable` where it cannot be read or written.
 */
export function keysFile(path: string): KeyStore {
  let known: { mark: string; ring: KeyRing } | undefined;
  const read = (): KeyRing | undefined => {
    const mark = markOf(path);
    if (mark === undefined) {
      known = undefined;
      return undefined;
    }
    if (known?.mark !== mark) known = { mark, ring: parse(path) };
    return known.ring;
  };
  return {
    read,
    write(change) {
      const held = read();
      if (!held && create(path, change({ keys: [], sessions: [] }))) return;
      // Somebody else made the file meanwhile, or it was there: the change builds on it.
      replace(path, change(read() ?? { keys: [], sessions: [] }));
    },
  };
}

/** Changes whenever the file does; undefined where there is none. */
function markOf(path: string): string | undefined {
  const state = statSync(path, { bigint: true, throwIfNoEntry: false });
  return state && `${state.ino}/${state.mtimeNs}/${state.size}`;
}

function parse(path: string): KeyRing {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new MemoryError("unavailable", `keys ${path}: it cannot be read. Check its owner and mode.`, {
      cause,
    });
  }
  try {
    const { keys, sessions } = RING.parse(JSON.parse(text));
    return { keys, sessions };
  } catch (cause) {
    throw new MemoryError(
      "corrupt",
      `keys ${path}: it holds no keys. Put the right file back, or take it away and the next start makes a new key.`,
      { cause },
    );
  }
}

/** Makes the file; false where it is there already. */
function create(path: string, ring: KeyRing): boolean {
  return withDraft(path, ring, (draft) => {
    try {
      linkSync(draft, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  });
}

function replace(path: string, ring: KeyRing): void {
  withDraft(path, ring, (draft) => renameSync(draft, path));
}

/** Written whole under another name first: a reader never sees half a file. */
function withDraft<Result>(path: string, ring: KeyRing, use: (draft: string) => Result): Result {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(draft, `${JSON.stringify({ version: 1, ...ring }, null, 2)}\n`, {
      mode: 0o600,
      flag: "wx",
      flush: true,
    });
    return use(draft);
  } catch (cause) {
    throw new MemoryError("unavailable", `keys ${path}: it cannot be written. Is the folder writable?`, {
      cause,
    });
  } finally {
    rmSync(draft, { force: true });
  }
}
