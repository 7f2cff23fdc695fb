import type { Clock } from "../../ports/clock.ts";
import type { KeyEntry, KeyStore } from "./entries.ts";

/** When keys were used last. Noting it costs a request nothing but a number in a map. */
export interface KeyUses {
  note(id: string): void;
  /** The entry with the last use, also where it is not kept yet. */
  withLastUse(entry: KeyEntry): KeyEntry;
  /** Keeps what is not kept yet, now. */
  flush(): void;
}

const FIRST_WRITE_MS = 1_000;
const WRITE_INTERVAL_MS = 60_000;

/** Keeps last uses behind the requests' backs: all at once, at most once a minute. */
export function createKeyUses(store: KeyStore, clock: Clock): KeyUses {
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_WRITE_MS;
  const latest = (entry: KeyEntry, uses: ReadonlyMap<string, number> = waiting): KeyEntry => {
    const used = uses.get(entry.id);
    if (used === undefined) return entry;
    const lastUsedAt = new Date(used).toISOString();
    return (entry.lastUsedAt ?? "") < lastUsedAt ? { ...entry, lastUsedAt } : entry;
  };
  const keep = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const uses = new Map(waiting);
    // No patience: who waits for another program here, waits on everybody's time.
    store.write((ring) => {
      const keys = ring.keys.map((entry) => latest(entry, uses));
      return keys.some((entry, i) => entry !== ring.keys[i]) ? { ...ring, keys } : ring;
    }, 0);
    waiting.clear();
  };
  const later = (): void => {
    timer ??= setTimeout(() => {
      pauseMs = WRITE_INTERVAL_MS;
      try {
        keep();
      } catch {
        // A full disk or a busy file is no reason to end a server: the uses wait for the next one.
      }
    }, pauseMs).unref();
  };
  return {
    note(id) {
      waiting.set(id, clock().getTime());
      later();
    },
    withLastUse: (entry) => latest(entry),
    flush: keep,
  };
}
