/** What is to be closed, in the order in which it was opened. */
export interface ResourceCloser {
  add(close: () => unknown): void;
  /** Closes all of it, the newest first. One that fails keeps none of the others open. */
  close(): Promise<void>;
}

export function createResourceCloser(): ResourceCloser {
  const all: (() => unknown)[] = [];
  return {
    add: (close) => void all.push(close),
    async close() {
      // A server that is gone cannot be said goodbye to: the process ends anyway.
      for (const one of all.splice(0).reverse())
        await Promise.resolve()
          .then(one)
          .catch(() => {});
    },
  };
}
