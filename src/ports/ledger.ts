import type { Trace } from "../domain/receipt.ts";

/**
 * An erasure ledger outside the memory store, by ids and places. It survives when the store is restored to an
 * older state, and lists what must be erased again.
 */
export interface Ledger {
  /**
   * Returns the entries in the order in which they were appended, each receipt once. Undefined if there is no
   * ledger.
   */
  read(): Promise<LedgerContent | undefined>;

  /** Returns the receipt ids of all entries, or undefined if there is no ledger. Faster than `read`. */
  receipts(): Promise<ReadonlySet<string> | undefined>;

  /** Appends durably before it returns. An entry whose receipt is already present may be appended again. */
  append(traces: readonly Trace[]): Promise<void>;
}

/** The content of an erasure ledger. */
export interface LedgerContent {
  /** The traces, oldest first. */
  readonly traces: readonly Trace[];
  /** The number of entries that cannot be read and have no other copy. */
  readonly damaged: number;
}
