import type { LogEntry, MemoryLink } from "../../domain/change-set.ts";
import type { ContextOptions, PromptContext } from "../../domain/conversation/context.ts";
import type { SessionStateChanges } from "../../domain/conversation/session-state.ts";
import type { Memory } from "../../domain/memory.ts";
import type { UserStats } from "../../domain/model-usage.ts";
import type { ImportFormatName } from "../../domain/operations/import-format.ts";
import type { Answer, AnsweredBy, Recall, RecallExplanation, RecallOptions } from "../../domain/recall.ts";
import type { ErasurePlan, ErasureReceipt, Receipt } from "../../domain/receipt.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type {
  GrantListOptions,
  Grants,
  NewGrant,
  NewGroup,
  SharedListOptions,
  SharedMemories,
  ShownGrant,
  ShownGroup,
} from "../sharing/sharing-types.ts";
import type {
  ClusterOptions,
  LinkListOptions,
  LinkOptions,
  LinkReceipt,
  MemoryClusters,
  RelatedMemories,
  RelatedOptions,
  UnlinkOptions,
} from "./association-types.ts";
import type { AttachmentListOptions, KeptAttachment, ShownAttachment } from "./attachment-types.ts";
import type {
  FacetOptions,
  Facets,
  Listing,
  ListOptions,
  Page,
  PageOptions,
  ShownMemory,
} from "./listing-types.ts";
import type { Optimized, OptimizeOptions, StatsOptions } from "./maintenance-types.ts";
import type { Profile, ProfileOptions } from "./profile-types.ts";
import type { Reflections, ReflectOptions } from "./reflection-types.ts";
import type { ReplayOptions, ReplayReport } from "./replay-types.ts";
import type {
  ActiveSessionState,
  NewSession,
  Session,
  SessionPageOptions,
  SessionSummary,
  StoredMessage,
} from "./session-types.ts";
import type {
  ExportedPiece,
  ExportFilesOptions,
  ExportLine,
  FileImportOptions,
  ImportOptions,
  ImportProgress,
} from "./transfer-types.ts";
import type {
  ConverseOptions,
  Forget,
  InputMessage,
  MemoryChanges,
  NewMemory,
  RememberOptions,
  Understood,
} from "./writing-types.ts";

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
   * What a model is told before it answers a request, within `maxTokens` (1,500): how the user wants to be answered, a short
   * profile, and all that bears on the request. It contains nothing outdated. Only reads. Throws `invalid_input` for
   * a wrong option.
   */
  context(request: string, options?: ContextOptions): Promise<PromptContext>;
  /** The same, with the text in parts. The return value is that of `answer`. */
  answerStream(question: string, options?: RecallOptions): AsyncGenerator<string, Answer, void>;
  /**
   * One turn of a conversation: stores the message, acts on it, and replies with what was learnt, what was
   * forgotten, or an answer. With a model, the reply is in its words and is stored too.
   */
  converse(message: string, options?: ConverseOptions): Promise<Reply>;
  /**
   * The same, with the reply in parts; the first part comes when the message is stored. The return value is
   * that of `converse`.
   */
  converseStream(message: string, options?: ConverseOptions): AsyncGenerator<string, Reply, void>;
  /**
   * Explains why a recall returned some items and left out others, by the `id` from `recall` or `answer`.
   * With `about`, explains why one memory, passage or message was or was not among them. Covers the user's
   * newest 1,000 recalls.
   */
  explain(recall: string, options?: CallOptions & { about?: string }): Promise<RecallExplanation>;
  /**
   * Erases content everywhere, verifies that, and returns a signed receipt. With `dryRun`, only reports what it
   * would erase. Throws `invalid_input` for an empty request, and `not_found` for an unknown id. Throws `conflict`
   * without erasing anything if `ifRevision` is not the user's revision: a plan of that revision would then erase something else.
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
  forget(
    what: Forget,
    options?: CallOptions & { dryRun?: false; ifRevision?: number },
  ): Promise<ErasureReceipt>;
  /** The receipts of this user's erasures, oldest first. */
  erasures(options?: CallOptions): Promise<ErasureReceipt[]>;
  /** Returns one memory with its sources. Throws `not_found`. */
  get(id: string, options?: CallOptions): Promise<ShownMemory>;
  /** Lists memories, the newest first. `await` gives a page, `for await` gives all. */
  list(options?: ListOptions): Listing;
  /**
   * Counts memories by topic, by person or thing, by kind or by month, with the filters of `list`. Throws `invalid_input` for
   * a wrong option.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * await ana.remember("My sister lives in Porto. I work at Vantor.");
   * const { items } = await ana.facets({ by: "subject" });
   * console.log(items.map(({ value, count }) => `${value}: ${count}`));
   * ```
   *
   * ```text
   * [ 'Porto: 1', 'Vantor: 1', 'user/sister: 1' ]
   * ```
   */
  facets(options: FacetOptions): Promise<Facets>;
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
  /**
   * Groups current memories by topic and names each group. Computed at each call, from the vectors of the embedder. Throws
   * `invalid_input` for a wrong option.
   */
  clusters(options?: ClusterOptions): Promise<MemoryClusters>;
  /**
   * Sums up what the user said, by month and topic, in the words of the memories or, with `by`, of the model, with their ids. Nothing is stored, so it
   * contains nothing that was ended or erased. Throws `invalid_input` for a wrong option.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * await ana.remember("I work at Vantor. My boss is Petra.", { at: "2026-03-02T10:00:00Z" });
   * const { items } = await ana.reflect({ topic: "work" });
   * console.log(items[0]?.text);
   * ```
   *
   * ```text
   * In March 2026, about work: The user's boss is called Petra. The user works at Vantor.
   * ```
   */
  reflect(options?: ReflectOptions): Promise<Reflections>;
  /**
   * Lets another user, or the members of a group, read what the grant covers, until it ends or is withdrawn. Nothing is
   * copied. Throws `invalid_input` for a wrong grant, `not_found` for an unknown group, `over_quota` above 500 grants.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * const ben = memory.scope({ user: "ben" });
   * await ana.add({ text: "The spare key is at the bakery." });
   * await ana.add({ text: "The user has a dentist appointment on Monday." });
   * const grant = await ana.share({ user: "ben", about: ["spare key"] });
   * const ask = async () => (await ben.recall("Where is the spare key?")).items.map(({ text, owner }) => [owner, text]);
   * console.log(await ask(), (await ben.shared()).total);
   * await ana.withdraw(grant.id);
   * console.log(await ask());
   * ```
   *
   * ```text
   * [ [ 'ana', 'The spare key is at the bakery.' ] ] 1
   * []
   * ```
   */
  share(grant: NewGrant, options?: CallOptions): Promise<ShownGrant>;
  /** Ends a grant that the user gave, at once. Throws `not_found`. */
  withdraw(grant: string, options?: CallOptions): Promise<ShownGrant>;
  /** Declines a grant that the user received: nothing of it is recalled. Throws `not_found`. */
  decline(grant: string, options?: CallOptions): Promise<ShownGrant>;
  /** Accepts a grant again that the user declined. Throws `not_found`. */
  accept(grant: string, options?: CallOptions): Promise<ShownGrant>;
  /** The grants that the user gave and received, newest first. */
  grants(options?: GrantListOptions): Promise<Grants>;
  /** Memories that others let this user read, newest first. Throws `not_found` for a grant that is not in force. */
  shared(options?: SharedListOptions): Promise<SharedMemories>;
  /** Makes a group, or replaces the members of the user's group of that name. Throws `invalid_input`, `over_quota`. */
  saveGroup(group: NewGroup, options?: CallOptions): Promise<ShownGroup>;
  /** Deletes a group of the user, with all grants to it. A member leaves the group instead. Throws `not_found`. */
  deleteGroup(group: string, options?: CallOptions): Promise<void>;
  /** The groups that the user made or is in. */
  groups(options?: CallOptions): Promise<readonly ShownGroup[]>;
  /** All versions of one memory, oldest first; or what happened to the user's memory, newest first. */
  history(id: string, options?: CallOptions): Promise<Memory[]>;
  history(id?: undefined, options?: CallOptions & { before?: number; limit?: number }): Promise<LogEntry[]>;
  /**
   * The user's revision: 0 before the first write, and one more with each. The fastest way to detect writes.
   */
  revision(options?: CallOptions): Promise<number>;
  /**
   * Reverts a revision; one of an import reverts the whole import. Throws `not_found` for an unknown one,
   * `conflict` if something later changed the same memory, and `unsupported` for an erasure.
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
  /** The messages of a session. Throws `not_found` if it has none, or not the one to begin with. */
  session(id: string, options?: SessionPageOptions): Promise<Session>;
  /** Returns one message, with its session. Throws `not_found`, also for one that is undone or erased. */
  message(id: string, options?: CallOptions): Promise<StoredMessage>;
  /**
   * Finds messages by the end of their ids: the whole id, or what follows its last dot. In stored order, without those that
   * are undone or erased. Throws `invalid_input` for more than 1,000 endings.
   */
  findMessages(endings: readonly string[], options?: CallOptions): Promise<StoredMessage[]>;
  /**
   * The images and recordings of the user's messages, newest first.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * const dot = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
   * const picture = { type: "image", data: dot, description: "My cat is called Quixote." };
   * await ana.remember({ role: "user", content: [{ type: "text", text: "Look!" }, picture] });
   * const [shown] = (await ana.attachments()).items;
   * console.log(shown?.mediaType, shown?.size, shown?.description);
   * console.log((await ana.answer("What is my cat called?")).text);
   * ```
   *
   * ```text
   * image/gif 42 My cat is called Quixote.
   * Your cat is called Quixote.
   * ```
   */
  attachments(options?: AttachmentListOptions): Promise<Page<ShownAttachment>>;
  /** Returns one attachment, with its bytes if they are kept. Throws `not_found`. */
  attachment(id: string, options?: CallOptions): Promise<KeptAttachment>;
  /** Starts a session: gives it a state, kept for a day after the last change or message. Throws `conflict` if it has one. */
  startSession(session?: NewSession, options?: CallOptions): Promise<ActiveSessionState>;
  /** The state of a session. Throws `not_found` if it has none, or if it has expired. */
  sessionState(id: string, options?: CallOptions): Promise<ActiveSessionState>;
  /** Changes the state of a session: fields left out stay, null removes one. Throws `not_found` if it has none. */
  updateSession(id: string, changes: SessionStateChanges, options?: CallOptions): Promise<ActiveSessionState>;
  /** Ends a session: deletes its state and its short-term messages. The messages stay in the memory. */
  endSession(id: string, options?: CallOptions): Promise<void>;
  /** Counts of what is stored, and the cost of model calls. */
  stats(options?: StatsOptions): Promise<UserStats>;
  /**
   * Repeats the log in an empty memory that is thrown away, and compares each fact with what is stored. Messages are read
   * again, in their order and at their times, by this version. What a model read, a person edited, an import brought or a
   * clean-up merged is taken from the log, as are the results of words that were erased since. Stores nothing. Throws `conflict`
   * if the memory changes meanwhile.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   *
   * await using memory = await createMemory({ path: ":memory:" });
   * const ana = memory.scope({ user: "ana" });
   * await ana.remember("I live in Porto.");
   * await ana.remember("I moved to Lisbon.");
   * const { isEqual, counts } = await ana.replay();
   * console.log(isEqual, counts.messages, counts.same);
   * ```
   *
   * ```text
   * true 2 2
   * ```
   */
  replay(options?: ReplayOptions): Promise<ReplayReport>;
  /**
   * Reads the stored messages with the built-in rules, and again with the model alone, and compares what each learns. Stores
   * nothing; the model's calls cost what they cost. Throws `unsupported` if no model extracts memories.
   */
  compareExtractors(options?: ReplayOptions): Promise<ReplayReport>;
  /** Yields everything stored about the user, line by line, for JSON Lines. */
  export(options?: CallOptions): AsyncIterable<ExportLine>;
  /**
   * Yields everything stored about the user as files of another format: Portable AI Memory with a file for each
   * conversation, or a page of Markdown. `import` reads the first again.
   */
  exportFiles(options: ExportFilesOptions): AsyncIterable<ExportedPiece>;
  /**
   * Stores the messages and memories of a source in batches, and yields the progress. The source is messages, the path of
   * a file, or the bytes of one with `format`. An interrupted import is completed by running it again, which stores
   * nothing twice. One `undo` of its revision takes all of it back. Throws `invalid_input` for a file that it cannot read.
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
  import(
    source: string | AsyncIterable<Uint8Array>,
    options: FileImportOptions & { readonly format: ImportFormatName },
  ): AsyncIterable<ImportProgress>;
}

/** The methods for sharing. */
export type SharingMethods = Pick<
  ScopedMemory,
  "share" | "withdraw" | "decline" | "accept" | "grants" | "shared" | "saveGroup" | "deleteGroup" | "groups"
>;

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
