import type { Scope } from "../domain/scope.ts";

/**
 * How often memories were returned by recalls, apart from their versions. It is not a change: no revision, no log entry,
 * nothing in `since`.
 */
export interface UsageStore {
  /**
   * Adds uses, for all named users in one call. Memories that do not exist are ignored, so that no use of an erased memory is
   * stored. An erasure deletes the uses of its memories.
   */
  add(uses: readonly UserUses[]): Promise<void>;

  /** The uses of the memories with these ids, or of all memories, in any order. Memories that were never used are left out. */
  read(scope: Scope, ids?: readonly string[]): Promise<MemoryUse[]>;
}

/** Uses of one user's memories. Each id occurs once. */
export interface UserUses {
  readonly scope: Scope;
  readonly uses: readonly MemoryUse[];
}

/** The number of uses of one memory, at least 1, and the time of the last (ISO 8601). */
export interface MemoryUse {
  readonly id: string;
  readonly count: number;
  readonly lastAt: string;
}
