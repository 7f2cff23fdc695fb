import type { CallOptions } from "./call-options.ts";
import type { StoreCopy } from "./memory-store.ts";

/** A backup in an archive. */
export interface ArchivedBackup {
  readonly name: string;
  readonly bytes: number;
}

/** A place that keeps backups: a folder, or a bucket. It knows names that begin with "keepsake-" and end with ".db". */
export interface BackupArchive {
  /** The kind of place: "folder", "s3". */
  readonly name: string;

  /** All whole backups, by name. Deletes nothing. Throws `unavailable` if the place cannot be reached. */
  list(options?: CallOptions): Promise<readonly ArchivedBackup[]>;

  /** Stores a file under a name, whole or not at all. `digest` is its SHA-256 in hex. Replaces one of that name. */
  put(name: string, file: string, digest: string, options?: CallOptions): Promise<void>;

  /** Writes a backup to a new file of mode 0600. Throws `not_found` if there is none of that name. */
  fetch(name: string, file: string, options?: CallOptions): Promise<void>;

  /**
   * Removes a backup, with no copy left, and what an interrupted `put` of that name left. One that is not there counts as
   * removed.
   */
  remove(name: string, options?: CallOptions): Promise<void>;
}

/** Makes and checks backups on this machine, in a folder for work in progress. */
export interface BackupWorkshop {
  /** Copies the database to a file of that name in the folder, and verifies the copy. */
  copy(name: string, options?: CallOptions): Promise<StoreCopy & { readonly file: string }>;

  /** Gives the path of a file in the folder. */
  fileOf(name: string): string;

  /**
   * Restores a file into a second store, and checks pages, rows and digests of it. Throws `corrupt` if it is not whole, or not
   * the copy.
   */
  verify(file: string, copy: Pick<StoreCopy, "digest" | "counts">, options?: CallOptions): Promise<void>;

  /** Deletes everything in the folder: what this run made, and what a killed one left. */
  clean(): Promise<void>;
}

/** Backups that are made without being asked for. */
export interface BackupPlan {
  readonly archive: BackupArchive;
  readonly workshop: BackupWorkshop;
  /** The time from one backup to the next, in ms. */
  readonly everyMs: number;
  /** How long a backup is kept, in ms. */
  readonly keptMs: number;
}
