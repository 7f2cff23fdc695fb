import type { AssociationType, LogEntry, MemoryLink } from "../domain/change-set.ts";
import type { ContextOptions, PromptContext } from "../domain/context.ts";
import type { Claim, Kind, KindGroup, Memory, MemoryUsage, Status } from "../domain/memory.ts";
import type { Message, Part, Role } from "../domain/message.ts";
import type { Metadata, Where } from "../domain/metadata-filter.ts";
import type { ProjectStats, UsageBy, UserStats } from "../domain/model-usage.ts";
import type { BackupNote } from "../domain/operations/backup.ts";
import type { JobName } from "../domain/operations/job.ts";
import type { HttpAnswer, StoredAnswer } from "../domain/operations/stored-answer.ts";
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
import type { CallOptions } from "../ports/call-options.ts";
import type { OnCall } from "../ports/language/model-calls.ts";
import type { PromptGuard } from "../ports/language/prompt-guard.ts";
import type { Fault } from "../ports/memory-store.ts";
import type { ErasureListener } from "./erasure-watch.ts";
import type { Examination, ExamineOptions, Health } from "./inspection.ts";
import type { Indexes } from "./vector-indexes.ts";

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
  /** Finishes what is under way and releases the file and connections. No other call may follow. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The period of statistics, and their grouping. */
export interface StatsOptions {
  /**
   * From (inclusive) and to (exclusive); everything stored if absent. Turns are counted by whole days, in
   * UTC.
   */
  readonly since?: Date | string;
  /** The end of the period, exclusive. */
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
  /** The job's name. */
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
  /** The duration of the last run, in ms. */
  readonly tookMs?: number;
  /** When it runs next (ISO 8601). */
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
  /** The id, for `again`. */
  readonly id: string;
  /** The job's name. */
  readonly job: JobName;
  /** The user; absent for a whole run that a queue has given up. */
  readonly project?: string;
  /** The user's name within the project. */
  readonly user?: string;
  /** Time of the last failure (ISO 8601). */
  readonly at: string;
  /** How often it failed. */
  readonly attempts: number;
  /** The code of the error, or "internal". */
  readonly problem: string;
}

/** Options of `optimize`. */
export interface OptimizeOptions extends CallOptions {
  /** True: reports what it would do, without doing it. */
  readonly dryRun?: boolean;
  /**
   * The current turn of the conversation; statements from the hundred turns before it, and since, are left
   * alone.
   */
  readonly currentTurn?: number;
  /**
   * Has the clean-up archive memories last said longer ago than this, in days, instead of those that have faded.
   * Memories that were said twice, recalled, edited, associated or are sensitive stay.
   */
  readonly maxAgeDays?: number;
  /** Has the clean-up archive memories less important than this (0 to 1), instead of up to 0.4. */
  readonly minImportance?: number;
  /** Has the clean-up archive memories of these kinds, instead of facts, events and reflections. */
  readonly kinds?: readonly Kind[];
}

/** What maintenance of a user's memories did, or would do. */
export interface Optimized {
  /** Whether it only reports. */
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

/** A message to remember. */
export interface InputMessage {
  /** Unique within the user: a repeated id is the same message, stored once. Default: a new UUIDv7. */
  readonly id?: string;
  /** The author's role. Only what a user says makes memories. */
  readonly role: Role;
  /** The text, or parts in the shapes of OpenAI's chat API. */
  readonly content: string | readonly Part[];
  /** The speaker's name, in a conversation among several people. */
  readonly name?: string;
  /** Message time (default: now). */
  readonly at?: Date | string;
  /** The session of this message, for a batch that spans several. */
  readonly session?: string;
  /** Fields of the caller's own, for filters. */
  readonly metadata?: Metadata;
}

/** Options of `remember` and `converse`. */
export interface RememberOptions extends CallOptions {
  /** The session of messages that name none. */
  readonly session?: string;
  /** A repeated write with the same key and content returns the first receipt. Another content throws `conflict`. */
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
  /** What was done with each memory. */
  readonly memories: readonly ReceiptLine[];
  /** Messages that remain pending. */
  readonly pending: number;
  /** Why they remain pending, for a person. */
  readonly problem?: string;
}

/** A memory to add without a message. */
export interface NewMemory {
  /** The statement, in one sentence. */
  readonly text: string;
  /** The kind of statement (default "fact"). A group stands for its first kind: "semantic" for "fact", "episodic" for "event". */
  readonly kind?: Kind | KindGroup;
  /** The structured form of the statement; questions are answered from it. */
  readonly claim?: Claim;
  /** 0 to 1 (default 1). */
  readonly confidence?: number;
  /** 0 to 1 (default 0.5). */
  readonly importance?: number;
  /** From when it is true, inclusive. Default: open. */
  readonly validFrom?: Date | string;
  /** When it disappears from every read. Default: never. */
  readonly expiresAt?: Date | string;
  /** Fields of the caller's own, for filters. */
  readonly metadata?: Metadata;
  /** When it was said (default: now). */
  readonly at?: Date | string;
}

/** Fields of a memory to change; the others stay. */
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
  /** `true` ends a review: the memory still holds although something that it depends on has changed. */
  readonly reviewed?: true;
};

