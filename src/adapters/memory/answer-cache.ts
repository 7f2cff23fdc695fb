import type { StoredAnswer } from "../../domain/operations/stored-answer.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { AnswerCache } from "../../ports/stores/answer-cache.ts";

/** An answer, and the receipts of the erasures that happened after it was begun. */
interface MemoryAnswer {
  kept: StoredAnswer;
  readonly erasures: string[];
}

export interface MemoryAnswerCache {
  readonly port: AnswerCache;
  /** Must be called for each erasure of a user. */
  erase(scope: Scope, receipt: string): void;
  /** The bodies of all finished answers of a user. */
  bodies(scope: Scope): string[];
  /** The answers of all users, with the receipts of the erasures that happened after each was begun. */
  rows(): { readonly scope: Scope; readonly kept: StoredAnswer; readonly erasures: readonly string[] }[];
  /** Adds an answer unchanged; an existing one is kept. */
  put(scope: Scope, kept: StoredAnswer, erasures: readonly string[]): void;
  clear(): void;
}

/** Stores answers under idempotency keys, in this process. `check` throws if the store is closed or the scope is invalid. */
export function createMemoryAnswerCache(check: (scope: Scope) => void): MemoryAnswerCache {
  const users = new Map<string, Map<string, MemoryAnswer>>();
  const scopes = new Map<string, Scope>();
  const of = (scope: Scope): Map<string, MemoryAnswer> => {
    check(scope);
    return users.get(toScopeKey(scope)) ?? new Map<string, MemoryAnswer>();
  };
  const port: AnswerCache = {
    async beginAnswer(scope, { key, request, at }, { outdated, abandoned }) {
      const answers = of(scope);
      const kept = answers.get(key)?.kept;
      const makesRoom = kept && (kept.at < outdated || (kept.state === "begun" && kept.at < abandoned));
      if (kept && !makesRoom) return structuredClone(kept);
      answers.set(key, { kept: { key, request, at, state: "begun" }, erasures: [] });
      users.set(toScopeKey(scope), answers);
      scopes.set(toScopeKey(scope), { project: scope.project, user: scope.user });
      return undefined;
    },

    async endAnswer(scope, key, answer, own) {
      const entry = of(scope).get(key);
      if (entry?.kept.state !== "begun") return;
      const isErased = entry.erasures.some((receipt) => !own.includes(receipt));
      entry.kept = isErased
        ? toErasedAnswer(entry.kept)
        : { ...entry.kept, state: "done", answer: structuredClone(answer) };
    },

    async releaseAnswer(scope, key) {
      const answers = of(scope);
      if (answers.get(key)?.kept.state === "begun") answers.delete(key);
    },

    async dropAnswers(before) {
      let dropped = 0;
      for (const answers of users.values()) {
        for (const [key, { kept }] of answers) if (kept.at < before && answers.delete(key)) dropped += 1;
      }
      return dropped;
    },
  };
  return {
    port,
    erase(scope, receipt) {
      for (const entry of of(scope).values()) {
        if (entry.kept.state === "begun") entry.erasures.push(receipt);
        else entry.kept = toErasedAnswer(entry.kept);
      }
    },

    bodies: (scope) => [...of(scope).values()].flatMap(({ kept }) => (kept.answer ? [kept.answer.body] : [])),

    rows: () =>
      [...users].flatMap(([key, answers]) => {
        const scope = scopes.get(key);
        return scope ? [...answers.values()].map((one) => ({ scope, ...one })) : [];
      }),

    put(scope, kept, erasures) {
      const answers = of(scope);
      if (!answers.has(kept.key)) answers.set(kept.key, { kept, erasures: [...erasures] });
      users.set(toScopeKey(scope), answers);
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
