import type { BackupNote } from "../domain/backup.ts";
import type { ChangeSet, LogEntry, MemoryLink, SearchUnit, Tombstone } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { RecallReceipt } from "../domain/recall.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import type { AnswerCache } from "./answer-cache.ts";
import type { CallOptions } from "./call-options.ts";
import type { JobStore } from "./job-store.ts";
import type { StoreDump } from "./store-dump.ts";

/**
 * The system of record: what every user's memory is and how it came to be.
 *
 * It is written by change-sets alone. Only `project` and `user` of a scope are walls; they are part of every read
 * and write. A scope that was never written is empty, at revision 0, and no error. What a call gives is the caller's
 * to keep: changing it changes nothing in the record.
 */
export interface MemoryStore extends JobStore, AnswerCache {
  /** Shown in messages: "memory", "sqlite". */
  readonly name: string;

  /** The user's revision: 0 before the first commit, and one more with each. One key look-up. */
  revision(scope: Scope): Promise<number>;

  /**
   * Applies a change-set, all of it or nothing, and durably before it returns the new revision. In this order: messages,
   * digests, memories, links, units dropped, the erasure, units put, tombstones put and lifted, the receipt.
   *
   * The record sets `turn` of new messages and `revision` of new versions of memories; everything else is stored as it
   * comes (plain JSON, and vectors). A change-set may hold several versions of one memory, in order. To drop, lift or
   * erase what is not there is no error; a rewrite of a version that is not there does nothing.
   *
   * `conflict` where the user's revision is not `base`; where a message's id is there already, or one to change is not;
   * where a memory's version is not the next one; where an end of a link is not there. `unavailable` where it cannot be
   * written now (locked, full, read-only); nothing of it is stored then.
   */
  commit(scope: Scope, changes: ChangeSet): Promise<number>;

  /**
   * Everything that is different from what it was at `revision`, as it is now; with 0, everything there is, and nothing
   * is gone. Consistent: as of one moment, the revision it names. Without `units`, none are read and none given.
   */
  since(scope: Scope, revision: number, options?: { readonly units?: boolean }): Promise<Delta>;

  /**
   * Messages and memories (their newest versions) by id, those that are there, in the order asked for. Rows that were changed since
   * they were written are left out, where the record can tell.
   */
  read(
    scope: Scope,
    ids: { readonly messages: readonly string[]; readonly memories: readonly string[] },
  ): Promise<{ readonly messages: readonly Message[]; readonly memories: readonly Memory[] }>;

  /** The vectors of units by id, in the order asked for; none for a unit that is not there or is of another space. */
  vectors(
    scope: Scope,
    ids: readonly string[],
    space: string,
  ): Promise<readonly (Float32Array | undefined)[]>;

  /**
   * What was kept for a user's search with `keepBlock`: a cache beside the record, of an older revision perhaps. The
   * record drops it when something is erased, and may drop it at any time. A record that is far away gives its bytes to
   * `parts` as they come, where there is one; then none are left to be given at the end.
   */
  searchIndex(scope: Scope, parts?: SearchIndexSink): Promise<StoredSearchIndex | undefined>;

  /**
   * Keeps a block in place of the one before; one of another revision than the user's is left out. It is no change: no
   * revision, no log.
   */
  saveSearchIndex(scope: Scope, block: StoredSearchIndex): Promise<void>;

  /**
   * Keeps receipts of recalls beside the record, of all users named in one go; one of an id that is there takes its place
   * and counts as the newest.
   * Of each user the newest `MOST_RECALLS` stay. It is no change: no revision, no log, nothing in `since`. A user at
   * revision 0 has none.
   */
  saveRecallReceipts(kept: readonly NewRecallReceipts[]): Promise<void>;

  /** Receipts of recalls, newest first: of one id, or of all, at most `limit`. */
  recallReceipts(
    scope: Scope,
    options: { readonly id?: string; readonly limit: number },
  ): Promise<RecallReceipt[]>;

  /** All versions of one memory, or of all, oldest first; those of erased memories are not there. */
  versions(scope: Scope, id?: string): Promise<Memory[]>;

  /** What happened, by id, newest first, from `before` (exclusive; default: the newest) down, at most `limit`. */
  log(scope: Scope, options: { before?: number; limit: number }): Promise<LogEntry[]>;

