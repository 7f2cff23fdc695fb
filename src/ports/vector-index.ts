import type { Where } from "../domain/metadata-filter.ts";
import type { CallOptions } from "./call-options.ts";

/**
 * A vector index beside the record, fed from its log. It is derived: it can be lost and built anew, and the record has
 * the last word on every hit. It holds ids, vectors and what can be filtered by; no text, unless it was asked to.
 *
 * `project` and `user` are walls here, too: part of every read and write. Every call may fail with `unavailable` (not to
 * be reached now, or too many requests; it may be tried again), `invalid_input` (never) or `forbidden` (the credentials
 * are wrong). An adapter keeps its server's limits by itself (sizes of batches, rates), and every call has a total deadline.
 */
export interface VectorIndex {
  /** Shown in messages and metrics, and part of the name under which its cursors are kept: "chroma". */
  readonly name: string;

  /** Whether each request is paid for: then it is asked whether it answers less often. */
  readonly isHosted?: boolean;

  /** Whether it was set up to hold texts; else entries come without. */
  readonly holdsTexts?: boolean;

  /**
   * Makes what is missing (collection, index, table). Called before anything else, and again when the embedder changes:
   * entries of another space are gone then. `invalid_input` where what is there cannot hold the space (another number of
   * dimensions, another distance) and is not ours to drop.
   */
  prepare(space: VectorIndexSpace, options?: CallOptions): Promise<void>;

  /**
   * Puts entries, in place of those of the same id (of two in one go, the last); durable, as far as the server is, when it
   * returns. A server may show them a moment later.
   */
  put(of: VectorIndexUser, entries: readonly VectorIndexEntry[], options?: CallOptions): Promise<void>;

  /** Takes entries away; one that is not there is no error. */
  drop(of: VectorIndexUser, ids: readonly string[], options?: CallOptions): Promise<void>;

  /** Takes away everything of a user. */
  dropUser(of: VectorIndexUser, options?: CallOptions): Promise<void>;

  /**
   * The nearest entries of a user, the nearest first, at most `limit` (fewer where the server gives no more in one answer); `score` is the cosine similarity (-1 to 1), whatever
   * the server's own distance. `where` narrows by metadata: an adapter whose server cannot say a filter says so by
   * `unsupported`.
   */
  nearest(
    of: VectorIndexUser,
    vector: Float32Array,
    options: CallOptions & { readonly limit: number; readonly where?: Where },
  ): Promise<VectorIndexHit[]>;

  /**
   * Which of some ids are there, in no order: asked of the server itself, never of a cache. What an erasure is verified by.
   */
  held(of: VectorIndexUser, ids: readonly string[], options?: CallOptions): Promise<string[]>;

  /** The ids of all entries of a user, in pages of the adapter's choosing and in no order. */
  entries(of: VectorIndexUser, options?: CallOptions): AsyncIterable<readonly string[]>;

  /** Takes away everything that this program ever put, of everybody. `prepare` comes next. */
  clear(options?: CallOptions): Promise<void>;

  /** What an erasure cannot reach at once, and until when at the latest (a snapshot, a log); empty for nothing. */
  readonly remains?: readonly VectorIndexRemainder[];

  /** Frees what opening took. A client that the caller passed in stays open. */
  close(): Promise<void>;
}

/** `project` and `user` of a scope: each any well-formed text of up to 512 bytes of UTF-8, told apart by every character. */
export interface VectorIndexUser {
  readonly project: string;
  readonly user: string;
}

/** An embedder's fingerprint, and the length of its vectors. */
export interface VectorIndexSpace {
  readonly fingerprint: string;
  readonly dimensions: number;
}

/** A search unit as a follower holds it. */
export interface VectorIndexEntry {
  /** The unit's id, unique within the user alone: any well-formed text of up to about 530 bytes, for callers name their messages. */
  readonly id: string;
  /** Unit length, and never all zeros: a unit without a direction has no place in an index. */
  readonly vector: Float32Array;
  readonly metadata: VectorIndexMetadata;
  /** Only where the follower was set up to hold texts. */
  readonly text?: string;
}

/** Flat, so that every server can filter by it. Times are milliseconds since 1970, for not every server compares texts. */
export interface VectorIndexMetadata {
  readonly type: "memory" | "passage";
  /** The memory's or the message's id. */
  readonly owner: string;
  readonly at: number;
  readonly kind?: string;
  readonly session?: string;
}

export interface VectorIndexHit {
  readonly id: string;
  readonly score: number;
}

export interface VectorIndexRemainder {
  readonly place: string;
  /** In ms after the erasure; absent where nobody can say. */
  readonly forMs?: number;
}
