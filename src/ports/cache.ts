import type { CallOptions } from "./call-options.ts";

/**
 * A fast byte cache. Entries may be lost at any time. Every entry belongs to a user of a project, so that an
 * erasure can reach all of them. An entry's name is a keyed hash and reveals no content.
 *
 * Every call may fail with `unavailable` (unreachable, too slow or full) or `forbidden` (wrong credentials),
 * within the adapter's deadline.
 */
export interface Cache {
  /** Shown in messages and metrics: "memory", "redis". */
  readonly name: string;
  /** Default lifetime of an entry, in ms. */
  readonly ttlMs: number;

  /** Returns the bytes, or undefined if the entry does not exist or has expired. */
  get(of: CacheOf, name: string, options?: CallOptions): Promise<Uint8Array | undefined>;

  /**
   * Stores bytes for `ttlMs` (default: the cache's own), replacing any earlier entry. Skips entries that are
   * too large.
   *
   * `revision` is the user's revision before the bytes were made. If something was erased at a later
   * revision, nothing is stored.
   */
  put(
    of: CacheOf,
    name: string,
    bytes: Uint8Array,
    options?: CallOptions & { readonly ttlMs?: number; readonly revision?: number },
  ): Promise<void>;

  /**
   * Deletes all entries of a user before it returns. Returns the number deleted.
   *
   * `revision` is that of an erasure: a later `put` with an older revision stores nothing, from any server.
   * The call always goes to the store itself, even if the store failed a moment ago.
   */
  drop(of: CacheOf, options?: CallOptions & { readonly revision?: number }): Promise<number>;

  /** Places that an erasure cannot clear at once, as in `Sessions`. */
  remains(): Promise<readonly { readonly place: string; readonly forMs?: number }[]>;

  /** Releases what opening took. A client that the caller passed in stays open. */
  close(): Promise<void>;
}

/** `project` and `user` of a scope. */
export interface CacheOf {
  /** The project's name. */
  readonly project: string;
  /** The user's name within the project. */
  readonly user: string;
}
