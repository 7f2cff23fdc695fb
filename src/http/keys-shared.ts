import { MemoryError } from "../errors.ts";
import type { Documents, SharedDocument } from "../ports/documents.ts";
import { EMPTY_RING, type KeyRing, type KeyStore } from "./keys/entries.ts";
import { formatKeyRing, parseKeyRing } from "./keys/written.ts";

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
