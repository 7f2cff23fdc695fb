import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { JobStore, NewJobProgress } from "../../ports/house-keeping.ts";
import type { IndexJobName } from "./mark.ts";

/** How far an index is with each user, as this process knows it: noted in the record a little later, for a note is a write. */
export interface IndexCursors {
  /** The revision that the index has taken in as a whole; 0 for none. */
  get(scope: Scope): Promise<number>;
  advance(scope: Scope, revision: number): void;
  /** What the record says now holds: another process may have set it back. */
  adopt(scope: Scope, revision: number): void;
  /** Notes in the record what was not noted yet. What cannot be noted is taken in once more some day. */
  flush(): Promise<void>;
  /** Lets go of all; the record knows. */
  clear(): void;
}

/** So many users are known at once; of others the record is asked. */
const MAX_KNOWN_USERS = 10_000;
const SAVED_AT_ONCE = 200;
/** ms. Until then a crash has what came last taken in twice. */
const SAVE_AFTER_MS = 1000;

interface UnsavedCursor {
  readonly scope: Scope;
  readonly revision: number;
  /** What stood in the record before. */
  readonly from: number;
}

export function createIndexCursors(
  record: Pick<JobStore, "userProgress" | "saveProgress">,
  name: IndexJobName,
): IndexCursors {
  const known = new Map<string, number>();
  let unnoted = new Map<string, UnsavedCursor>();
  let timer: NodeJS.Timeout | undefined;

  const keep = (key: string, revision: number): void => {
    known.delete(key);
    known.set(key, revision);
    for (const old of known.keys()) {
      if (known.size <= MAX_KNOWN_USERS) break;
      known.delete(old);
    }
  };
  /** Those that nobody has set back meanwhile: then the index was cleared, and what we put is not all that it lacks. */
  const stillSo = async (some: readonly UnsavedCursor[]): Promise<NewJobProgress[]> => {
    const visits: NewJobProgress[] = [];
    for (const { scope, revision, from } of some) {
      const now = (await record.userProgress(name, scope))?.revision ?? 0;
      if (now >= from) visits.push({ scope, visit: { revision } });
      else known.delete(toScopeKey(scope));
    }
    return visits;
  };
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const all = [...unnoted.values()];
    unnoted = new Map();
    for (let at = 0; at < all.length; at += SAVED_AT_ONCE) {
      const some = all.slice(at, at + SAVED_AT_ONCE);
      await stillSo(some)
        .then((visits) => record.saveProgress(name, visits))
        .catch(() => {});
    }
  };

  return {
    async get(scope) {
      const key = toScopeKey(scope);
      const held = known.get(key) ?? unnoted.get(key)?.revision;
      if (held !== undefined) return held;
      const revision = (await record.userProgress(name, scope))?.revision ?? 0;
      if (!known.has(key)) keep(key, revision);
      return known.get(key) ?? revision;
    },
    advance(scope, revision) {
      const key = toScopeKey(scope);
      const from = unnoted.get(key)?.from ?? known.get(key) ?? 0;
      keep(key, revision);
      unnoted.set(key, { scope: { project: scope.project, user: scope.user }, revision, from });
      timer ??= setTimeout(() => void flush(), SAVE_AFTER_MS).unref();
    },
    adopt(scope, revision) {
      const key = toScopeKey(scope);
      if (!unnoted.has(key)) keep(key, revision);
    },
    flush,
    clear() {
      clearTimeout(timer);
      timer = undefined;
      known.clear();
      unnoted.clear();
    },
  };
}
