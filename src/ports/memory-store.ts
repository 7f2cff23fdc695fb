import type { ChangeSet, LogEntry, MemoryLink, SearchUnit, Tombstone } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { BackupNote } from "../domain/operations/backup.ts";
import type { RecallReceipt } from "../domain/recall.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import type { CallOptions } from "./call-options.ts";
import type { AnswerCache } from "./stores/answer-cache.ts";
import type { AttachmentStore } from "./stores/attachment-store.ts";
import type { EmbedderChoices } from "./stores/embedder-choices.ts";
import type { EncryptionMark, UserKeys } from "./stores/encryption.ts";
import type { JobStore } from "./stores/job-store.ts";
import type { SharingStore } from "./stores/sharing-store.ts";
import type { StoreDump } from "./stores/store-dump.ts";
import type { UsageStore } from "./stores/usage-store.ts";
import type { WebhookStore } from "./stores/webhook-store.ts";

/**
 * The memory store: the source of truth for every user's memories and their history.
 *
 * All changes arrive as change-sets. `project` and `user` of a scope separate tenants: every read and write
 * is limited to them. `agent` and `session` do not. A scope that was never written is empty, at revision 0;
 * reading it is not an error.
 *
 * Results belong to the caller: changing a result changes nothing in the store.
 *
 * The methods are the core. Everything else is a capability, an object of its own. A store has the first seven
 * and may lack the optional ones. Which ones it has does not change while it is open.
 */
export interface MemoryStore {
  /** Shown in messages: "memory", "sqlite". */
  readonly name: string;

  /** The user's revision: 0 before the first commit, plus 1 with each commit. One key lookup. */
  revision(scope: Scope): Promise<number>;

  /**
   * Applies a change-set atomically and durably, then returns the new revision. The parts are applied in this
   * order: messages, attachments, digests, memories, dropped links, links, dropped units, the erasure, new units, new and lifted
   * tombstones, the receipt.
   *
   * The store assigns `turn` to new messages and `revision` to new memory versions. It stores everything else
   * as given (plain JSON, and vectors). A change-set may contain several versions of one memory, in order.
   * Dropping, lifting or erasing something that does not exist is not an error. Rewriting a version that does not
   * exist does nothing.
   *
   * Throws `conflict` if the user's revision is not `base`; if a new message's id exists; if a message to
   * change does not exist; if a memory's version is not the next one; or if an end of a link does not exist.
   * Throws `unavailable` if the store cannot be written now (locked, full, read-only). After an error,
   * nothing is stored.
   */
  commit(scope: Scope, changes: ChangeSet): Promise<number>;

  /**
   * Everything that changed after `revision`, in its current state. With 0: everything, and `gone` is empty.
   * The result is consistent: it describes one moment, at the revision it names. Without `units`, no units
   * are read or returned.
   */
  since(scope: Scope, revision: number, options?: { readonly units?: boolean }): Promise<Delta>;

  /**
   * Messages and memories (newest versions) by id, in the requested order. Missing ids are skipped. Rows that
   * were altered after they were written are left out, if the store can detect it.
   */
  read(
    scope: Scope,
    ids: { readonly messages: readonly string[]; readonly memories: readonly string[] },
  ): Promise<{ readonly messages: readonly Message[]; readonly memories: readonly Memory[] }>;

  /**
   * The vectors of units by id, in the requested order. Undefined for a unit that does not exist or belongs
   * to another embedding space.
   */
  vectors(
    scope: Scope,
    ids: readonly string[],
    space: string,
  ): Promise<readonly (Float32Array | undefined)[]>;

  /** All versions of one memory, or of all memories, oldest first. Erased memories have none. */
  versions(scope: Scope, id?: string): Promise<Memory[]>;

  /**
   * Log entries, newest first, at most `limit`, starting below revision `before` (exclusive; default: the
   * newest).
   */
  log(scope: Scope, options: { before?: number; limit: number }): Promise<LogEntry[]>;

