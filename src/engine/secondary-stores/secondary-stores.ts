import type { Ports } from "../ports.ts";
import { createPendingErasures } from "./pending-erasures.ts";
import { waitForTurns } from "./session-turns.ts";
import { tryStore } from "./try-store.ts";

/** Manages the secondary stores, the sessions and the cache, while a memory is open. */
interface SecondaryStores {
  /** The ports, with the secondary stores added. */
  readonly ports: Ports;
  /** Waits for writes in progress. */
  close(): Promise<void>;
}

/** `retryFiles` rewrites files in which an erasure found words, and gives how many erasures are left. */
export function openSecondaryStores(
  plain: Ports,
  retryFiles: (ports: Ports) => Promise<number>,
): SecondaryStores {
  const { sessions, cache } = plain;
  const owed = createPendingErasures(plain, retryFiles);
  // For a program that ended before it reached them.
  if (sessions || cache) owed.scheduleRetry();
  const unwatch = watchStoreSize(plain);
  return {
    ports: { ...plain, pendingErasures: owed },
    async close() {
      unwatch();
      await owed.close();
      await waitForTurns(plain);
    },
  };
}

const EVERY_MS = 30_000;
/** A count visits every user of the last day. */
const COUNT_EVERY_MS = 300_000;

/**
 * Reports the size and limit of the session store to the meter, twice a minute, and the number of active sessions every five
 * minutes. Returns a function that stops it.
 */
function watchStoreSize(ports: Pick<Ports, "sessions" | "meter">): () => void {
  const { sessions, meter } = ports;
  if (!sessions || !meter) return () => {};
  const look = async (): Promise<void> => {
    const room = await tryStore(ports, "sessions", () => sessions.room());
    if (!room) return;
    meter.set("memory_sessions_store_bytes", room.bytes);
    meter.set("memory_sessions_store_limit_bytes", room.most ?? 0);
  };
  const count = async (): Promise<void> => {
    const active = await tryStore(ports, "sessions", () => sessions.countActive());
    if (active !== undefined) meter.set("keepsake_active_sessions", active);
  };
  const timers = [
    setInterval(() => void look(), EVERY_MS).unref(),
    setInterval(() => void count(), COUNT_EVERY_MS).unref(),
  ];
  void look();
  void count();
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}
