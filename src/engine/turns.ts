import { type Scope, toScopeKey } from "../domain/scope.ts";

/** Work on users: one after the other for each of them, beside each other for several. */
export interface UserQueue {
  runExclusive<Result>(scope: Scope, work: () => Promise<Result>): Promise<Result>;
  isBusy(scope: Scope): boolean;
}

export function createUserQueue(): UserQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    async runExclusive(scope, work) {
      const key = toScopeKey(scope);
      const before = last.get(key) ?? Promise.resolve();
      const own = before.then(work, work);
      last.set(key, own);
      try {
        return await own;
      } finally {
        if (last.get(key) === own) last.delete(key);
      }
    },
    isBusy: (scope) => last.has(toScopeKey(scope)),
  };
}
