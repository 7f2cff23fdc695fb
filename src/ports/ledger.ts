import type { Trace } from "../domain/receipt.ts";

/**
 * What was erased, by ids and places, kept outside of the record: it stays when the record is put back to an older
 * state, and tells what is to be erased again then.
 */
export interface Ledger {
  /** What was appended, in that order, each receipt once; nothing where there is no ledger. */
  read(): Promise<LedgerContent | undefined>;

  /** The receipts of all entries; nothing where there is no ledger. Quick, where `read` would take its time. */
  receipts(): Promise<ReadonlySet<string> | undefined>;

  /** Adds to its end, durably before it returns. What stands there already, by its receipt, may be appended again. */
  append(traces: readonly Trace[]): Promise<void>;
}

export interface LedgerContent {
  readonly traces: readonly Trace[];
  /** How many entries cannot be read, and stand nowhere else. */
  readonly damaged: number;
}
