/**
 * Writes that may still arrive, by namespace. The client cannot break a request off: one that is no longer waited for goes on,
 * and would bring back what is deleted meanwhile.
 */
export interface LateWrites {
  track<Value>(namespace: string, write: Promise<Value>): Promise<Value>;
  /** Is over when none of a namespace, or of all, is under way. */
  wait(namespace?: string): Promise<void>;
}

/** ASSUMED: what has had no answer for so long (ms) will not be done any more; no gateway waits longer. */
export function createLateWrites(givenUpAfterMs: number): LateWrites {
  const underWay = new Map<Promise<void>, string>();
  return {
    track(namespace, write) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      underWay.set(over, namespace);
      const ended = (): void => {
        clearTimeout(timer);
        underWay.delete(over);
        resolve();
      };
      const timer = setTimeout(ended, givenUpAfterMs);
      timer.unref();
      write.then(ended, ended);
      return write;
    },
    async wait(namespace) {
      await Promise.all(
        [...underWay].flatMap(([over, name]) => (namespace === undefined || name === namespace ? over : [])),
      );
    },
  };
}
