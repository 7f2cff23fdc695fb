import type { ModelCall } from "../../domain/model-usage.ts";
import type { CallFilter, CallSum, Calls, StoredTurns } from "../../ports/language/model-calls.ts";

type MutableModelCall = { -readonly [Field in keyof ModelCall]: ModelCall[Field] };

/**
 * The reference ledger of model calls: in process, not persistent, and short enough to read as the specification. With `most`,
 * it keeps only that many of the newest calls.
 */
export function memoryCalls({ most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {}): Calls {
  const calls = new Map<string, MutableModelCall>();
  const turns: { -readonly [Field in keyof StoredTurns]: StoredTurns[Field] }[] = [];

  return {
    async note(more, stored = []) {
      for (const call of more) if (!calls.has(call.id)) calls.set(call.id, structuredClone(call));
      for (const one of stored) {
        const held = turns.find((other) => isSameDay(one, other));
        if (held) held.turns += one.turns;
        else turns.push({ ...one });
      }
      for (const id of calls.keys()) {
        if (calls.size <= most) break;
        calls.delete(id);
      }
    },

    async sums({ by, ...bounds }) {
      const groups = new Map<string, CallSum>();
      for (const call of calls.values()) {
        if (!isWithinBounds(bounds, call, call.at)) continue;
        const part = toGroupFields(call, by);
        const key = JSON.stringify([call.purpose, call.model, part]);
        groups.set(key, addToSum(groups.get(key), call, part));
      }
      return [...groups.values()];
    },

    async turns(bounds) {
      return turns
        .filter((one) => isWithinBounds({ ...bounds, from: undefined, to: undefined }, one, ""))
        .filter(({ day }) => bounds.from === undefined || day >= bounds.from.slice(0, 10))
        .filter(({ day }) => bounds.to === undefined || `${day}T00:00:00.000Z` < bounds.to)
        .reduce((sum, one) => sum + one.turns, 0);
    },

    async list({ limit, ...bounds }) {
      const found = [...calls.values()].filter((call) => isWithinBounds(bounds, call, call.at)).reverse();
      // The sort is stable: of two calls at the same time, the later one comes first.
      found.sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
      return structuredClone(found.slice(0, limit));
    },

    async unname({ project, user }) {
      for (const call of calls.values()) {
        if (call.project === project && call.user === user) delete call.user;
      }
      for (const one of turns) if (one.project === project && one.user === user) one.user = "";
    },

    async removeBefore(at) {
      const old = [...calls.values()].filter((call) => call.at < at);
      for (const { id } of old) calls.delete(id);
      const kept = turns.filter(({ day }) => day >= at.slice(0, 10));
      turns.splice(0, turns.length, ...kept);
      return old.length;
    },
  };
}

function isSameDay(one: StoredTurns, other: StoredTurns): boolean {
  return one.project === other.project && one.user === other.user && one.day === other.day;
}

type CallBounds = { readonly [Field in keyof CallFilter]: CallFilter[Field] | undefined };

function isWithinBounds(
  { project, user, from, to }: CallBounds,
  whose: { readonly project: string; readonly user?: string },
  at: string,
): boolean {
  if (project !== undefined && whose.project !== project) return false;
  if (user !== undefined && whose.user !== user) return false;
  return (from === undefined || at >= from) && (to === undefined || at < to);
}

function toGroupFields(call: ModelCall, by: "day" | "outcome" | undefined): Pick<CallSum, "day" | "outcome"> {
  if (by === undefined) return {};
  return by === "day" ? { day: call.at.slice(0, 10) } : { outcome: call.outcome };
}

function addToSum(
  sum: CallSum | undefined,
  call: ModelCall,
  part: Pick<CallSum, "day" | "outcome">,
): CallSum {
  return {
    purpose: call.purpose,
    model: call.model,
    ...part,
    calls: (sum?.calls ?? 0) + 1,
    failed: (sum?.failed ?? 0) + (call.outcome === "ok" ? 0 : 1),
    units: (sum?.units ?? 0) + call.units,
    tokensIn: (sum?.tokensIn ?? 0) + call.tokensIn,
    tokensCached: (sum?.tokensCached ?? 0) + call.tokensCached,
    tokensOut: (sum?.tokensOut ?? 0) + call.tokensOut,
    cost: (sum?.cost ?? 0) + (call.cost ?? 0),
    unpriced: (sum?.unpriced ?? 0) + (call.cost === undefined ? 1 : 0),
    ms: (sum?.ms ?? 0) + call.ms,
  };
}
