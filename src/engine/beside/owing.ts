import type { Ports } from "../ports.ts";
import { retryErasures } from "./settle.ts";

/** Erasures that have not reached every place yet. They stand in the record, so that none is lost with this process. */
export interface PendingErasures {
  /** Some may be left: they are tried again, soon and then at longer intervals, until none is. */
  scheduleRetry(): void;
  /** Ends it, and waits for what runs. */
  close(): Promise<void>;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

export function createPendingErasures(ports: Ports): PendingErasures {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;
  let pauseMs = FIRST_RETRY_MS;
  const plan = (): void => {
    if (isClosed || timer || running) return;
    timer = setTimeout(run, pauseMs).unref();
    pauseMs = Math.min(LONGEST_RETRY_MS, pauseMs * 2);
  };
  const run = (): void => {
    timer = undefined;
    running = retryErasures(ports)
      // The record cannot be read: as good as some being left.
      .catch(() => 1)
      .then((left) => {
        running = undefined;
        if (left > 0) plan();
        else pauseMs = FIRST_RETRY_MS;
      });
  };
  return {
    scheduleRetry: plan,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
