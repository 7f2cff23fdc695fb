import type { Ports } from "../ports.ts";
import { owing } from "./owing.ts";
import { turnsNoted } from "./short-term.ts";
import { watchRoom } from "./watch.ts";

/** What looks after the places beside the record, the sessions and the cache, as long as a memory is open. */
export interface Beside {
  /** The ports, with it. */
  readonly ports: Ports;
  /** Waits for what is on its way to them. */
  close(): Promise<void>;
}

export function beside(plain: Ports): Beside {
  const { sessions, cache } = plain;
  if (!sessions && !cache) return { ports: plain, close: async () => {} };
  const owed = owing(plain);
  // Of a program that ended before it reached them.
  owed.look();
  const unwatch = watchRoom(plain);
  return {
    ports: { ...plain, owing: owed },
    async close() {
      unwatch();
      await owed.close();
      await turnsNoted(plain);
    },
  };
}