  /** The receipt kept under the hash of an idempotency key. */
  receipt(scope: Scope, key: string): Promise<(KeptReceipt & { readonly revision: number }) | undefined>;

  /** The users of a project, sorted by name. */
  users(project: string): Promise<string[]>;

  /** The store's unique id, assigned when it was created. All its copies have the same one. */
  identity(): Promise<string>;

  /**
   * Checks the whole store for damage, orphans, wrong counts, and erasures in the log without a receipt
   * (place "erasures"). If it keeps attachments, also for bytes that do not match their digest (SHA-256, hex), and for
   * attachments that a message names and that are missing (place "attachments"). Empty if there are no faults.
   */
  check(): Promise<Fault[]>;

  /**
   * Releases the resources that opening took. Every later call throws `unavailable`. A client that the caller
   * passed in stays open.
   */
  close(): Promise<void>;

  /** Receipts and traces of erasures. */
  readonly erasures: ErasureStore;
  /** Saved search indexes of users. */
  readonly searchIndexes: SearchIndexStore;
  /** Receipts of recalls. */
  readonly recallReceipts: RecallReceiptLog;
  /** Search units without a vector of the current embedder. */
  readonly staleEmbeddings: StaleEmbeddings;
  /** Notes of the backups that were made. */
  readonly backups: BackupNotes;
  /** What background jobs use. */
  readonly jobs: JobStore;
  /** HTTP answers kept under idempotency keys. */
  readonly answers: AnswerCache;

  /** How often recalls returned each memory. Absent if the store does not keep it. */
  readonly usage?: UsageStore;
  /** Grants and groups. Absent if the store does not keep any; nothing can then be shared. */
  readonly sharing?: SharingStore;
  /** The bytes of attachments. Absent if the store keeps none: messages then refer to them by URL only. */
  readonly attachments?: AttachmentStore;
  /** Webhooks and their positions in the log. Absent if the store keeps none; none can then be registered. */
  readonly webhooks?: WebhookStore;
  /** The embedders that projects and users chose. Absent if the store keeps none; all then have the default. */
  readonly embedders?: EmbedderChoices;
  /** Verifies rows by digests. Absent if the store keeps none. */
  readonly integrity?: Integrity;
  /** Full dump, for copying into another store. Absent if the store does not support it. */
  readonly dump?: StoreDump;
  /** Absent if the store cannot be a file. */
  readonly fileCopy?: StoreFileCopy;
  /** Absent if the store keeps nothing on disk. */
  readonly maintenance?: StorageMaintenance;
  /** Absent if the store has no notifications between processes. */
  readonly erasureFeed?: ErasureFeed;
  /** Says whether the texts are encrypted. Absent if the store cannot hold encrypted texts. */
  readonly encryptionMark?: EncryptionMark;
  /** The keys of users. Absent if the texts are not encrypted. */
  readonly userKeys?: UserKeys;
}

/** Receipts and traces of erasures, and the removal of erased content from the raw storage. */
export interface ErasureStore {
  /** Receipts of erasures in the order in which they were made: of one user, or of the whole store. */
  list(scope?: Scope): Promise<ErasureReceipt[]>;

  /**
   * A short form of every erasure, in the order in which they were made. Fast, regardless of their number.
   */
  summaries(): Promise<ErasureSummary[]>;

  /** The traces of erasures (ids and places) in the order in which they were made: of one user, or of all. */
  traces(scope?: Scope): Promise<Trace[]>;

  /** Counts what an erasure of these memories also removes, apart from messages, versions and units. */
  countDependents(scope: Scope, memories: readonly string[]): Promise<DependentCounts>;

  /**
   * Removes erased content from the raw storage (by checkpoints and rewritten files) and verifies it.
   * Returns, for each place, how many of the texts still occur.
   *
   * The search covers the words of the scope's messages, memories, text index and receipts (whole words
   * only). It also covers the raw bytes, except where live rows of any user explain a match. Texts are
   * matched case-insensitively; ids do not count as words. Without texts the erased content is unknown, so
   * everything is rewritten.
   *
   * `samples` are some bytes of erased attachments. They are searched in the raw bytes like the texts, but as they are.
   */
  scrub(
    scope: Scope,
    texts: readonly string[],
    samples?: readonly Uint8Array[],
  ): Promise<{ place: string; found: number }[]>;

