import type { BackupNote } from "../domain/backup.ts";
import type { LogEntry } from "../domain/change-set.ts";
import type { JobName } from "../domain/job.ts";
import type { Claim, Kind, Memory, Status } from "../domain/memory.ts";
import type { Message, Part, Role } from "../domain/message.ts";
import type { Metadata, Where } from "../domain/metadata-filter.ts";
import type { ProjectStats, UsageBy, UserStats } from "../domain/model-usage.ts";
import type {
  Answer,
  AnsweredBy,
  Recall,
  RecallExplanation,
  RecallOptions,
  Source,
} from "../domain/recall.ts";
import type { ErasurePlan, ErasureReceipt, Receipt, ReceiptLine } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import type { HttpAnswer, StoredAnswer } from "../domain/stored-answer.ts";
import type { CallOptions } from "../ports/call-options.ts";
import type { OnCall } from "../ports/language/model-calls.ts";
import type { Fault } from "../ports/memory-store.ts";
import type { Examination, ExamineOptions } from "./admin/doctor.ts";
import type { Health } from "./admin/health.ts";
import type { ErasureListener } from "./erase/erasure-watch.ts";
import type { Indexes } from "./index-sync/vector-indexes.ts";

/** The memory that `createMemory` gives: the whole product, as a library. */
export interface Keepsake {
  /** Warnings for the operator at the start; usually empty. */
  readonly notices: readonly string[];
  /** All methods for one user's memory. `project` is "default" if not given. */
  scope(scope: { user: string; project?: string; agent?: string; session?: string }): ScopedMemory;
  /** Stored answers under idempotency keys, for servers. Kept outside the store and erased with it. */
  readonly answers: IdempotentAnswers;
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
  /** The vector indexes next to the store. */
  readonly indexes: Indexes;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface StatsOptions {
  /**
   * From (inclusive) and to (exclusive); everything stored if absent. Turns are counted by whole days, in
   * UTC.
   */
  readonly since?: Date | string;
  readonly until?: Date | string;
  /** How to group the rows of `usage.rows`; by purpose and model if absent. */
  readonly by?: UsageBy;
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
  letGo(scope: Scope, key: string): Promise<void>;
}

export interface BackupOptions extends CallOptions {
  /** How long the copy is kept; receipts name it until then, or always. */
  readonly until?: Date | string;
  /** Whether an existing file may be replaced. */
  readonly replace?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
}

/** A verified backup. */
export interface Backup extends BackupNote {
  /** Counts by kind: users, messages, versions of memories, search units, tombstones, erasures. */
  readonly counts: { readonly [what: string]: number };
}

/** Erasures, and whether their proofs are valid. */
export interface Audit {
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

export interface EmbeddingState {
  /** The embedder's space (its fingerprint). */
  readonly space: string;
  /** Search units without a vector in this space; they are found by their words. */
  readonly left: number;
  /** Whether embedding runs now. */
  readonly running: boolean;
  /** Why the last try failed; it will be repeated. */
  readonly problem?: string;
}

/** A background job. */
export interface JobState {
  readonly name: JobName;
  /** What it does, in a few words. */
  readonly about: string;
  /**
   * `failing`: it failed and retries; `scheduled`: it runs again at its interval; `idle`: it runs when there
   * is work.
   */
  readonly state: "running" | "failing" | "scheduled" | "idle";
  /** Start of the last run, in any process (ISO 8601), and its duration. */
  readonly lastRun?: string;
  readonly tookMs?: number;
  readonly nextRun?: string;
  /** Pieces of work in this run, or in the last one. */
  readonly done: number;
  /** Pending pieces of work, if known. */
  readonly left?: number;
  /** Findings left for people to decide. */
  readonly found?: number;
  /** Why it failed last. */
  readonly problem?: string;
  /** Consecutive failed runs. */
  readonly attempts: number;
  /**
   * Users with whom it failed too often. They are left out until their memory changes or `again` is called;
   * absent if there are none.
   */
  readonly setAside?: number;
}

/** Work that failed five times in a row. */
export interface WorkSetAside {
  readonly id: string;
  readonly job: JobName;
  /** The user; absent for a whole run that a queue has given up. */
  readonly project?: string;
  readonly user?: string;
  /** Time of the last failure (ISO 8601). */
  readonly at: string;
  readonly attempts: number;
  /** The code of the error, or "internal". */
  readonly problem: string;
}

export interface OptimizeOptions extends CallOptions {
  /** True: reports what it would do, without doing it. */
  readonly dryRun?: boolean;
  /**
   * The current turn of the conversation; statements from the hundred turns before it, and since, are left
   * alone.
   */
  readonly currentTurn?: number;
}

/** What maintenance of a user's memories did, or would do. */
export interface Optimized {
  readonly dryRun: boolean;
  /** The user's revision afterwards. */
  readonly revision: number;
  /** One entry each for expiry, consolidation, decay and clean-up, in this order. */
  readonly jobs: readonly {
    readonly name: JobName;
    /** The revisions that it made; `undo` reverts each of them. Absent if it made none. */
    readonly revisions?: readonly number[];
    /** The memories it found; `faded` ones stay as they are and rank lower only by age. */
    readonly memories: readonly {
      readonly id: string;
      readonly action: "expired" | "merged" | "archived" | "faded";
      readonly text: string;
      /** The memory that it was merged into. */
      readonly by?: string;
      readonly why: string;
    }[];
  }[];
}

export interface InputMessage {
  /** Unique within the user: a repeated id is the same message, stored once. Default: a new UUIDv7. */
  readonly id?: string;
  readonly role: Role;
  readonly content: string | readonly Part[];
  readonly name?: string;
  /** Message time (default: now). */
  readonly at?: Date | string;
  /** The session of this message, for a batch that spans several. */
  readonly session?: string;
  readonly metadata?: Metadata;
}

export interface RememberOptions extends CallOptions {
  readonly session?: string;
  readonly idempotencyKey?: string;
  /** When the extractor reads the messages: in this call (default), in the background, or never. */
  readonly extract?: "now" | "later" | "never";
  /** Message time for input that has none. */
  readonly at?: Date | string;
  /** Origin of the messages; `import` never erases anything and cannot lift a tombstone. */
  readonly origin?: "conversation" | "import";
  /** False: a request to forget within the text is refused, whenever it is extracted. */
  readonly mayErase?: boolean;
}

/** The result of extraction. */
export interface Understood {
  /** Messages that were read. */
  readonly read: number;
  readonly memories: readonly ReceiptLine[];
  /** Messages that remain pending. */
  readonly pending: number;
  /** Why they remain pending, for a person. */
  readonly problem?: string;
}

export interface NewMemory {
  readonly text: string;
  readonly kind?: Kind;
  readonly claim?: Claim;
  readonly confidence?: number;
  readonly importance?: number;
  readonly validFrom?: Date | string;
  readonly expiresAt?: Date | string;
  readonly metadata?: Metadata;
  readonly at?: Date | string;
}

export type MemoryChanges = Partial<
  Pick<
    NewMemory,
    "text" | "kind" | "claim" | "confidence" | "importance" | "validFrom" | "expiresAt" | "metadata"
  >
> & {
  readonly validTo?: Date | string;
  /**
   * `false` approves a quarantined memory, so that it is recalled and given to models: a person has reviewed
   * it.
   */
  readonly quarantined?: false;
};

/**
 * What to forget. A text describes it: a name, a thing, or a sentence such as "Forget what I told you about
 * my job". The other forms name it exactly. Empty filters are refused.
 */
export type Forget =
  | string
  /** Memories and messages by id. */
  | { readonly ids: readonly string[] }
  /** All messages of a session. */
  | { readonly session: string }
  /** Content with this metadata. */
  | { readonly where: Where }
  /** Content said from (inclusive) to (exclusive); at least one is required. */
  | { readonly from?: Date | string; readonly to?: Date | string }
  /** Content about a topic ("health", "work": see `TOPICS`), or with a relation ("live in"). */
  | { readonly topic: string }
  | { readonly everything: true };

export interface ListOptions extends CallOptions {
  readonly kind?: Kind;
  readonly status?: Status | "all";
  /** Only quarantined memories, each with its reason as `why`; `false`: only the others. */
  readonly quarantined?: boolean;
  readonly where?: Where;
  /** Default 50; at most 1,000. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A memory as it is shown, with its sources in full. */
export type ShownMemory = Omit<Memory, "sources"> & { readonly sources: readonly Source[] };

export interface Page<Entry> {
  readonly items: readonly Entry[];
  /** Total number. */
  readonly total: number;
  /** Absent on the last page. */
  readonly cursor?: string;
}

export interface PageOptions extends CallOptions {
  /** Default 50; at most 1,000. */
  readonly limit?: number;
  /** From the previous page. */
  readonly cursor?: string;
}

/** A conversation of the user, by the name given with its messages. */
export interface SessionSummary {
  readonly id: string;
  /** Number of messages. */
  readonly messages: number;
  /** When its first and last messages were said. */
  readonly from: string;
  readonly to: string;
}

/** A page of a session's messages, in stored order. */
export interface Session extends Page<SessionMessage> {
  readonly id: string;
}

export type SessionMessage = Pick<
  Message,
  "id" | "turn" | "role" | "name" | "content" | "parts" | "at" | "metadata"
>;

/** A page; `for await` iterates over all pages from there. */
export interface Listing extends PromiseLike<Page<ShownMemory>>, AsyncIterable<ShownMemory> {}

/** A short page about the user: current facts. */
export interface Profile {
  readonly user: string;
  /** The page, for people and for prompts; the same bytes while nothing changes. */
  readonly text: string;
  /** The same content, each line with the memories it was merged from. */
  readonly sections: readonly {
    readonly name: string;
    readonly title: string;
    readonly lines: readonly ProfileLine[];
  }[];
  /** Number of lines that did not fit. */
  readonly left: number;
  /** Current memories by kind, for each the hundred stored last. The list of memories has all. */
  readonly kinds: { readonly [kind in Kind]?: readonly ShownMemory[] };
  /** Number of current memories of a kind that `kinds` leaves out. */
  readonly leftOfKinds: { readonly [kind in Kind]?: number };
}

export interface ProfileLine {
  readonly text: string;
  /** Ids of the memories in the page, and of their source messages. */
  readonly memories: readonly string[];
  readonly sources: readonly string[];
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
}

export interface ProfileOptions extends CallOptions {
  /** Token budget for `text` (2,000); the least important lines are left out. */
  readonly maxTokens?: number;
}

/** One line of an export; `import` with format "keepsake" reads it. */
export type ExportLine =
  | { readonly type: "keepsake"; readonly version: 1; readonly user: string; readonly exportedAt: string }
  | { readonly type: "message"; readonly message: object }
  | { readonly type: "memory"; readonly memory: object };

export interface ImportProgress {
  readonly read: number;
  readonly stored: number;
  readonly known: number;
  readonly memories: number;
  readonly done: boolean;
}

export interface ImportOptions extends CallOptions {
  /** Messages per commit (200). */
  readonly batch?: number;
  readonly extract?: "now" | "later" | "never";
}

/** The memory of one user. */
export interface ScopedMemory {
  remember(
    input: string | InputMessage | readonly InputMessage[],
    options?: RememberOptions,
  ): Promise<Receipt>;
  /**
   * Extracts memories from pending messages now, by rules or by a model, and reports what was learnt. Without
   * this call, the background does it. Problems are reported, not thrown; the remaining messages stay
   * pending.
   */
  understand(options?: CallOptions): Promise<Understood>;
  add(memory: NewMemory, options?: CallOptions): Promise<Receipt>;
  /**
   * Records a change in the world: adds a memory and ends everything current that `what` describes ("my
   * employer"). The history keeps it.
   */
  supersede(what: string, memory: NewMemory, options?: CallOptions): Promise<Receipt>;
  recall(query: string, options?: RecallOptions): Promise<Recall>;
  answer(question: string, options?: RecallOptions): Promise<Answer>;
  answerStream(question: string, options?: RecallOptions): AsyncGenerator<string, Answer, void>;
  /**
   * One turn of a conversation: stores the message, acts on it, and replies with what was learnt, what was
   * forgotten, or an answer. With a model, the reply is in its words and is stored too.
   */
  converse(message: string, options?: RememberOptions): Promise<Reply>;
  /**
   * The same, with the reply in parts; the first part comes when the message is stored. The return value is
   * that of `converse`.
   */
  converseStream(message: string, options?: RememberOptions): AsyncGenerator<string, Reply, void>;
  /**
   * Explains why a recall returned some items and left out others, by the `id` from `recall` or `answer`.
   * With `about`, explains why one memory, passage or message was or was not among them. Covers the user's
   * newest 1,000 recalls.
   */
  explain(recall: string, options?: CallOptions & { about?: string }): Promise<RecallExplanation>;
  forget(what: Forget, options: CallOptions & { dryRun: true }): Promise<ErasurePlan>;
  forget(what: Forget, options?: CallOptions & { dryRun?: false }): Promise<ErasureReceipt>;
  /** The receipts of this user's erasures, oldest first. */
  erasures(options?: CallOptions): Promise<ErasureReceipt[]>;
  get(id: string, options?: CallOptions): Promise<ShownMemory>;
  list(options?: ListOptions): Listing;
  /** Removes a memory by hand, for example to correct a slip; `undo` restores it. This is not an erasure. */
  remove(id: string, options?: CallOptions): Promise<Receipt>;
  update(id: string, changes: MemoryChanges, options?: CallOptions): Promise<Receipt>;
  /** All versions of one memory, oldest first; or what happened to the user's memory, newest first. */
  history(id: string, options?: CallOptions): Promise<Memory[]>;
  history(id?: undefined, options?: CallOptions & { before?: number; limit?: number }): Promise<LogEntry[]>;
  /**
   * The user's revision: 0 before the first write, and one more with each. The fastest way to detect writes.
   */
  revision(options?: CallOptions): Promise<number>;
  undo(revision: number, options?: CallOptions): Promise<Receipt>;
  /**
   * Removes expired memories from the search, merges duplicates, reports faded ones, and archives old,
   * unimportant and unused ones. Nothing is erased: `undo` restores everything. Try `dryRun` first.
   */
  optimize(options?: OptimizeOptions): Promise<Optimized>;
  profile(options?: ProfileOptions): Promise<Profile>;
  /** The user's sessions, most recently used first. */
  sessions(options?: PageOptions): Promise<Page<SessionSummary>>;
  /** The messages of a session. Throws `not_found` if it has none. */
  session(id: string, options?: PageOptions): Promise<Session>;
  /** Counts of what is stored, and the cost of model calls. */
  stats(options?: StatsOptions): Promise<UserStats>;
  export(options?: CallOptions): AsyncIterable<ExportLine>;
  import(
    source: AsyncIterable<InputMessage> | Iterable<InputMessage>,
    options?: ImportOptions,
  ): AsyncIterable<ImportProgress>;
}

export interface Reply extends AnsweredBy {
  readonly text: string;
  readonly receipt: Receipt;
  /** The message's position in the stored order of the user's messages, from 1. */
  readonly turn: number;
  /** The basis of the reply: the answer if the message was a question, or what a model's reply used. */
  readonly answer?: Answer;
}