  /** The receipt kept under an idempotency key's hash. */
  receipt(scope: Scope, key: string): Promise<(KeptReceipt & { readonly revision: number }) | undefined>;

  /** Receipts of erasures in the order in which they were made: of one user, or of the whole record. */
  erasures(scope?: Scope): Promise<ErasureReceipt[]>;

  /** Every erasure in short, in the order in which they were made: quick to come by, however many there are. */
  erasureSummaries(): Promise<ErasureSummary[]>;

  /** What erasures took, by ids and places, in the order in which they were made: of one user, or of all. */
  traces(scope?: Scope): Promise<Trace[]>;

  /** How much there is of what an erasure of these memories takes along, beside messages, versions and units. */
  countDependents(scope: Scope, memories: readonly string[]): Promise<DependentCounts>;

  /** A name of its own, given when the record was made and the same in all its copies. */
  identity(): Promise<string>;

  /**
   * Copies the whole record, as of one moment, into a file, while others go on reading and writing; what it gives is
   * durable and was read back. Absent where the record cannot be a file. `conflict` where there is a file already;
   * `unsupported` where nothing is kept.
   */
  readonly copyTo?: (file: string, options: StoreCopyOptions) => Promise<StoreCopy>;

  /** Proves rows by digests; absent where the record keeps none. */
  readonly integrity?: Integrity;

  /** All of it, to be moved into another record; absent where that cannot be. */
  readonly dump?: StoreDump;

  /** The copies that were made of the record, in the order in which they were first noted. */
  backups(): Promise<BackupNote[]>;

  /** Notes a copy that was made, in place of an older one under the same name. It is no change: no revision, no log. */
  saveBackupNote(note: BackupNote): Promise<void>;

  /** The users of a project, by name. */
  users(project: string): Promise<string[]>;

  /**
   * Users who have units outside a space (with vectors of another embedder, or none yet), of all projects, in the order
   * in which they were first written to, at most `limit`. Costs nothing where there are none.
   */
  usersWithStaleEmbeddings(space: string, limit: number): Promise<UserWithStaleEmbeddings[]>;

  /** Some of a user's units outside a space, at most `limit`, with what they were made of; as of one moment. */
  unitsWithStaleEmbeddings(scope: Scope, space: string, limit: number): Promise<StaleUnits>;

  /**
   * Makes sure that what was erased is in no byte of the storage any more (checkpoints, rewrites files), and says for
   * each place how many of the texts still stand there: in the words of the scope's messages, memories, text index and
   * receipts (whole words), and in the raw bytes beyond what live rows of anybody explain. Texts are matched without
   * regard to case. Ids are no words. With no texts, what was erased is not known any more: then all is written anew.
   */
  scrub(scope: Scope, texts: readonly string[]): Promise<{ place: string; found: number }[]>;

  /**
   * Replaces the receipt of an erasure by its verified, sealed form. A receipt that is complete stays as it is: another process, which
   * took the erasure for interrupted, may seal it late. Throws `not_found` if the scope has no erasure with this id.
   */
  seal(scope: Scope, receipt: ErasureReceipt): Promise<void>;

  /**
   * What an erasure cannot reach at once, and for how long (ms) at the most; `forMs` is absent where nobody can say. Absent,
   * or empty, for nothing.
   */
  readonly remains?: () => Promise<readonly { readonly place: string; readonly forMs?: number }[]>;

  /**
   * Keeps the storage itself in order, in the background: what `remains` promises, it does in time. Gives how much it did.
   * Absent where there is nothing to do.
   */
  readonly tidy?: () => Promise<number>;

  /**
   * Tells of erasures that another process made, as they happen, so that what this one keeps in mind of the user goes at once;
   * of nobody in particular where it may have been anybody. Gives what ends it. Absent where nobody tells.
   */
  readonly watchErasures?: (erased: (scope?: Scope) => void) => () => void;

  /**
   * What the storage says of itself, for a look once a minute: quick to come by, and in slices of a few milliseconds. `unavailable`
   * where it cannot be read. Absent where nothing is kept.
   */
  readonly condition?: () => Promise<StorageCondition>;