  /**
   * Replaces the receipt of an erasure by its verified, sealed form. A complete receipt stays as it is: another process
   * that took the erasure for interrupted may seal it late. Throws `not_found` if the scope has no receipt with that id.
   */
  seal(scope: Scope, receipt: ErasureReceipt): Promise<void>;
}

/** Serialized search indexes, one per user. They are a cache. */
export interface SearchIndexStore {
  /**
   * The search index saved with `save`. It is a cache and may be of an older revision. The store
   * deletes it with every erasure, and may delete it at any time.
   *
   * If `parts` is given, a remote store may pass the bytes to it as they arrive. The result then contains no
   * bytes.
   */
  read(scope: Scope, parts?: SearchIndexSink): Promise<StoredSearchIndex | undefined>;

  /**
   * Saves a search index, replacing the one before. Ignored if its revision is not the user's current one. It
   * is not a change: no revision, no log entry.
   */
  save(scope: Scope, searchIndex: StoredSearchIndex): Promise<void>;
}

/** Receipts of recalls. */
export interface RecallReceiptLog {
  /**
   * Saves receipts of recalls, for all named users in one call. A receipt with an existing id replaces it and
   * counts as the newest. The store keeps the newest `MAX_RECALL_RECEIPTS` of each user.
   *
   * It is not a change: no revision, no log entry, nothing in `since`. A user at revision 0 keeps none.
   */
  save(receipts: readonly NewRecallReceipts[]): Promise<void>;

  /** Receipts of recalls, newest first: the one with `id`, or all; at most `limit`. */
  list(scope: Scope, options: { readonly id?: string; readonly limit: number }): Promise<RecallReceipt[]>;

  /** Deletes all receipts of this user's recalls. It is not a change either. */
  clear(scope: Scope): Promise<void>;
}

/** Finds search units that have no vector yet, or another embedder's. */
export interface StaleEmbeddings {
  /**
   * Users of all projects with units outside an embedding space: units that have no vector yet, or another
   * embedder's. Ordered by the user's first write; at most `limit`. Cheap if there are none.
   *
   * With `chosen`, only users who have chosen the embedder of that name, themselves or by their project; with null,
   * only those without a choice. Then the cost depends on the users who have one too.
   */
  users(
    space: string,
    limit: number,
    options?: { readonly chosen: string | null },
  ): Promise<UserWithStaleEmbeddings[]>;

  /**
   * Some of a user's units outside an embedding space, at most `limit`, with their source texts, as of one
   * moment.
   */
  units(scope: Scope, space: string, limit: number): Promise<StaleUnits>;

  /** The number of a user's units, and how many of them are outside an embedding space. Reads none of them. */
  count(scope: Scope, space: string): Promise<UnitCount>;
}

/** Numbers of a user's search units. */
export interface UnitCount {
  readonly total: number;
  /** Those without a vector of the space. */
  readonly stale: number;
}

/** Notes of the backups made of the store. */
export interface BackupNotes {
  /** The backups made of the store, in the order in which they were first noted. */
  list(): Promise<BackupNote[]>;

  /** Notes a backup, replacing a note under the same name. It is not a change: no revision, no log entry. */
  save(note: BackupNote): Promise<void>;
}

/** Copies a store that is a file. */
export interface StoreFileCopy {
  /**
   * Copies the whole store into a file as of one moment, while other processes read and write. The copy is
   * durable and verified. Throws `conflict` if the file exists, `unsupported` if the store keeps nothing on
   * disk.
   */
  copyTo(file: string, options: StoreCopyOptions): Promise<StoreCopy>;
}