/** Options of `link`. */
export interface LinkOptions extends CallOptions {
  /** How the first memory bears on the second (default "related_to"). */
  readonly type?: AssociationType;
  /** 0 to 1 (default 1). */
  readonly strength?: number;
}

/** Options of `unlink`. */
export interface UnlinkOptions extends CallOptions {
  /** Only associations of this type (default: all). */
  readonly type?: AssociationType;
}

/** Options of `links`. */
export interface LinkListOptions extends PageOptions {
  /** Only associations that begin or end at this memory. */
  readonly memory?: string;
  /** Only associations of this type. */
  readonly type?: AssociationType;
}

/** What a write did with associations. */
export interface LinkReceipt {
  /** The user's revision afterwards; `undo` takes it. */
  readonly revision: number;
  /** Associations that were made, or got another strength. */
  readonly linked: readonly MemoryLink[];
  /** Associations that were removed, or had another strength before. */
  readonly unlinked: readonly MemoryLink[];
}

/** Options of `related`. */
export interface RelatedOptions extends CallOptions {
  /** The most associations between the memory and what is found (default 1, at most 5). */
  readonly depth?: number;
  /** The least strength of what is found, 0 to 1 (default 0). */
  readonly minStrength?: number;
  /** The most memories (default 20, at most 200). */
  readonly limit?: number;
  /** Only along associations of these types. */
  readonly types?: readonly AssociationType[];
  /** Only memories with this status (default "current"). */
  readonly status?: Status | "all";
  /**
   * Whether to follow associations that are stored nowhere, but read off the memories: told in one sentence, or
   * about the same person or thing (default true).
   */
  readonly inferred?: boolean;
}

/** What a walk along associations found. */
export interface RelatedMemories {
  /** Strongest first. */
  readonly items: readonly RelatedMemory[];
  /** Total number found, before the limit. */
  readonly total: number;
}

/** A memory that a walk reached. */
export interface RelatedMemory {
  /** The memory, with its sources. */
  readonly memory: ShownMemory;
  /** The product of the strengths on the way, 0 to 1. */
  readonly strength: number;
  /** The number of associations on the way. */
  readonly depth: number;
  /** The way, from the memory that was named. */
  readonly path: readonly RelatedStep[];
}

/** One association on the way to a related memory. */
export interface RelatedStep {
  /** The id of the memory that the association begins at. */
  readonly from: string;
  /** How `from` bears on `to`. */
  readonly type: AssociationType;
  /** The id of the other memory. */
  readonly to: string;
  /** 0 to 1. */
  readonly strength: number;
  /** Why it was inferred. Absent for a stored association. */
  readonly inferred?: "told together" | "about the same";
}

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

/** Options of `list`. */
export interface ListOptions extends CallOptions {
  /** Only memories of this kind, or of this group of kinds ("semantic", "episodic", "procedural"). */
  readonly kind?: Kind | KindGroup;
  /** Only memories with this status (default "current"). */
  readonly status?: Status | "all";
  /** Only quarantined memories, each with its reason as `why`; `false`: only the others. */
  readonly quarantined?: boolean;
  /** Only memories that wait for a review, because something that they depend on has changed. */
  readonly review?: true;
  /** Only memories whose metadata matches. */
  readonly where?: Where;
  /** Default 50; at most 1,000. */
  readonly limit?: number;
  /** From the previous page. */
  readonly cursor?: string;
}

/** A memory as it is shown, with its sources in full. */
export type ShownMemory = Omit<Memory, "sources"> & {
  readonly sources: readonly Source[];
  /** How often recalls returned it. Given by `get`, `list` and `export`, if the memory store keeps it. */
  readonly usage?: MemoryUsage;
  /** How new it is, 0 to 1: 1 when it was said, halved every 90 days (`decayDays`). Given by `get` and `list`. */
  readonly decayScore?: number;
};

