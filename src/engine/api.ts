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

/** What `createMemory` gives: the whole product, as a library. */
export interface Keepsake {
  /** What whoever runs this should be told at the start; usually empty. */
  readonly notices: readonly string[];
  /** Everything a user's memory can do. `project` is "default" where it is not named. */
  scope(scope: { user: string; project?: string; agent?: string; session?: string }): ScopedMemory;
  /** Answers under idempotency keys, for servers; beside the record, and erased with it. */
  readonly answers: IdempotentAnswers;
  /** Checks the whole record. Empty where all is well. */
  check(): Promise<Fault[]>;
  /** Writes something that says nothing and takes it away again: fails as a write would, with `unavailable` on a full disk. */
  probe(): Promise<void>;
  /**
   * Checks the whole record, and says what can be restored from where. With `fix`, puts right what is proved to be right: rows from
   * backups, and what is made of others.
   */
  examine(options?: ExamineOptions): Promise<Examination>;
  /**
   * The quick part of what `examine` and `doctor` tell: durability, the storage, its disk and secret, erasures, work set aside, and each
   * service that it stands on. A server finds it in the background once a minute and never waits; elsewhere it is found when it is
   * asked for, at most once a minute. No addresses, paths or names of users.
   */
  health(): Promise<Health>;
  /**
   * Receipts of all erasures, oldest first, and whether they hold. With the `head` of an earlier audit, also whether
   * all that it saw is still there.
   */
  audit(options?: { readonly head?: string }): Promise<Audit>;
  /** The receipts of a project's erasures, oldest first; `audit` checks them. */
  erasures(project?: string): Promise<ErasureReceipt[]>;
  /**
   * Copies the whole record into a file (mode 0600) while others read and write it, reads the copy back, and notes it,
   * so that later receipts say that it still holds what they took. The secret is not in it. `conflict` where there is a
   * file already.
   */
  backup(file: string, options?: BackupOptions): Promise<Backup>;
  /** The users of a project. */
  users(project?: string): Promise<string[]>;
  /** What a project's calls to models came to: tokens, dollars, what is left of its budgets. */
  stats(options?: StatsOptions & { readonly project?: string }): Promise<ProjectStats>;
  /** Has a request to a model's server noted that somebody else made: the chat that a proxy passes on. */
  readonly onCall: OnCall;
  /** What waits for the embedder, of all users: after a change of it, or where it is a remote one. */
  embedding(): Promise<EmbeddingState>;
  /**
   * Calls a listener with the user whose words were erased, after the commit and before the receipt is given; without one where it may
   * be any user. For caches outside of the memory. Gives a function that removes the listener.
   */
  watchErased(listener: ErasureListener): () => void;
  /** What runs in the background, and how it goes. */
  jobs(): Promise<JobState[]>;
  /** Work that failed too often and is left alone, the last first, at most `limit` (100). It holds up nothing else. */
  setAside(options?: { readonly limit?: number }): Promise<WorkSetAside[]>;
  /** Lets work that was set aside run again. False where none has this id. */
  again(id: string): Promise<boolean>;
  /**
   * Embeds what waits, to the end; without it, that happens in the background. Safe to break off and to repeat. Yields
   * after each hundred.
   */
  reindex(options?: CallOptions): AsyncIterable<{ readonly done: number; readonly left: number }>;
  /** The vector indexes beside the record. */
  readonly indexes: Indexes;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface StatsOptions {
  /** From (inclusive) and to (exclusive); all that is kept, where they are absent. Turns count by whole days, in UTC. */
  readonly since?: Date | string;
  readonly until?: Date | string;
  /** What a row of `usage.rows` is of; a purpose and a model, where absent. */
  readonly by?: UsageBy;
}

/** Answers to writes, by users and by the callers' idempotency keys: each for a day, or until an erasure takes it. */
export interface IdempotentAnswers {
  /**
   * Begins an answer, and gives nothing; or the one that there is. One that was begun and has not ended for `abandonedMs`
   * is taken for broken off.
   */
  begin(
    scope: Scope,
    begun: { readonly key: string; readonly request: string; readonly abandonedMs: number },
  ): Promise<StoredAnswer | undefined>;
  /** Whether an answer is one to this request. */
  isSame(kept: StoredAnswer, request: string): boolean;
  /** Keeps the answer. `own` are the receipts of erasures that the request made itself; any other erases it. */
  end(scope: Scope, key: string, answer: HttpAnswer, own?: readonly string[]): Promise<void>;
  /** The request failed, and may be sent again. */
  letGo(scope: Scope, key: string): Promise<void>;
}

export interface BackupOptions extends CallOptions {
  /** Until when the copy is kept; receipts name it until then, or always. */
  readonly until?: Date | string;
  /** Whether a file that is there may be replaced. */
  readonly replace?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
}

/** A copy that was made, and holds together. */
export interface Backup extends BackupNote {
  /** How many of each it holds: users, messages, versions of memories, search units, tombstones, erasures. */
  readonly counts: { readonly [what: string]: number };
}

/** What was erased, and whether what proves it holds. */
export interface Audit {
  readonly receipts: readonly ErasureReceipt[];
  /** What is wrong, by receipt (or with an empty id, where it is wrong with the whole); empty where all is well. */
  readonly broken: readonly { readonly id: string; readonly problem: string }[];
  /** The Ed25519 key that receipts are checked with, base64url. */
  readonly publicKey: string;
  /** A hash over all receipts in their order, hex: kept elsewhere, it shows a later audit whether any has gone. */
  readonly head: string;
  /** The copies that were made. */
  readonly backups: readonly BackupNote[];
}

export interface EmbeddingState {
  /** The embedder's space (its fingerprint). */
  readonly space: string;
  /** Search units that have no vector in it yet; they are found by their words. */
  readonly left: number;
  /** Whether they are being embedded now. */
  readonly running: boolean;
  /** Why the last try failed; it is tried again. */
  readonly problem?: string;
}

/** A job that runs in the background. */
export interface JobState {
  readonly name: JobName;
  /** What it does, in a few words. */
  readonly about: string;
  /** `failing`: it broke off and tries again; `scheduled`: it comes again by itself; `idle`: when there is something to do. */
  readonly state: "running" | "failing" | "scheduled" | "idle";
  /** When it began last, here or in another process (ISO 8601), and how long that took. */
  readonly lastRun?: string;
  readonly tookMs?: number;
  readonly nextRun?: string;
  /** Pieces of work in this run, or in the last one. */
  readonly done: number;
  /** What waits, where that is known. */
  readonly left?: number;
  /** What it found and leaves to people to decide. */
  readonly found?: number;
  /** Why it broke off last. */
  readonly problem?: string;
  /** Runs that broke off, one after the other. */
  readonly attempts: number;
  /** Users with whom it failed too often, and who are left out until their memory changes or `again` is called; absent for none. */
  readonly setAside?: number;
}

/** Work that failed five times, one after the other. */
export interface WorkSetAside {
  readonly id: string;
  readonly job: JobName;
  /** Whose; absent where it is a whole run, which a queue has given up. */
  readonly project?: string;
  readonly user?: string;
  /** When it failed last (ISO 8601). */
  readonly at: string;
  readonly attempts: number;
  /** The code of the error, or "internal". */
  readonly problem: string;
}

export interface OptimizeOptions extends CallOptions {
  /** True: says what it would do, and does nothing. */
  readonly dryRun?: boolean;
  /** The turn that the conversation is at: what was said in the hundred turns before it, and since, is left alone. */
  readonly currentTurn?: number;
}

/** What looking after a user's memories did, or would do. */
export interface Optimized {
  readonly dryRun: boolean;
  /** The user's revision after it. */
  readonly revision: number;
  /** One entry for each of expiry, consolidation, decay and clean-up, in this order. */
  readonly jobs: readonly {
    readonly name: JobName;
    /** The revisions that it made; `undo` takes each of them back. Absent where it made none. */
    readonly revisions?: readonly number[];
    /** What it found; `faded` memories stay as they are, and rank lower by their age alone. */
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
  /** Unique within the user; the same id again is the same message, stored once. A UUIDv7 where none is given. */
  readonly id?: string;
  readonly role: Role;
  readonly content: string | readonly Part[];
  readonly name?: string;
  /** When it was said; now, where absent. */
  readonly at?: Date | string;
  /** The session of this message, where a batch spans several. */
  readonly session?: string;
  readonly metadata?: Metadata;
}

export interface RememberOptions extends CallOptions {
  readonly session?: string;
  readonly idempotencyKey?: string;
  /** When the extractor reads the messages: in this call (the default), when there is time, or never. */
  readonly extract?: "now" | "later" | "never";
  /** Said at, for input without a time of its own. */
  readonly at?: Date | string;
  /** Where the messages come from; `import` never erases anything and cannot lift a tombstone. */
  readonly origin?: "conversation" | "import";
  /** False: an order to forget that stands in the words is refused, whenever they are understood. */
  readonly mayErase?: boolean;
}

/** What reading came to. */
export interface Understood {
  /** Messages that were read. */
  readonly read: number;
  readonly memories: readonly ReceiptLine[];
  /** Messages that go on waiting. */
  readonly pending: number;
  /** Why they do, for a person. */
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
  /** `false` lets a memory that was set aside be recalled and given to models: a person has looked at it. */
  readonly quarantined?: false;
};

/**
 * What to forget. A text says it in words: a name, a thing, or a sentence such as "Forget what I told you about my
 * job". Everything else names it exactly. Empty filters are refused.
 */
export type Forget =
  | string
  /** Memories and messages by id. */
  | { readonly ids: readonly string[] }
  /** All that was said in a session. */
  | { readonly session: string }
  /** What carries such metadata. */
  | { readonly where: Where }
  /** What was said from (inclusive) to (exclusive); at least one of them. */
  | { readonly from?: Date | string; readonly to?: Date | string }
  /** What is about a topic ("health", "work": see `TOPICS`), or of a relation ("live in"). */
  | { readonly topic: string }
  | { readonly everything: true };

export interface ListOptions extends CallOptions {
  readonly kind?: Kind;
  readonly status?: Status | "all";
  /** Only what was set aside, each with its reason as `why`; or (`false`) only what was not. */
  readonly quarantined?: boolean;
  readonly where?: Where;
  /** 50; at most 1,000. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A memory as it is shown: with its sources in full. */
export type ShownMemory = Omit<Memory, "sources"> & { readonly sources: readonly Source[] };

export interface Page<Entry> {
  readonly items: readonly Entry[];
  /** How many there are in all. */
  readonly total: number;
  /** Absent on the last page. */
  readonly cursor?: string;
}

export interface PageOptions extends CallOptions {
  /** 50; at most 1,000. */
  readonly limit?: number;
  /** Of the page before. */
  readonly cursor?: string;
}

/** A conversation of the user's, by the name that its messages were given. */
export interface SessionSummary {
  readonly id: string;
  /** How many are there. */
  readonly messages: number;
  /** When the first and the last of them was said. */
  readonly from: string;
  readonly to: string;
}

/** A page of a session's messages, in the order in which they were stored. */
export interface Session extends Page<SessionMessage> {
  readonly id: string;
}

export type SessionMessage = Pick<
  Message,
  "id" | "turn" | "role" | "name" | "content" | "parts" | "at" | "metadata"
>;

/** A page, and with `for await` all that follow it. */
export interface Listing extends PromiseLike<Page<ShownMemory>>, AsyncIterable<ShownMemory> {}

/** A short page about the user: what holds now. */
export interface Profile {
  readonly user: string;
  /** The page, for people and for prompts: the same bytes while nothing changes. */
  readonly text: string;
  /** The same, each line with what it was merged from. */
  readonly sections: readonly {
    readonly name: string;
    readonly title: string;
    readonly lines: readonly ProfileLine[];
  }[];
  /** How many lines there was no room for. */
  readonly left: number;
  /** What holds, by kind: of each the hundred that were stored last. The list of memories has all. */
  readonly kinds: { readonly [kind in Kind]?: readonly ShownMemory[] };
  /** How many more hold of a kind, where `kinds` leaves some out. */
  readonly leftOfKinds: { readonly [kind in Kind]?: number };
}

export interface ProfileLine {
  readonly text: string;
  /** Ids of the memories that it tells, and of the messages that they come from. */
  readonly memories: readonly string[];
  readonly sources: readonly string[];
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
}

export interface ProfileOptions extends CallOptions {
  /** A budget for `text` (2,000): the least weighty lines are left out. */
  readonly maxTokens?: number;
}

/** One line of an export; `import` with format "keepsake" takes it back. */
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
  /** How many messages in one commit (200). */
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
   * Reads now what waits to be understood, by rules or by a model, and tells what was learnt; without it, that happens in the
   * background. What hinders it is told, not thrown: the rest goes on waiting.
   */
  understand(options?: CallOptions): Promise<Understood>;
  add(memory: NewMemory, options?: CallOptions): Promise<Receipt>;
  /**
   * The world changed: adds a memory, and ends everything current that `what` describes ("my employer"). History keeps
   * what it was.
   */
  supersede(what: string, memory: NewMemory, options?: CallOptions): Promise<Receipt>;
  recall(query: string, options?: RecallOptions): Promise<Recall>;
  answer(question: string, options?: RecallOptions): Promise<Answer>;
  answerStream(question: string, options?: RecallOptions): AsyncGenerator<string, Answer, void>;
  /**
   * One turn of a conversation: stores the message, acts on it, and replies: with what was learnt, what was forgotten, or
   * an answer; in the model's words where there is a model, and then the reply is kept too.
   */
  converse(message: string, options?: RememberOptions): Promise<Reply>;
  /** The same, its reply in parts, the first of which comes when the message is stored; its return value is what `converse` gives. */
  converseStream(message: string, options?: RememberOptions): AsyncGenerator<string, Reply, void>;
  /**
   * Why a recall gave what it gave, and left out what it left out: by the `id` that `recall` and `answer` gave it. With
   * `about`, why one memory, passage or message was or was not among it. The newest 1,000 of a user can be asked for.
   */
  explain(recall: string, options?: CallOptions & { about?: string }): Promise<RecallExplanation>;
  forget(what: Forget, options: CallOptions & { dryRun: true }): Promise<ErasurePlan>;
  forget(what: Forget, options?: CallOptions & { dryRun?: false }): Promise<ErasureReceipt>;
  /** The receipts of this user's erasures, oldest first. */
  erasures(options?: CallOptions): Promise<ErasureReceipt[]>;
  get(id: string, options?: CallOptions): Promise<ShownMemory>;
  list(options?: ListOptions): Listing;
  /** Takes a memory away by hand, for a slip of the hand: `undo` brings it back. It is not an erasure. */
  remove(id: string, options?: CallOptions): Promise<Receipt>;
  update(id: string, changes: MemoryChanges, options?: CallOptions): Promise<Receipt>;
  /** All versions of one memory, oldest first; or what happened to the user's memory, newest first. */
  history(id: string, options?: CallOptions): Promise<Memory[]>;
  history(id?: undefined, options?: CallOptions & { before?: number; limit?: number }): Promise<LogEntry[]>;
  /** The user's revision: 0 before the first write, and one more with each. The quickest way to see whether anything was written. */
  revision(options?: CallOptions): Promise<number>;
  undo(revision: number, options?: CallOptions): Promise<Receipt>;
  /**
   * Takes what has expired out of the search, merges what says the same, tells what has faded, and archives what is old,
   * unimportant and unused. Nothing is erased: `undo` brings all of it back. `dryRun` first.
   */
  optimize(options?: OptimizeOptions): Promise<Optimized>;
  profile(options?: ProfileOptions): Promise<Profile>;
  /** The user's sessions, the one that was last spoken in first. */
  sessions(options?: PageOptions): Promise<Page<SessionSummary>>;
  /** What was said in one; `not_found` where nothing of it is there. */
  session(id: string, options?: PageOptions): Promise<Session>;
  /** How much is known, and what that came to in calls to models. */
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
  /** The message's place in the order in which the user's messages were stored, from 1. */
  readonly turn: number;
  /** What it rests on: the answer it gives where the message was a question, or what a model's reply used. */
  readonly answer?: Answer;
}
