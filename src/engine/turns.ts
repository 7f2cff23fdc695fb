import { type Scope, scopeKey } from "../domain/scope.ts";

/** Work on users: one after the other for each of them, beside each other for several. */
export interface Turns {
  inTurn<Result>(scope: Scope, work: () => Promise<Result>): Promise<Result>;
  isAtWork(scope: Scope): boolean;
}

export function turns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async inTurn(scope, work) {
      const key = scopeKey(scope);
      const before = last.get(key) ?? Promise.resolve();
      const own = before.then(work, work);
      last.set(key, own);
      try {
        return await own;
      } finally {
        if (last.get(key) === own) last.delete(key);
      }
    },
    isAtWork: (scope) => last.has(scopeKey(scope)),
  };
}
