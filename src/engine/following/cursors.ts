import { type Scope, scopeKey } from "../../domain/scope.ts";
import type { HouseKeeping, NewVisit } from "../../ports/house-keeping.ts";
import type { FollowingName } from "./mark.ts";

/** How far an index is with each user, as this process knows it: noted in the record a little later, for a note is a write. */
export interface Cursors {
  /** The revision that the index has taken in as a whole; 0 for none. */
  of(scope: Scope): Promise<number>;
  moved(scope: Scope, revision: number): void;
  /** What the record says now holds: another process may have set it back. */
  believe(scope: Scope, revision: number): void;
  /** Notes in the record what was not noted yet. What cannot be noted is taken in once more some day. */
  flush(): Promise<void>;
  /** Lets go of all; the record knows. */
  forget(): void;
}

/** So many users are known at once; of others the record is asked. */
const MOST = 10_000;
const NOTED_AT_ONCE = 200;
/** ms. Until then a crash has what came last taken in twice. */
const NOTE_AFTER = 1000;

interface Unnoted {
  readonly scope: Scope;
  readonly revision: number;
  /** What stood in the record before. */
  readonly from: number;
}

export function cursorsOf(record: Pick<HouseKeeping, "visit" | "noteVisits">, name: FollowingName): Cursors {
  const known = new Map<string, number>();
  let unnoted = new Map<string, Unnoted>();
  let timer: NodeJS.Timeout | undefined;

  const keep = (key: string, revision: number): void => {
    known.delete(key);
    known.set(key, revision);
    for (const old of known.keys()) {
      if (known.size <= MOST) break;
      known.delete(old);
    }
  };
  /** Those that nobody has set back meanwhile: then the index was cleared, and what we put is not all that it lacks. */
  const stillSo = async (some: readonly Unnoted[]): Promise<NewVisit[]> => {
    const visits: NewVisit[] = [];
    for (const { scope, revision, from } of some) {
      const now = (await record.visit(name, scope))?.revision ?? 0;
      if (now >= from) visits.push({ scope, visit: { revision } });
      else known.delete(scopeKey(scope));
    }
    return visits;
  };
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const all = [...unnoted.values()];
    unnoted = new Map();
    for (let at = 0; at < all.length; at += NOTED_AT_ONCE) {
      const some = all.slice(at, at + NOTED_AT_ONCE);
      await stillSo(some)
        .then((visits) => record.noteVisits(name, visits))
        .catch(() => {});
    }
  };

  return {
    async of(scope) {
      const key = scopeKey(scope);
      const held = known.get(key) ?? unnoted.get(key)?.revision;
      if (held !== undefined) return held;
      const revision = (await record.visit(name, scope))?.revision ?? 0;
      if (!known.has(key)) keep(key, revision);
      return known.get(key) ?? revision;
    },
    moved(scope, revision) {
      const key = scopeKey(scope);
      const from = unnoted.get(key)?.from ?? known.get(key) ?? 0;
      keep(key, revision);
      unnoted.set(key, { scope: { project: scope.project, user: scope.user }, revision, from });
      timer ??= setTimeout(() => void flush(), NOTE_AFTER).unref();
    },
    believe(scope, revision) {
      const key = scopeKey(scope);
      if (!unnoted.has(key)) keep(key, revision);
    },
    flush,
    forget() {
      clearTimeout(timer);
      timer = undefined;
      known.clear();
      unnoted.clear();
    },
  };
}
