import type { Scope } from "../domain/scope.ts";

/** Called with the user whose words were erased; without one where it may be any user. */
export type ErasureListener = (scope?: Scope) => void;

/** Tells each cache of this process at once that words were erased. */
export interface ErasureWatch {
  /** Calls every listener. To be called after the commit and before the receipt is given. */
  notify(scope?: Scope): void;
  /** Adds a listener; gives a function that removes it. A listener may not throw. */
  watch(listener: ErasureListener): () => void;
}

export function erasureWatch(): ErasureWatch {
  const listeners = new Set<ErasureListener>();
  return {
    notify(scope) {
      for (const listener of listeners) listener(scope);
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