/** Watches over storage on a disk. */
export interface StorageMaintenance {
  /**
   * Places that an erasure cannot clear at once, and for how long at most (ms). `forMs` is absent if unknown.
   * Empty if there are no such places.
   */
  remains(): Promise<readonly { readonly place: string; readonly forMs?: number }[]>;

  /**
   * Maintains the storage in the background; it carries out in time what `remains` promises. Returns the
   * number of things done.
   */
  tidy(): Promise<number>;

  /**
   * Gives the space of deleted rows back, as far as the storage can while others use it. Throws `unavailable` if another
   * process or a full disk prevents it; nothing has changed then.
   */
  compact(): Promise<CompactedSize>;

  /**
   * The storage's condition, for a check once a minute. Fast, in slices of a few milliseconds. Throws
   * `unavailable` if it cannot be read.
   */
  condition(): Promise<StorageCondition>;
}

/** The bytes that a store takes on disk, before and after it was compacted. */
export interface CompactedSize {
  readonly before: number;
  readonly after: number;
}

/** Notifications of erasures made by other processes. */
export interface ErasureFeed {
  /**
   * Calls back after an erasure, so that this process can evict the user's cached state at once. The callback
   * gets no scope if any user may be affected. Returns a function that unsubscribes.
   */
  subscribe(erased: (scope?: Scope) => void): () => void;
}

/** A serialized search index at a revision. The engine defines its format. */
export interface StoredSearchIndex {
  readonly revision: number;
  readonly bytes: Uint8Array;
}

/** Receives the bytes of a saved search index as they arrive. */
export interface SearchIndexSink {
  /**
   * Announces `size` bytes. A second call means that the index was saved again meanwhile and restarts from
   * its beginning.
   */
  begin(revision: number, size: number): void;
  /** The next bytes; valid only until this call returns. */
  take(bytes: Uint8Array): void;
}

/** Receipts of one user's recalls, oldest first. */
export interface NewRecallReceipts {
  readonly scope: Scope;
  readonly receipts: readonly RecallReceipt[];
}

/** Changes since a revision. */
export interface Delta {
  /** The user's revision now. */
  readonly revision: number;
  /** Messages added or changed, by turn. */
  readonly messages: readonly Message[];
  /** The newest versions of memories added or changed, in the order in which they were first stored. */
  readonly memories: readonly Memory[];
  /** Units added or replaced, ordered by id. All ordering by id uses UTF-16 code units. */
  readonly units: readonly SearchUnit[];
  /** Ids of units dropped and memories erased. An id that was stored again is not included. */
  readonly gone: { readonly units: readonly string[]; readonly memories: readonly string[] };
  /** All tombstones and links, because there are few. */
  readonly tombstones: readonly Tombstone[];
  /** New links between memories. */
  readonly links: readonly MemoryLink[];
  /**
   * Ids of the messages and memories above that were altered after they were written. They are listed so that
   * an erasure finds them; their text is never shown. Absent if there are none.
   */
  readonly damaged?: { readonly messages: readonly string[]; readonly memories: readonly string[] };
}

/** A user, and the number of that user's units outside an embedding space. */
export interface UserWithStaleEmbeddings {
  /** Only `project` and `user`. */
  readonly scope: Scope;
  /** At least 1. */
  readonly units: number;
}

/** Units outside an embedding space, without their vectors. */
export interface StaleUnits {
  readonly revision: number;
  readonly units: readonly Omit<SearchUnit, "vector">[];
  /** The messages of the units that are passages, each once. */
  readonly messages: readonly Message[];
  /** The newest versions of the memories of the units that are memories, each once. */
  readonly memories: readonly Memory[];
}

export interface StoreCopyOptions extends CallOptions {
  /** Whether an existing file may be replaced. */
  readonly replace?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
}

/** A finished and verified copy. */
export interface StoreCopy {
  /** The file's name, without the folder. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the file, hex. */
  readonly digest: string;
  /** Number of rows by kind: users, messages, versions of memories, search units, tombstones, erasures. */
  readonly counts: { readonly [what: string]: number };
}

