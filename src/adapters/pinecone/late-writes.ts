/**
 * Writes that may still arrive, by namespace. The client cannot abort a request: one that timed out continues, and could bring
 * back entries that were deleted meanwhile.
 */
export interface LateWrites {
  track<Value>(namespace: string, write: Promise<Value>): Promise<Value>;
  /** Resolves when no write of the namespace, or of any, is in progress. */
  wait(namespace?: string): Promise<void>;
}

/** ASSUMED: a write without an answer after this many ms never arrives; no gateway waits longer. */
export function createLateWrites(givenUpAfterMs: number): LateWrites {
  const pending = new Map<Promise<void>, string>();
  return {
    track(namespace, write) {
      const { promise: done, resolve } = Promise.withResolvers<void>();
      pending.set(done, namespace);
      const finish = (): void => {
        clearTimeout(timer);
        pending.delete(done);
        resolve();
      };
      const timer = setTimeout(finish, givenUpAfterMs);
      timer.unref();
      write.then(finish, finish);
      return write;
    },
    async wait(namespace) {
      await Promise.all(
        [...pending].flatMap(([done, name]) => (namespace === undefined || name === namespace ? done : [])),
      );
    },
  };
}
