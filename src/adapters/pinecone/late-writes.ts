/**
 * Writes that may still arrive, by namespace. The client cannot break a request off: one that is no longer waited for goes on,
 * and would bring back what is deleted meanwhile.
 */
export interface LateWrites {
  track<Value>(namespace: string, write: Promise<Value>): Promise<Value>;
  /** Is over when none of a namespace, or of all, is under way. */
  over(namespace?: string): Promise<void>;
}

export function lateWrites(): LateWrites {
  const underWay = new Map<Promise<unknown>, string>();
  return {
    track(namespace, write) {
      underWay.set(write, namespace);
      const ended = (): void => void underWay.delete(write);
      write.then(ended, ended);
      return write;
    },
    async over(namespace) {
      const writes = [...underWay].filter(([, name]) => namespace === undefined || name === namespace);
      await Promise.allSettled(writes.map(([write]) => write));
    },
  };
}
