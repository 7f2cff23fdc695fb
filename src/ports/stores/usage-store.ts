import type { Scope } from "../../domain/scope.ts";

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
  /** The user. */
  readonly scope: Scope;
  /** By memory. */
  readonly uses: readonly MemoryUse[];
}

/** Uses of one memory. */
export interface MemoryUse {
  /** The memory's id. */
  readonly id: string;
  /** The number of uses, at least 1. */
  readonly count: number;
  /** The time of the last use (ISO 8601). */
  readonly lastAt: string;
}
