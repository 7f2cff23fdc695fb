import type { ProjectStats } from "../../domain/model-usage.ts";
import type { BackupNote } from "../../domain/operations/backup.ts";
import type { HttpAnswer, StoredAnswer } from "../../domain/operations/stored-answer.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { OnCall } from "../../ports/language/model-calls.ts";
import type { PromptGuard } from "../../ports/language/prompt-guard.ts";
import type { ReceiptWriter } from "../../ports/language/reply-writer.ts";
import type { MessageScanner } from "../../ports/language/vocabulary.ts";
import type { CompactedSize, Fault } from "../../ports/memory-store.ts";
import type { WebhookManagement } from "../webhooks/manage-webhooks.ts";
import type { ErasureListener } from "./erasure-watch.ts";
import type { Indexes } from "./index-types.ts";
import type { Examination, ExamineOptions, Health } from "./inspection-types.ts";
import type {
  EmbedderManagement,
  EmbeddingState,
  JobState,
  StatsOptions,
  WorkSetAside,
} from "./maintenance-types.ts";
import type { ScopedMemory } from "./scoped-memory.ts";

/** The memory that `createMemory` gives: the whole product, as a library. */
export interface Keepsake {
  /** Warnings for the operator at the start; usually empty. */
  readonly notices: readonly string[];
  /** All methods for one user's memory. `project` is "default" if not given. */
  scope(scope: { user: string; project?: string; agent?: string; session?: string }): ScopedMemory;
  /** Stored answers under idempotency keys, for servers. Kept outside the store and erased with it. */
  readonly answers: IdempotentAnswers;
  /** Finds prompt injections in texts, as the memory itself does before it stores and shows them. */
  readonly promptGuard: PromptGuard;
  /** Judges messages by their words alone, for servers that must act before a model is called. */
  readonly messageScanner: MessageScanner;
  /** Writes what a memory did with messages, as the memory itself does in its replies. */
  readonly receiptWriter: ReceiptWriter;
  /** Checks the whole store. Empty if there is no fault. */
  check(): Promise<Fault[]>;
  /**
   * Writes and removes a marker without content. Fails as a write would, with `unavailable` on a full disk.
   */
  probe(): Promise<void>;
  /**
   * Checks the whole store and reports what can be restored from where. With `fix`, repairs what digests
   * verify: rows from backups, and data derived from other data.
   */
  examine(options?: ExamineOptions): Promise<Examination>;
  /**
   * The quick part of what `examine` and `doctor` report: durability, the storage, its disk and secret,
   * erasures, quarantined work, and each dependency. A server checks in the background once a minute and
   * never waits. Elsewhere the call checks, at most once a minute. Contains no addresses, paths or user
   * names.
   */
  health(): Promise<Health>;
  /**
   * Receipts of all erasures, oldest first, and whether they are valid. With the `head` of an earlier audit,
   * also whether everything it covered still exists.
   */
  audit(options?: { readonly head?: string }): Promise<Audit>;
  /** The receipts of a project's erasures, oldest first; `audit` checks them. */
  erasures(project?: string): Promise<ErasureReceipt[]>;
  /**
   * Copies the whole store into a file (mode 0600) while others read and write it, and reads the copy back.
   * Notes the copy, so that later receipts say that it still holds what they erased. The secret is not in it.
   * Throws `conflict` if the file exists.
   */
  backup(file: string, options?: BackupOptions): Promise<Backup>;
  /**
   * Gives the space of deleted data back, and the bytes that the store takes before and after. Others may read and write; with
   * SQLite, writes wait. Nothing that was erased comes back. Throws `unavailable` if the disk is too full, or another process
   * is writing for long.
   */
  vacuum(): Promise<CompactedSize>;
  /** The users of a project. */
  users(project?: string): Promise<string[]>;
  /** Cost of a project's model calls: tokens, dollars, and what is left of its budgets. */
  stats(options?: StatsOptions & { readonly project?: string }): Promise<ProjectStats>;
  /** Records a model request made outside the memory: the chat that a proxy passes on. */
  readonly onCall: OnCall;
  /** Units of all users that wait for the embedder: after a change of it, or with a remote one. */
  embedding(): Promise<EmbeddingState>;
  /**
   * Calls a listener with the user whose words were erased, after the commit and before the receipt is
   * returned. Calls it without a user if any may be affected. For caches outside the memory. Returns a
   * function that removes the listener.
   */
  watchErased(listener: ErasureListener): () => void;
  /** The background jobs and their states. */
  jobs(): Promise<JobState[]>;
  /**
   * Work that failed too often and is quarantined, newest first, at most `limit` (100). It delays no other
   * work.
   */
  setAside(options?: { readonly limit?: number }): Promise<WorkSetAside[]>;
  /** Releases quarantined work to run again. False if the id is unknown. */
  again(id: string): Promise<boolean>;
  /**
   * Computes all missing embeddings; without this call, the background does. Safe to interrupt and to repeat.
   * Yields after each hundred.
   */
  reindex(options?: CallOptions): AsyncIterable<{ readonly done: number; readonly left: number }>;
  /** Chooses which embedder users and projects read with. */
  readonly embedders: EmbedderManagement;
  /** Registers webhooks, which are told of changes. */
  readonly webhooks: WebhookManagement;
  /** The vector indexes next to the store. */
  readonly indexes: Indexes;
  /** Finishes what is under way and releases the file and connections. No other call may follow. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Answers to writes, by user and by the caller's idempotency key. Each is kept for a day, or until an erasure
 * removes it.
 */
export interface IdempotentAnswers {
  /**
   * Begins an answer and returns undefined, or returns the existing one. One that has not ended after
   * `abandonedMs` counts as abandoned.
   */
  begin(
    scope: Scope,
    begun: { readonly key: string; readonly request: string; readonly abandonedMs: number },
  ): Promise<StoredAnswer | undefined>;
  /** Whether an answer belongs to this request. */
  isSame(answer: StoredAnswer, request: string): boolean;
  /**
   * Stores the answer. `own` lists the receipts of erasures that the request made itself; any other erasure
   * deletes the answer.
   */
  end(scope: Scope, key: string, answer: HttpAnswer, own?: readonly string[]): Promise<void>;
  /** Releases the key because the request failed and may be sent again. */
  release(scope: Scope, key: string): Promise<void>;
  /** The earlier name of `release`, kept until version 1.0. */
  letGo(scope: Scope, key: string): Promise<void>;
}

/** Options of `backup`. */
export interface BackupOptions extends CallOptions {
  /** How long the copy is kept; receipts name it until then, or always. */
  readonly until?: Date | string;
  /** Whether an existing file may be replaced. */
  readonly replace?: boolean;
  /** Called after each step with the pages copied and their total. */
  readonly onProgress?: (done: number, of: number) => void;
}

/** A verified backup. */
export interface Backup extends BackupNote {
  /** Counts by kind: users, messages, versions of memories, search units, tombstones, erasures. */
  readonly counts: { readonly [what: string]: number };
}

/** Erasures, and whether their proofs are valid. */
export interface Audit {
  /** The receipts, oldest first. */
  readonly receipts: readonly ErasureReceipt[];
  /** Faults by receipt, with an empty id for a general fault; empty if there is none. */
  readonly broken: readonly { readonly id: string; readonly problem: string }[];
  /** The Ed25519 public key that verifies receipts, base64url. */
  readonly publicKey: string;
  /**
   * A hash over all receipts in order, hex. Keep it elsewhere: a later audit uses it to detect missing
   * receipts.
   */
  readonly head: string;
  /** The backups that were made. */
  readonly backups: readonly BackupNote[];
}