/** A part of a list. */
export interface Page<Entry> {
  /** The entries of this page. */
  readonly items: readonly Entry[];
  /** Total number. */
  readonly total: number;
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** Options of a call that returns a page. */
export interface PageOptions extends CallOptions {
  /** Default 50; at most 1,000. */
  readonly limit?: number;
  /** From the previous page. */
  readonly cursor?: string;
}

/** A conversation of the user, by the name given with its messages. */
export interface SessionSummary {
  /** The session's name. */
  readonly id: string;
  /** Number of messages. */
  readonly messages: number;
  /** When its first and last messages were said. */
  readonly from: string;
  /** When its last message was said (ISO 8601). */
  readonly to: string;
}

/** A page of a session's messages, in stored order. */
export interface Session extends Page<SessionMessage> {
  /** The session's name. */
  readonly id: string;
}

/** A message of a session, as it is shown. */
export type SessionMessage = Pick<
  Message,
  "id" | "turn" | "role" | "name" | "content" | "parts" | "at" | "metadata"
>;

/** A page; `for await` iterates over all pages from there. */
export interface Listing extends PromiseLike<Page<ShownMemory>>, AsyncIterable<ShownMemory> {}

/** A short page about the user: current facts. */
export interface Profile {
  /** The user. */
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

/** A line of a profile. */
export interface ProfileLine {
  /** The line, as in `Profile.text`. */
  readonly text: string;
  /** Ids of the memories in the page, and of their source messages. */
  readonly memories: readonly string[];
  /** Ids of the messages that the memories come from. */
  readonly sources: readonly string[];
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
}

/** Options of `profile`. */
export interface ProfileOptions extends CallOptions {
  /** Token budget for `text` (2,000); the least important lines are left out. */
  readonly maxTokens?: number;
}

/** One line of an export; `import` with format "keepsake" reads it. */
export type ExportLine =
  | { readonly type: "keepsake"; readonly version: 1; readonly user: string; readonly exportedAt: string }
  | { readonly type: "message"; readonly message: object }
  | { readonly type: "memory"; readonly memory: object }
  | { readonly type: "link"; readonly link: MemoryLink };

/** The state of an import after a batch. */
export interface ImportProgress {
  /** Messages read from the source. */
  readonly read: number;
  /** Messages that were new and are stored. */
  readonly stored: number;
  /** Messages that were stored before. */
  readonly known: number;
  /** Memories that were added. */
  readonly memories: number;
  /** Whether the source is read to its end. */
  readonly done: boolean;
}

/** Options of `import`. */
export interface ImportOptions extends CallOptions {
  /** Messages per commit (200). */
  readonly batch?: number;
  /** When the extractor reads the messages: now (default), in the background, or never. */
  readonly extract?: "now" | "later" | "never";
}

/** The memory of one user. */
export interface ScopedMemory {
  /**
   * Stores messages word for word, and extracts memories from what the user says. Durable when it returns. An
   * id that is known is stored once. Throws `invalid_input`, and `conflict` for an idempotency key of another
   * write.
   */
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
  /** Adds a memory without a message, as one that a person typed in. Throws `invalid_input` for a wrong field. */
  add(memory: NewMemory, options?: CallOptions): Promise<Receipt>;
  /**
   * Records a change in the world: adds a memory and ends everything current that `what` describes ("my
   * employer"). The history keeps it.
   */
  supersede(what: string, memory: NewMemory, options?: CallOptions): Promise<Receipt>;
  /**
   * Finds the memories and passages that are relevant to a query, best first. Empty if nothing is. Throws
   * `invalid_input` for a wrong option.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * await ana.remember("I live in Porto.");
   * const { items } = await ana.recall("Where do I live?", { limit: 1, types: ["memory"] });
   * console.log(items[0]?.text, items[0]?.sources[0]?.quote);
   * ```
   *
   * ```text
   * The user lives in Porto. I live in Porto
   * ```
   */
  recall(query: string, options?: RecallOptions): Promise<Recall>;
  /**
   * Answers a question from memory, in a sentence, by a model if there is one. Throws `invalid_input` for a
   * wrong option.
   */
  answer(question: string, options?: RecallOptions): Promise<Answer>;
  /**
   * What a model is told before it answers a request: how the user wants to be answered, a short profile, and all that
   * bears on the request, within `maxTokens` (1,500). Nothing that no longer holds. Only reads. Throws `invalid_input` for
   * a wrong option.
   */
  context(request: string, options?: ContextOptions): Promise<PromptContext>;
  /** The same, with the text in parts. The return value is that of `answer`. */
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
  /**
   * Erases content everywhere, verifies that, and returns a signed receipt. With `dryRun`, only reports what it
   * would erase. Throws `invalid_input` for an empty request, and `not_found` for an unknown id; nothing is
   * erased then.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * await ana.remember("I live in Porto.");
   * const plan = await ana.forget("Porto", { dryRun: true });
   * console.log(plan.memories.map(({ text }) => text));
   * const receipt = await ana.forget("Porto");
   * console.log(receipt.erased.memories, receipt.complete);
   * ```
   *
   * ```text
   * [ 'The user lives in Porto.' ]
   * 1 true
   * ```
   */
  forget(what: Forget, options: CallOptions & { dryRun: true }): Promise<ErasurePlan>;
  forget(what: Forget, options?: CallOptions & { dryRun?: false }): Promise<ErasureReceipt>;
  /** The receipts of this user's erasures, oldest first. */
  erasures(options?: CallOptions): Promise<ErasureReceipt[]>;
  /** Returns one memory with its sources. Throws `not_found`. */
  get(id: string, options?: CallOptions): Promise<ShownMemory>;
  /** Lists memories, the newest first. `await` gives a page, `for await` gives all. */
  list(options?: ListOptions): Listing;
  /** Removes a memory by hand, for example to correct a slip; `undo` restores it. This is not an erasure. */
  remove(id: string, options?: CallOptions): Promise<Receipt>;
  /** Changes fields of a memory by hand, as a new version. Throws `not_found`, and `invalid_input` for a wrong field. */
  update(id: string, changes: MemoryChanges, options?: CallOptions): Promise<Receipt>;
  /**
   * Associates a memory with another, or changes the strength of their association. What `depends_on` or is
   * `derived_from` another memory is marked for review when that one changes. Throws `not_found` for an unknown id.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * const idOf = async (text: string) => (await ana.add({ text })).memories[0]?.id ?? "";
   * const home = await idOf("The user lives in Porto.");
   * const gym = await idOf("The user trains at the gym in Porto.");
   * await ana.link(gym, home, { type: "depends_on", strength: 0.9 });
   * const { items } = await ana.related(home);
   * console.log(items.map(({ memory: { text }, strength }) => [text, strength]));
   * ```
   *
   * ```text
   * [ [ 'The user trains at the gym in Porto.', 0.9 ] ]
   * ```
   */
  link(from: string, to: string, options?: LinkOptions): Promise<LinkReceipt>;
  /** Removes the associations from a memory to another. Throws `not_found` if there is none. */
  unlink(from: string, to: string, options?: UnlinkOptions): Promise<LinkReceipt>;
  /** Lists stored associations, all or those of one memory. */
  links(options?: LinkListOptions): Promise<Page<MemoryLink>>;
  /**
   * Finds memories that are associated with one, also through others up to `depth`, strongest first. Throws
   * `not_found` for an unknown id.
   */
  related(id: string, options?: RelatedOptions): Promise<RelatedMemories>;
  /** All versions of one memory, oldest first; or what happened to the user's memory, newest first. */
  history(id: string, options?: CallOptions): Promise<Memory[]>;
  history(id?: undefined, options?: CallOptions & { before?: number; limit?: number }): Promise<LogEntry[]>;
  /**
   * The user's revision: 0 before the first write, and one more with each. The fastest way to detect writes.
   */
  revision(options?: CallOptions): Promise<number>;
  /**
   * Reverts a revision. Throws `not_found` for an unknown one, `conflict` if something later changed the same
   * memory, and `unsupported` for an erasure.
   */
  undo(revision: number, options?: CallOptions): Promise<Receipt>;
  /**
   * Removes expired memories from the search, merges duplicates, reports faded ones, and archives old,
   * unimportant and unused ones. Nothing is erased: `undo` restores everything. Try `dryRun` first.
   */
  optimize(options?: OptimizeOptions): Promise<Optimized>;
  /** Returns a short page about the user, of current memories. */
  profile(options?: ProfileOptions): Promise<Profile>;
  /** The user's sessions, most recently used first. */
  sessions(options?: PageOptions): Promise<Page<SessionSummary>>;
  /** The messages of a session. Throws `not_found` if it has none. */
  session(id: string, options?: PageOptions): Promise<Session>;
  /** Counts of what is stored, and the cost of model calls. */
  stats(options?: StatsOptions): Promise<UserStats>;
  /** Yields everything stored about the user, line by line, for JSON Lines. */
  export(options?: CallOptions): AsyncIterable<ExportLine>;
  /**
   * Stores messages of a source in batches, and yields the progress. An interrupted import is completed by
   * running it again.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * const messages = [{ id: "1", role: "user" as const, content: "I live in Porto." }];
   * for await (const { done, stored, known } of ana.import(messages)) console.log(done, stored, known);
   * ```
   *
   * ```text
   * false 1 0
   * true 1 0
   * ```
   */
  import(
    source: AsyncIterable<InputMessage> | Iterable<InputMessage>,
    options?: ImportOptions,
  ): AsyncIterable<ImportProgress>;
}

/** A reply to a turn of a conversation. */
export interface Reply extends AnsweredBy {
  /** The reply, for the user. */
  readonly text: string;
  /** What the message changed. */
  readonly receipt: Receipt;
  /** The message's position in the stored order of the user's messages, from 1. */
  readonly turn: number;
  /** The basis of the reply: the answer if the message was a question, or what a model's reply used. */
  readonly answer?: Answer;
}
