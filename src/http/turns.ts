/** Waits until it is a request's turn to begin. */
export type FairQueue = () => Promise<void>;

/**
 * Requests begin in the order in which they came, one in each turn of the event loop. Else all that came at once would be carried out
 * before anything goes on that waits for a thread, the disk or another server: a write waits three times, and behind sixty searches each time.
 */
export function createFairQueue(): FairQueue {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  const pass = (): void => {
    const next = waiting.shift();
    isTaken = next !== undefined;
    if (!next) return;
    setImmediate(pass);
    next();
  };
  return () => {
    // One that comes alone waits for nothing.
    if (!isTaken) {
      isTaken = true;
      setImmediate(pass);
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}
