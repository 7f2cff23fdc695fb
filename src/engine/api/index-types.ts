import type { CallOptions } from "../../ports/call-options.ts";

/** Vector indexes that the store feeds. They hold copies; the store is the source of truth. */
export interface Indexes {
  /** In the order in which a recall asks them. */
  readonly names: readonly string[];
  /**
   * Clears an index and fills it again from the store; recalls use the store meanwhile. Safe to interrupt:
   * the background fills the rest. Yields after each batch. Throws `not_found` for an unknown name.
   */
  rebuild(name: string, options?: CallOptions): AsyncIterable<IndexProgress>;
  /** Compares an index with the store and repairs differences. Throws `not_found` for an unknown name. */
  drift(name: string, options?: DriftOptions): Promise<Drift>;
}

/** Progress of filling an index. */
export interface IndexProgress {
  /** Users done, and the total. */
  readonly users: number;
  /** The total. */
  readonly of: number;
  /** Entries put so far. */
  readonly entries: number;
}

/** Differences between an index and the store. */
export interface Drift {
  /** The index's name. */
  readonly name: string;
  /** Users and search units examined. */
  readonly users: number;
  /** Search units examined. */
  readonly units: number;
  /** Units of the store that the index lacked. */
  readonly missing: number;
  /** Entries of the index that the store does not have. */
  readonly stray: number;
  /** Entries with the right id and a wrong vector; a sample is tested for each user. */
  readonly stale: number;
  /** Whether all differences were repaired. */
  readonly isRepaired: boolean;
}

/** Options of `indexes.drift`. */
export interface DriftOptions extends CallOptions {
  /** Called after each user. */
  readonly onProgress?: (done: number, of: number) => void;
}
