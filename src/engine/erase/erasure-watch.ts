import type { Scope } from "../../domain/scope.ts";

/**
 * Called with the user whose words were erased; without one where it may be any user. The receipt waits for what it gives. It may neither
 * throw nor reject.
 */
export type ErasureListener = (scope?: Scope) => unknown;

/** Tells each cache of this process at once that words were erased. */
export interface ErasureWatch {
  /** Calls every listener, and waits for what they give. To be called after the commit and before the receipt is given. */
  notify(scope?: Scope): Promise<void>;
  /** Adds a listener; gives a function that removes it. */
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
