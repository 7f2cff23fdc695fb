import type { Scope } from "../domain/scope.ts";

/** How far rows can be checked against what was written. */
export interface IntegrityState {
  /**
   * `same`: under the secret in use; `another`: they were written under another one and cannot be checked; `none`: no secret was
   * given to the record.
   */
  readonly secret: "same" | "another" | "none";
  /** Rows that have no digest yet; they are given one in the background. */
  readonly withoutDigest: number;
  /** Rows that were read by this process and were not as they were written. */
  readonly damageSeen: number;
}

/** The part of a record that proves its rows: each has a digest under a key that is not in the database. */
export interface Integrity {
  /** `withoutDigest` is counted where `counts` is true, and else 0. */
  state(options?: { readonly counts?: boolean }): Promise<IntegrityState>;

  /** Gives a digest to every row that has none, and how many that were. */
  addMissingDigests(): Promise<number>;

  /** Takes the secret in use for the one that rows are written under, and the rows as they are now for what was written. */
  adoptSecret(): Promise<void>;

  /**
   * Puts rows back, in one transaction for each user: from `file`, a copy of the database, or without one where a row can be proved
   * from what is here. Only what the digests prove to be what was written is put back. Gives how many rows were put right.
   */
  repairRows(file?: string): Promise<number>;

  /** How many rows `repairRows` would put right. */
  countRepairable(file?: string): Promise<number>;

  /**
   * Takes a user's search units as they are now for what was written: after they were made anew. False where one of them is still
   * not as it was written.
   */
  acceptUnits(scope: Scope): Promise<boolean>;
}
