/** Waits until it is a request's turn to begin. */
export type Turns = () => Promise<void>;

/**
 * Requests begin in the order in which they came, one in each turn of the event loop. Else all that came at once would be carried out
 * before anything goes on that waits for a thread, the disk or another server: a write waits three times, and behind sixty searches each time.
 */
export function turns(): Turns {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
}
