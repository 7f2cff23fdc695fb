import type { Scope } from "../../domain/scope.ts";

/**
 * Called with the user whose words were erased; without a user if any may be affected. The receipt waits for
 * its result. It must not throw or reject.
 */
export type ErasureListener = (scope?: Scope) => unknown;

/** Notifies each cache of this process at once that words were erased. */
export interface ErasureWatch {
  /**
   * Calls every listener and awaits the results. Call it after the commit and before the receipt is returned.
   */
  notify(scope?: Scope): Promise<void>;
  /** Adds a listener; returns a function that removes it. */
  watch(listener: ErasureListener): () => void;
}

export function createErasureWatch(): ErasureWatch {
  const listeners = new Set<ErasureListener>();
  return {
    async notify(scope) {
      await Promise.all([...listeners].map((listener) => listener(scope)));
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