  /**
   * Checks the whole record: damage, orphans, wrong counts, erasures in the log without their receipt (place
   * "erasures"). Empty where all is well.
   */
  check(): Promise<Fault[]>;

  /** Frees what opening took; every other call is `unavailable` then. A client that the caller passed in stays open. */
  close(): Promise<void>;
}

/** Search columns as bytes, as of a revision. Their form is the engine's business. */
export interface StoredSearchIndex {
  readonly revision: number;
  readonly bytes: Uint8Array;
}

/** Takes the bytes of a kept block as they come. */
export interface SearchIndexSink {
  /** So many bytes follow. It may come once more: the block was kept anew meanwhile, and comes from its beginning. */
  begin(revision: number, size: number): void;
  /** The next bytes, valid until this returns. */
  take(bytes: Uint8Array): void;
}

/** Receipts of one user's recalls, oldest first. */
export interface NewRecallReceipts {
  readonly scope: Scope;
  readonly receipts: readonly RecallReceipt[];
}

/** What came since a revision. */
export interface Delta {
  readonly revision: number;
  /** Messages added or changed, by turn. */
  readonly messages: readonly Message[];
  /** The newest version of memories added or changed, in the order in which they were first stored. */
  readonly memories: readonly Memory[];
  /** Units put, by id (in the order of UTF-16 code units, as everything that is ordered by id). */
  readonly units: readonly SearchUnit[];
  /** Ids of units dropped and of memories erased since; an id that was put again is not among them. */
  readonly gone: { readonly units: readonly string[]; readonly memories: readonly string[] };
  /** All tombstones and links there are, for they are few. */
  readonly tombstones: readonly Tombstone[];
  readonly links: readonly MemoryLink[];
  /**
   * Ids of the messages and memories above that were changed since they were written. They are here so that an erasure finds them;
   * nobody is told what they say. Absent for none.
   */
  readonly damaged?: { readonly messages: readonly string[]; readonly memories: readonly string[] };
}

/** A user, and how many of the user's units lie outside a space. */
export interface UserWithStaleEmbeddings {
  /** `project` and `user` alone. */
  readonly scope: Scope;
  /** 1 or more. */
  readonly units: number;
}

/** Units outside a space, without their vectors. */
export interface StaleUnits {
  readonly revision: number;
  readonly units: readonly Omit<SearchUnit, "vector">[];
  /** The messages of those that are passages, each once. */
  readonly messages: readonly Message[];
  /** The newest versions of the memories of those that are memories, each once. */
  readonly memories: readonly Memory[];
}

export interface StoreCopyOptions extends CallOptions {
  /** Whether a file that is there may be replaced. */
  readonly replace?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
}

/** A copy that was made, and holds together. */
export interface StoreCopy {
  /** The file's name, without the folder. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the file, hex. */
  readonly digest: string;
  /** How many of each it holds: users, messages, versions of memories, search units, tombstones, erasures. */
  readonly counts: { readonly [what: string]: number };
}

/** An erasure in short. */
export interface ErasureSummary {
  /** Its receipt's id. */
  readonly receipt: string;
  readonly project: string;
  readonly user: string;
  readonly replays?: string;
  readonly hasTrace: boolean;
  /** Whether any place was read again. */
  readonly isVerified: boolean;
  readonly isComplete: boolean;
}

/** What hangs on memories in places that have no reading of their own. */
export interface DependentCounts {
  /** Associations that begin or end at one of them. */
  readonly links: number;
  /** Blocks kept for the user's search: 0 or 1. */
  readonly blocks: number;
  /** Receipts kept under idempotency keys that name one of them, and all answers kept under such keys that hold something. */
  readonly answers: number;
}

/** Something wrong in the record. Ids and places only, no user's text. */
export interface Fault {
  readonly place: string;
  readonly problem: string;
  readonly count: number;
  /** The rows, where they can be named: a hundred at most. */
  readonly rows?: readonly FaultyRow[];
}

/** A row that is not as it was written; without an id, some row of the user in the table. */
export interface FaultyRow {
  /** As the database names it. */
  readonly table: string;
  readonly project?: string;
  readonly user?: string;
  /** Of a message, a memory, a search unit or a receipt. */
  readonly id?: string;
  /** Of a memory. */
  readonly version?: number;
  /** Of an entry of the log. */
  readonly revision?: number;
}

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
