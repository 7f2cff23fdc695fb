import type { CallOptions } from "../../ports/call-options.ts";

/** Vector indexes beside the record, which feeds them. They hold copies, and the record has the last word. */
export interface Indexes {
  /** In the order in which a recall asks them. */
  readonly names: readonly string[];
  /**
   * Clears an index and fills it anew from the record, to the end; recalls go on from the record meanwhile. Safe to break off: what
   * is left is filled in the background. Yields after each batch. `not_found` where there is none of this name.
   */
  rebuild(name: string, options?: CallOptions): AsyncIterable<IndexProgress>;
  /** Holds an index against the record, and puts right what is different. `not_found` where there is none of this name. */
  drift(name: string, options?: DriftOptions): Promise<Drift>;
}

/** How far filling an index is. */
export interface IndexProgress {
  /** Users who were looked at, of so many. */
  readonly users: number;
  readonly of: number;
  /** Entries put so far. */
  readonly entries: number;
}

/** What an index held that the record does not say, and the other way round. */
export interface Drift {
  readonly name: string;
  /** Users and search units that were looked at. */
  readonly users: number;
  readonly units: number;
  /** Units of the record that the index lacked. */
  readonly missing: number;
  /** Entries of the index that the record does not have. */
  readonly stray: number;
  /** Entries under the right id with another vector; of each user some are tried. */
  readonly stale: number;
  /** Whether all of it was put right. */
  readonly isRepaired: boolean;
}

export interface DriftOptions extends CallOptions {
  /** Called after each user. */
  readonly onProgress?: (done: number, of: number) => void;
}
