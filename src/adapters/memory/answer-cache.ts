import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { StoredAnswer } from "../../domain/stored-answer.ts";
import type { AnswerCache } from "../../ports/answer-cache.ts";

/** One answer, and the receipts of the erasures that came while it was begun. */
interface MemoryAnswer {
  kept: StoredAnswer;
  readonly erasures: string[];
}

export interface MemoryAnswerCache {
  readonly port: AnswerCache;
  /** To be called with each erasure of a user. */
  erase(scope: Scope, receipt: string): void;
  /** What is held, of those that are done. */
  bodies(scope: Scope): string[];
  /** All of everybody, with the receipts of the erasures that came while one was begun. */
  rows(): { readonly scope: Scope; readonly kept: StoredAnswer; readonly erasures: readonly string[] }[];
  /** Adds one as it is; one that is there stays. */
  put(scope: Scope, kept: StoredAnswer, erasures: readonly string[]): void;
  clear(): void;
}

/** Answers under idempotency keys, in this process. `check` throws where the record is closed, or the scope is none. */
export function createMemoryAnswerCache(check: (scope: Scope) => void): MemoryAnswerCache {
  const users = new Map<string, Map<string, MemoryAnswer>>();
  const scopes = new Map<string, Scope>();
  const of = (scope: Scope): Map<string, MemoryAnswer> => {
    check(scope);
    return users.get(toScopeKey(scope)) ?? new Map<string, MemoryAnswer>();
  };
  const port: AnswerCache = {
    async beginAnswer(scope, { key, request, at }, { outdated, abandoned }) {
      const held = of(scope);
      const kept = held.get(key)?.kept;
      const makesRoom = kept && (kept.at < outdated || (kept.state === "begun" && kept.at < abandoned));
      if (kept && !makesRoom) return structuredClone(kept);
      held.set(key, { kept: { key, request, at, state: "begun" }, erasures: [] });
      users.set(toScopeKey(scope), held);
      scopes.set(toScopeKey(scope), { project: scope.project, user: scope.user });
      return undefined;
    },

    async endAnswer(scope, key, answer, own) {
      const held = of(scope).get(key);
      if (held?.kept.state !== "begun") return;
      const isErased = held.erasures.some((receipt) => !own.includes(receipt));
      held.kept = isErased
        ? toErasedAnswer(held.kept)
        : { ...held.kept, state: "done", answer: structuredClone(answer) };
    },

    async releaseAnswer(scope, key) {
      const held = of(scope);
      if (held.get(key)?.kept.state === "begun") held.delete(key);
    },

    async dropAnswers(before) {
      let dropped = 0;
      for (const held of users.values()) {
        for (const [key, { kept }] of held) if (kept.at < before && held.delete(key)) dropped += 1;
      }
      return dropped;
    },
  };
  return {
    port,
    erase(scope, receipt) {
      for (const held of of(scope).values()) {
        if (held.kept.state === "begun") held.erasures.push(receipt);
        else held.kept = toErasedAnswer(held.kept);
      }
    },

    bodies: (scope) => [...of(scope).values()].flatMap(({ kept }) => (kept.answer ? [kept.answer.body] : [])),

    rows: () =>
      [...users].flatMap(([key, held]) => {
        const scope = scopes.get(key);
        return scope ? [...held.values()].map((one) => ({ scope, ...one })) : [];
      }),

    put(scope, kept, erasures) {
      const held = of(scope);
      if (!held.has(kept.key)) held.set(kept.key, { kept, erasures: [...erasures] });
      users.set(toScopeKey(scope), held);
      scopes.set(toScopeKey(scope), { project: scope.project, user: scope.user });
    },

    clear() {
      users.clear();
      scopes.clear();
    },
  };
}

function toErasedAnswer({ key, at }: StoredAnswer): StoredAnswer {
  return { key, request: "", at, state: "erased" };
}
