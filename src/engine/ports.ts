import type { ExpiryPolicy } from "../domain/memories/expiry-policy.ts";
import type { RankingOptions, RerankingOptions } from "../domain/recall.ts";
import type { AgentAccess, Scope } from "../domain/scope.ts";
import type { MemoryError } from "../errors.ts";
import type { BackupPlan } from "../ports/backup-archive.ts";
import type { Cache } from "../ports/cache.ts";
import type { Answerer } from "../ports/language/answerer.ts";
import type { AttachmentDescriber } from "../ports/language/attachment-describer.ts";
import type { NeedReader, OutdatedReader } from "../ports/language/context-readers.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { ForgetRequestReader } from "../ports/language/forget-request-reader.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { ProfileWriter } from "../ports/language/profile-writer.ts";
import type { PromptGuard } from "../ports/language/prompt-guard.ts";
import type { QuestionReader } from "../ports/language/question-reader.ts";
import type { ReplyWriter } from "../ports/language/reply-writer.ts";
import type { Reranker } from "../ports/language/reranker.ts";
import type { Vocabulary } from "../ports/language/vocabulary.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { MemoryStore } from "../ports/memory-store.ts";
import type { Queue } from "../ports/queue.ts";
import type { RecallWorker } from "../ports/recall-worker.ts";
import type { Sessions } from "../ports/sessions.ts";
import type { Clock, Ids, Secret } from "../ports/system.ts";
import type { Meter, Tracer } from "../ports/telemetry.ts";
import type { VectorIndex } from "../ports/vector-index.ts";
import type { WebhookSender } from "../ports/webhook-sender.ts";
import type { ErasureWatch } from "./api/erasure-watch.ts";
import type { SecretState } from "./api/inspection-types.ts";
import type { CostTracker } from "./cost/cost-tracker.ts";
import type {
  ContextBuilder,
  IndexSearchOptions,
  IndexSync,
  ModelServers,
  PendingErasures,
  RecallReceiptStore,
  UsageTracker,
} from "./services.ts";
import type { UserStates } from "./user-state/user-state.ts";

/** The dependencies of the engine. Each method takes the ones it needs. */
export interface Ports {
  readonly store: MemoryStore;
  readonly embedder: Embedder;
  /** The embedders that users and projects may choose instead. */
  readonly embedders?: EmbedderSet;
  /** The ports of a user, with the chosen embedder and what depends on it. Absent if there is only one embedder. */
  readonly ofUser?: (scope: Scope) => Promise<BoundPorts>;
  /** Extracts memories within the write. */
  readonly extractor: Extractor;
  /** Extracts memories later with a model, from messages that `extractor` has already read. */
  readonly modelExtractor?: Extractor;
  readonly questions: QuestionReader;
  /** Composes answers without a model. */
  readonly answerer: Answerer;
  /** Finds statements that a later one has ended. */
  readonly outdated: OutdatedReader;
  /** Finds what requests need without naming it. */
  readonly needs: NeedReader;
  /** Writes the replies of conversations without a model. */
  readonly replies: ReplyWriter;
  /** Writes the lines of profiles. */
  readonly profileWriter: ProfileWriter;
  /** Finds the content that a request to forget means. */
  readonly forgetRequests: ForgetRequestReader;
  /** Finds prompt injections and the words of others. */
  readonly promptGuard: PromptGuard;
  /** Knows relations and common words. */
  readonly vocabulary: Vocabulary;
  /** Answers questions; without a model, answers are composed from memory. */
  readonly model?: LanguageModel;
  /** Time limits for its first word and its last, in ms; 15 and 40 seconds if absent. */
  readonly patience?: { readonly first: number; readonly whole: number };
  /** Tracks the cost of model calls, and whether more may be made. */
  readonly costs?: CostTracker;
  /** Builds what a model is told; absent where a port is tested alone. */
  readonly contexts?: ContextBuilder;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secret: Secret;
  /** False keeps credentials in messages verbatim; otherwise they are removed before anything is stored. */
  readonly redact?: boolean;
  /** Half-life of recency in days (90). */
  readonly decayDays?: number;
  /** When memories expire that are stored without an expiry. */
  readonly expiry?: ExpiryPolicy;
  /** Whether the background executes the clean-up, or leaves it to `optimize`. */
  readonly cleansUp?: boolean;
  /** Describes images and recordings without a description. */
  readonly describer?: AttachmentDescriber;
  /** The bytes of one attachment, and of all attachments of a user (`ATTACHMENT_LIMITS`). */
  readonly attachmentLimits?: { readonly bytes?: number; readonly userBytes?: number };
  /** Vector indexes next to the store, fed from its log. */
  readonly followers?: readonly VectorIndex[];
  /** When they are asked, and for how long. */
  readonly indexSearch?: IndexSearchOptions;
  /** Feeds and queries them; built from the other ports. */
  readonly indexSync?: IndexSync;
  /** The last messages, for a day. */
  readonly sessions?: Sessions;
  /** Whether the sessions are on a separate server. */
  readonly hasOwnSessions?: boolean;
  /** The state of model servers; absent if none is configured. */
  readonly modelServers?: ModelServers;
  /** Number of damaged rows that this process has read. */
  readonly damagedRows?: () => number;
  /** State of the secret ("own"). */
  readonly secretState?: SecretState;
  /** Whether to watch the dependencies; a server does. */
  readonly watchesDependencies?: boolean;
  /** Shared by several servers. */
  readonly cache?: Cache;
  /** Announces background work to other processes, and receives theirs. */
  readonly queue?: Queue;
  /** Whether this process leaves background work to workers on the same store. */
  readonly leavesJobs?: boolean;
  /** Absent if the store keeps nothing. */
  readonly ledger?: Ledger;
  /** Notifies the caches of this process about erasures. */
  readonly erasureWatch?: ErasureWatch;
  /** Each user's data as cached by this process; built from `store`. */
  readonly states: UserStates;
  /** Retries erasures that did not reach the sessions or the cache; built from the other ports. */
  readonly pendingErasures?: PendingErasures;
  /** Executes recalls in other threads; recalls run here if it is absent or fails. */
  readonly recallWorker?: RecallWorker;
  /** Stores the receipts of recalls; built from `store`. Without it, none are stored. */
  readonly recalls?: RecallReceiptStore;
  /** Counts the uses of memories; built from `store`. Without it, none are counted. */
  readonly usage?: UsageTracker;
  /** Whether agents of one user read each other's memories ("walled" if absent). */
  readonly agents?: AgentAccess;
  /** Backups that are made without being asked for. */
  readonly backups?: BackupPlan;
  /** Sends events to webhooks. Without it, none can be registered, and nothing is sent. */
  readonly webhookSender?: WebhookSender;
  /** How recalls rank unless the caller says otherwise. */
  readonly ranking?: RankingOptions;
  /** Reorders the best items of recalls. */
  readonly reranker?: Reranker;
  readonly reranking?: RerankingOptions;
}

/** The ports of a memory that is open. */
export type BoundPorts = Ports & Required<Pick<Ports, "contexts">>;

/** What depends on the embedder of a user: vectors are compared only with vectors of the same one. */
export type EmbedderPorts = Pick<
  Ports,
  "embedder" | "states" | "answerer" | "needs" | "outdated" | "forgetRequests"
>;

/** The embedders besides the default one, with what depends on each. */
export interface EmbedderSet {
  readonly names: readonly string[];
  /** Why some of them could not be opened, by name. */
  readonly failures: ReadonlyMap<string, MemoryError>;
  /** Opens one at its first use. A name that is not among `names` gets an embedder that fails: words are searched. */
  of(name: string): EmbedderPorts;
}