/** The short form of an erasure. */
export interface ErasureSummary {
  /** The receipt's id. */
  readonly receipt: string;
  readonly project: string;
  readonly user: string;
  readonly replays?: string;
  readonly hasTrace: boolean;
  /** Whether any place was checked again after the erasure. */
  readonly isVerified: boolean;
  readonly isComplete: boolean;
}

/** What depends on some memories, in places without a read call of their own. */
export interface DependentCounts {
  /** Links that begin or end at one of the memories. */
  readonly links: number;
  /** Saved search indexes of the user: 0 or 1. */
  readonly blocks: number;
  /**
   * Receipts under idempotency keys that name one of the memories, plus all stored answers that have content.
   */
  readonly answers: number;
}

/** A fault in the memory store. It names ids and places, never user text. */
export interface Fault {
  /** Where the fault is, in words for a person. */
  readonly place: string;
  /** What is wrong, without a user's text. */
  readonly problem: string;
  /** How many times it was found. */
  readonly count: number;
  /** The affected rows if known, at most 100. */
  readonly rows?: readonly FaultyRow[];
}

/** A row that differs from what was written. Without an id: an unidentified row of the user in the table. */
export interface FaultyRow {
  /** The table's name in the database. */
  readonly table: string;
  readonly project?: string;
  readonly user?: string;
  /** The id of a message, memory, search unit or receipt. */
  readonly id?: string;
  /** The version of a memory. */
  readonly version?: number;
  /** The revision of a log entry. */
  readonly revision?: number;
}

/** The condition of the underlying storage. It contains no address, path or user. */
export interface StorageCondition {
  /**
   * `full`: the settings let every acknowledged write survive a power loss. `reduced`: they do not. `none`:
   * nothing is kept when the process ends.
   */
  readonly durability: "full" | "reduced" | "none";
  /** Names of the settings that reduce durability: "fsync". */
  readonly reducedBy: readonly string[];
  /** The version of the storage format. */
  readonly format: number;
  /** Number of copies from before an upgrade that are still kept. */
  readonly olderCopies: number;
  /** Erasures that have started and whose rows are not all deleted. */
  readonly erasing: number;
  /** Erasures among the newest 500 whose verification is not complete. */
  readonly unverified: number;
  /** Rows without a digest, counted up to 100,000. Absent if the store keeps no digests. */
  readonly rowsWithoutDigest?: number;
  /** Disk space in bytes. Absent if unknown. */
  readonly disk?: { readonly freeBytes: number; readonly totalBytes: number };
  /** Whether the store's files are read-only. */
  readonly isReadOnly: boolean;
}

/** How far rows can be verified. */
export interface IntegrityState {
  /**
   * `same`: rows were written under the secret in use. `another`: rows were written under another secret and
   * cannot be verified. `none`: the store was given no secret.
   */
  readonly secret: "same" | "another" | "none";
  /** Rows without a digest; the background adds them. */
  readonly withoutDigest: number;
  /** Altered rows that this process has read. */
  readonly damageSeen: number;
}

/** Verifies rows: each row has a digest under a key that is not in the database. */
export interface Integrity {
  /** The current state. `withoutDigest` is counted only if `counts` is true; otherwise it is 0. */
  state(options?: { readonly counts?: boolean }): Promise<IntegrityState>;

  /** Adds a digest to every row without one. Returns the number added. */
  addMissingDigests(): Promise<number>;

  /** Accepts all rows as they are now and signs them with the secret in use. */
  adoptSecret(): Promise<void>;

  /**
   * Repairs altered rows, in one transaction per user: from `file`, a copy of the database, or from data in
   * the store itself. Only content that a digest proves is restored. Returns the number of repaired rows.
   */
  repairRows(file?: string): Promise<number>;

  /** The number of rows that `repairRows` would repair. */
  countRepairable(file?: string): Promise<number>;

  /**
   * Accepts a user's search units as they are now, after they were rebuilt. Returns false if one of them
   * still does not match its digest.
   */
  acceptUnits(scope: Scope): Promise<boolean>;
}
