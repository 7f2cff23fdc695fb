/** What the storage under a record says of itself. It names no address, no path and no user. */
export interface StorageCondition {
  /**
   * `full`: the storage's settings have every acknowledged write survive a loss of power; `reduced`: they do not; `none`: nothing
   * is kept when the process ends.
   */
  readonly durability: "full" | "reduced" | "none";
  /** The settings that reduce it, by name: "fsync". */
  readonly reducedBy: readonly string[];
  /** The version of the format that it is stored in. */
  readonly format: number;
  /** Copies from before an update that are still kept beside it. */
  readonly olderCopies: number;
  /** Erasures that have begun and whose rows are not all gone. */
  readonly erasing: number;
  /** Of the newest 500 erasures, those whose check has not come to its end. */
  readonly unverified: number;
  /** Rows that have no digest yet, as far as they were counted: at most 100,000. Absent where none are kept. */
  readonly rowsWithoutDigest?: number;
  /** Room on its disk, in bytes. Absent where that is not known here. */
  readonly disk?: { readonly freeBytes: number; readonly totalBytes: number };
  /** Whether its files may not be written. */
  readonly isReadOnly: boolean;
}
