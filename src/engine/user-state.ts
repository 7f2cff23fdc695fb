import type { Link, Tombstone, Unit } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { type Scope, scopeKey } from "../domain/scope.ts";
import { type TextIndex, textIndex } from "../domain/text-index.ts";
import type { Delta, Record } from "../ports/record.ts";
import { type ClaimIndex, claimIndex } from "./claim-index.ts";

/**
 * A user's record as this process knows it, with the indexes that search needs. It is a cache: before each use it
 * asks the record for the user's revision and takes in what came since, so that several processes stay coherent.
 * Read-only for everybody but `userStates`.
 */
export interface UserState {
  readonly scope: Scope;
  readonly revision: number;
  /** In the order of their turns. */
  readonly messages: ReadonlyMap<string, Message>;
  /** The newest version of each, in the order in which they were first stored. */
  readonly memories: ReadonlyMap<string, Memory>;
  /** Those of them that are current, in the same order. */
  readonly current: ReadonlyMap<string, Memory>;
  /** Over the newest versions of all memories, whatever their status. */
  readonly claims: ClaimIndex;
  readonly units: ReadonlyMap<string, Unit>;
  /** Exact BM25 over the terms of all units. */
  readonly text: TextIndex;
  /** By hash. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  readonly links: readonly Link[];
}

export interface UserStates {
  of(scope: Scope): Promise<UserState>;
  /** Lets go of one user's state, or of all. */
  drop(scope?: Scope): void;
}

interface Kept {
  scope: Scope;
  revision: number;
  messages: Map<string, Message>;
  memories: Map<string, Memory>;
  current: Map<string, Memory>;
  claims: ClaimIndex;
  units: Map<string, Unit>;
  text: TextIndex;
  tombstones: Map<string, Tombstone>;
  links: readonly Link[];
}

/** Keeps the states of the `most` users used last (64). */
export function userStates(record: Pick<Record, "revision" | "since">, most = 64): UserStates {
  const kept = new Map<string, Kept>();
  const loading = new Map<string, Promise<Kept>>();

  const refresh = async (scope: Scope): Promise<Kept> => {
    const key = scopeKey(scope);
    const revision = await record.revision(scope);
    let state = kept.get(key);
    // A lower revision than ours: the database was replaced by an older one.
    if (state && state.revision > revision) state = undefined;
    if (state?.revision !== revision || !state) {
      const known = state?.revision ?? 0;
      const delta = await record.since(scope, known);
      state = take(state ?? empty(scope), delta);
    }
    kept.delete(key);
    kept.set(key, state);
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
    return state;
  };

  return {
    // One refresh at a time per user: two would take in the same delta twice.
    async of(scope) {
      const key = scopeKey(scope);
      const before = loading.get(key) ?? Promise.resolve();
      const next = before.then(
        () => refresh(scope),
        () => refresh(scope),
      );
      loading.set(key, next);
      try {
        return await next;
      } finally {
        if (loading.get(key) === next) loading.delete(key);
      }
    },
    drop(scope) {
      if (scope) kept.delete(scopeKey(scope));
      else kept.clear();
    },
  };
}

function empty(scope: Scope): Kept {
  return {
    scope: { project: scope.project, user: scope.user },
    revision: 0,
    messages: new Map(),
    memories: new Map(),
    current: new Map(),
    claims: claimIndex(),
    units: new Map(),
    text: textIndex(),
    tombstones: new Map(),
    links: [],
  };
}

function take(state: Kept, delta: Delta): Kept {
  for (const id of delta.gone.units) {
    state.units.delete(id);
    state.text.remove(id);
  }
  for (const id of delta.gone.memories) {
    state.memories.delete(id);
    state.current.delete(id);
    state.claims.remove(id);
  }
  for (const message of delta.messages) state.messages.set(message.id, message);
  for (const memory of delta.memories) {
    state.memories.set(memory.id, memory);
    if (memory.status === "current") state.current.set(memory.id, memory);
    else state.current.delete(memory.id);
    state.claims.put(memory);
  }
  for (const unit of delta.units) {
    state.units.set(unit.id, unit);
    state.text.put(unit.id, unit.terms === "" ? [] : unit.terms.split(" "));
  }
  state.tombstones = new Map(delta.tombstones.map((tombstone) => [tombstone.hash, tombstone]));
  state.links = delta.links;
  state.revision = delta.revision;
  return state;
}
