import type { CallOptions } from "./call-options.ts";

/**
 * Bytes that are quick to come by and may be lost at any time. Everything belongs to a user of a project, so that an
 * erasure can reach all of it; a name says nothing of what was said (a hash of it, keyed).
 *
 * Every call may fail with `unavailable` (not to be reached now, too slow, or full) or `forbidden` (the credentials are
 * wrong), and does so within the adapter's deadline.
 */
export interface Cache {
  /** Shown in messages and metrics: "memory", "redis". */
  readonly name: string;
  /** How long an entry is kept that names no time of its own, in ms. */
  readonly ttlMs: number;

  /** Undefined where it is not there, or not any more. */
  get(of: CacheOf, name: string, options?: CallOptions): Promise<Uint8Array | undefined>;

  /**
   * Keeps bytes for so long (`ttlMs`, else the cache's own), in place of those before. Too large ones are left out.
   * `revision` is the user's, of before the bytes were made: where something was erased at a later one, nothing is kept.
   */
  put(
    of: CacheOf,
    name: string,
    bytes: Uint8Array,
    options?: CallOptions & { readonly ttlMs?: number; readonly revision?: number },
  ): Promise<void>;

  /**
   * Takes everything of a user away before it returns, and says how many entries those were. `revision` is that of an
   * erasure: a `put` of an older one that comes after it, from whichever server, keeps nothing. Asked of the store itself,
   * even where it failed a moment ago.
   */
  drop(of: CacheOf, options?: CallOptions & { readonly revision?: number }): Promise<number>;

  /** What an erasure cannot reach at once, as in `Sessions`. */
  readonly remains?: () => Promise<readonly { readonly place: string; readonly forMs?: number }[]>;

  close(): Promise<void>;
}

/** `project` and `user` of a scope. */
export interface CacheOf {
  readonly project: string;
  readonly user: string;
}
