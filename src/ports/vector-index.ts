import type { Where } from "../domain/filters/metadata-filter.ts";
import type { CallOptions } from "./call-options.ts";

/**
 * A vector index, fed from the memory store's log. It is derived data: it can be lost and rebuilt. The memory
 * store is the source of truth for every hit. The index holds ids, vectors and filterable metadata. It holds
 * texts only if configured to.
 *
 * `project` and `user` separate tenants here too: every read and write is limited to them.
 *
 * Every call may fail with `unavailable` (unreachable or too many requests; may be retried), `invalid_input`
 * (never retried) or `forbidden` (wrong credentials). An adapter respects its server's limits (batch sizes,
 * rates), and every call has a total deadline.
 */
export interface VectorIndex {
  /** Shown in messages and metrics, and part of the name that its cursors are stored under: "chroma". */
  readonly name: string;

  /** Whether each request is billed. The health check then runs less often. */
  readonly isHosted?: boolean;

  /** Whether it is configured to hold texts. Otherwise entries come without them. */
  readonly holdsTexts?: boolean;

  /**
   * Creates what is missing (collection, index, table). Called before any other call, and again when the
   * embedder changes; entries of another space are then deleted.
   *
   * Throws `invalid_input` if an existing collection cannot hold the space (other dimensions or distance) and
   * is not ours to drop.
   */
  prepare(space: VectorIndexSpace, options?: CallOptions): Promise<void>;

  /**
   * Writes entries, replacing those with the same id (of duplicates in one call, the last counts). Durable on
   * return, as far as the server is. Reads may show the entries a moment later.
   */
  put(of: VectorIndexUser, entries: readonly VectorIndexEntry[], options?: CallOptions): Promise<void>;

  /** Deletes entries. A missing entry is not an error. */
  drop(of: VectorIndexUser, ids: readonly string[], options?: CallOptions): Promise<void>;

  /** Deletes all entries of a user. */
  dropUser(of: VectorIndexUser, options?: CallOptions): Promise<void>;

  /**
   * The nearest entries of a user, nearest first, at most `limit` (fewer if the server returns fewer in one
   * response).
   *
   * `score` is the cosine similarity (-1 to 1), whatever the server's own distance. `where` filters by
   * metadata. An adapter throws `unsupported` for a filter that its server cannot express.
   */
  nearest(
    of: VectorIndexUser,
    vector: Float32Array,
    options: CallOptions & { readonly limit: number; readonly where?: Where },
  ): Promise<VectorIndexHit[]>;

  /**
   * Returns those of the ids that exist, unordered. It reads the server itself, never a cache, because
   * erasures are verified by it.
   */
  held(of: VectorIndexUser, ids: readonly string[], options?: CallOptions): Promise<string[]>;

  /** The ids of all entries of a user, unordered, in pages of any size. */
  entries(of: VectorIndexUser, options?: CallOptions): AsyncIterable<readonly string[]>;

  /** Deletes everything that this program ever wrote, for all users. `prepare` follows. */
  clear(options?: CallOptions): Promise<void>;

  /**
   * Places that an erasure cannot clear at once (a snapshot, a log), and for how long at most. Empty if there
   * are none.
   */
  readonly remains?: readonly VectorIndexRemainder[];

  /** Releases the resources that opening took. A client that the caller passed in stays open. */
  close(): Promise<void>;
}

/**
 * `project` and `user` of a scope: each a well-formed text of up to 512 bytes of UTF-8. Every character is
 * significant.
 */
export interface VectorIndexUser {
  /** The project's name. */
  readonly project: string;
  /** The user's name within the project. */
  readonly user: string;
}

/** An embedder's fingerprint and the length of its vectors. */
export interface VectorIndexSpace {
  /** The embedder's fingerprint. */
  readonly fingerprint: string;
  /** The length of its vectors. */
  readonly dimensions: number;
}

/** A search unit in a vector index. */
export interface VectorIndexEntry {
  /**
   * The unit's id, unique within the user only: a well-formed text of up to about 530 bytes, because callers
   * name their messages.
   */
  readonly id: string;
  /** Unit length, never all zeros: a vector without a direction cannot be indexed. */
  readonly vector: Float32Array;
  /** What filters can use. */
  readonly metadata: VectorIndexMetadata;
  /** Present only if the index is configured to hold texts. */
  readonly text?: string;
}

/**
 * Flat, so that every server can filter by it. Times are milliseconds since 1970, because not every server
 * compares texts.
 */
export interface VectorIndexMetadata {
  /** A memory, or a passage of a message. */
  readonly type: "memory" | "passage";
  /** The id of the memory or the message. */
  readonly owner: string;
  /** When it was said, in ms since 1970. */
  readonly at: number;
  /** The kind of the memory. */
  readonly kind?: string;
  /** The session that it was said in. */
  readonly session?: string;
}

/** An entry that was found. */
export interface VectorIndexHit {
  /** The unit's id. */
  readonly id: string;
  /** Cosine similarity, -1 to 1. */
  readonly score: number;
}

/** A place that an erasure cannot clear at once. */
export interface VectorIndexRemainder {
  /** The place, for a person: "Chroma: write-ahead log". */
  readonly place: string;
  /** In ms after the erasure; absent if unknown. */
  readonly forMs?: number;
}
