import type { KeptAnswer } from "../../domain/kept-answer.ts";
import { type Scope, scopeKey } from "../../domain/scope.ts";
import type { KeptAnswers } from "../../ports/kept-answers.ts";

/** One answer, and the receipts of the erasures that came while it was begun. */
interface Held {
  kept: KeptAnswer;
  readonly erasures: string[];
}

export interface HeldAnswers {
  readonly port: KeptAnswers;
  /** To be called with each erasure of a user. */
  erase(scope: Scope, receipt: string): void;
  /** What is held, of those that are done. */
  bodies(scope: Scope): string[];
  /** All of everybody, with the receipts of the erasures that came while one was begun. */
  rows(): { readonly scope: Scope; readonly kept: KeptAnswer; readonly erasures: readonly string[] }[];
  /** Adds one as it is; one that is there stays. */
  put(scope: Scope, kept: KeptAnswer, erasures: readonly string[]): void;
  clear(): void;
}

/** Answers under idempotency keys, in this process. `check` throws where the record is closed, or the scope is none. */
export function heldAnswers(check: (scope: Scope) => void): HeldAnswers {
  const users = new Map<string, Map<string, Held>>();
  const scopes = new Map<string, Scope>();
  const of = (scope: Scope): Map<string, Held> => {
    check(scope);
    return users.get(scopeKey(scope)) ?? new Map<string, Held>();
  };
  const port: KeptAnswers = {
    async beginAnswer(scope, { key, request, at }, { outdated, abandoned }) {
      const held = of(scope);
      const kept = held.get(key)?.kept;
      const makesRoom = kept && (kept.at < outdated || (kept.state === "begun" && kept.at < abandoned));
      if (kept && !makesRoom) return structuredClone(kept);
      held.set(key, { kept: { key, request, at, state: "begun" }, erasures: [] });
      users.set(scopeKey(scope), held);
      scopes.set(scopeKey(scope), { project: scope.project, user: scope.user });
      return undefined;
    },

    async endAnswer(scope, key, answer, own) {
      const held = of(scope).get(key);
      if (held?.kept.state !== "begun") return;
      const isErased = held.erasures.some((receipt) => !own.includes(receipt));
      held.kept = isErased
        ? erased(held.kept)
        : { ...held.kept, state: "done", answer: structuredClone(answer) };
    },

    async letAnswerGo(scope, key) {
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
        else held.kept = erased(held.kept);
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
      users.set(scopeKey(scope), held);
      scopes.set(scopeKey(scope), { project: scope.project, user: scope.user });
    },

    clear() {
      users.clear();
      scopes.clear();
    },
  };
}

function erased({ key, at }: KeptAnswer): KeptAnswer {
  return { key, request: "", at, state: "erased" };
}
