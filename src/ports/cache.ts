import type { CallOptions } from "./call.ts";

/**
 * Bytes that are quick to come by and may be lost at any time. Everything belongs to a user of a project, so that an
 * erasure can reach all of it; a name says nothing of what was said (a hash of it, keyed).
 */
export interface Cache {
  /** Shown in messages and metrics: "memory", "redis". */
  readonly name: string;

  /** Undefined where it is not there, or not any more. */
  get(of: CacheOf, name: string, options?: CallOptions): Promise<Uint8Array | undefined>;

  /** Keeps bytes for so long (`ttlMs`, else the cache's own), in place of those before. Too large ones are left out. */
  put(
    of: CacheOf,
    name: string,
    bytes: Uint8Array,
    options?: CallOptions & { readonly ttlMs?: number },
  ): Promise<void>;

  /**
   * Takes everything of a user away before it returns, and bars what was read before from being put after: a `put` that
   * began before a `drop` keeps nothing.
   */
  drop(of: CacheOf, options?: CallOptions): Promise<void>;

  close(): Promise<void>;
}

/** `project` and `user` of a scope. */
export interface CacheOf {
  readonly project: string;
  readonly user: string;
}
