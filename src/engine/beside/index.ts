import type { Ports } from "../ports.ts";
import { createPendingErasures } from "./owing.ts";
import { waitForTurns } from "./short-term.ts";
import { watchStoreSize } from "./watch.ts";

/** What looks after the places beside the record, the sessions and the cache, as long as a memory is open. */
export interface SecondaryStores {
  /** The ports, with it. */
  readonly ports: Ports;
  /** Waits for what is on its way to them. */
  close(): Promise<void>;
}

export function openSecondaryStores(plain: Ports): SecondaryStores {
  const { sessions, cache } = plain;
  if (!sessions && !cache) return { ports: plain, close: async () => {} };
  const owed = createPendingErasures(plain);
  // Of a program that ended before it reached them.
  owed.scheduleRetry();
  const unwatch = watchStoreSize(plain);
  return {
    ports: { ...plain, owing: owed },
    async close() {
      unwatch();
      await owed.close();
      await waitForTurns(plain);
    },
  };
}
