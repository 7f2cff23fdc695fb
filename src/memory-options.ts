import type { SqliteTuning } from "./adapters/sqlite/index.ts";
import type { ExpiryPolicy } from "./domain/memories/expiry-policy.ts";
import type { RankingOptions, RerankingOptions } from "./domain/recall.ts";
import type { AgentAccess } from "./domain/scope.ts";
import type { CostOptions } from "./engine/cost/cost-tracker.ts";
import type { BackupArchive } from "./ports/backup-archive.ts";
import type { Cache } from "./ports/cache.ts";
import type { AttachmentDescriber } from "./ports/language/attachment-describer.ts";
import type { Embedder } from "./ports/language/embedder.ts";
import type { Extractor } from "./ports/language/extractor.ts";
import type { LanguageModel } from "./ports/language/language-model.ts";
import type { CallHooks, Calls } from "./ports/language/model-calls.ts";
import type { QuestionReader } from "./ports/language/question-reader.ts";
import type { Reranker } from "./ports/language/reranker.ts";
import type { Ledger } from "./ports/ledger.ts";
import type { MemoryStore } from "./ports/memory-store.ts";
import type { Queue } from "./ports/queue.ts";
import type { Sessions } from "./ports/sessions.ts";
import type { MasterKeyPlace } from "./ports/stores/encryption.ts";
import type { Clock, Ids, Secret } from "./ports/system.ts";
import type { Meter, Tracer } from "./ports/telemetry.ts";
import type { VectorIndex } from "./ports/vector-index.ts";

/**
 * A port, or a function that creates it. Ports that call a model's server use a function: its hooks record each request
 * and refuse requests once a budget is used up. Example: `model: (hooks) => openaiModel({ apiKey, ...hooks })`.
 */
export type Made<Port> = Port | ((hooks: CallHooks) => Port | Promise<Port>);

/** Options of `createMemory`. Each has a default. */
export interface MemoryOptions {
  /** The database file (default `keepsake.db`). ":memory:" stores nothing on disk. */
  readonly path?: string;
  /** Tuning of SQLite, with a database file. */
  readonly sqlite?: SqliteTuning;
  /**
   * A memory store instead of the file: that of `keepsake/adapters/postgres`, or your own. A store that a function opens is
   * closed with the memory: `record: () => openPostgresStore({ pool })`.
   */
  readonly record?: Opened<MemoryStore & { readonly calls?: Calls }>;
  /** Vector indexes, synced from the store's log: `createChromaVectorIndex({ client })` of `keepsake/adapters/chroma`. */
  readonly index?: Opened<VectorIndex> | readonly Opened<VectorIndex>[];
  /**
   * How vector indexes are searched. `from`: the number of a user's search units from which an index is used (50,000).
   * `timeoutMs`, `erasureMs`: how long a recall (50) and an erasure (5,000) wait for it, in ms.
   */
  readonly indexSearch?: { readonly from?: number; readonly timeoutMs?: number; readonly erasureMs?: number };
  /** Recent messages, kept for a day: `redisSessions({ client })` of `keepsake/adapters/redis`. Default: in this process. */
  readonly sessions?: Opened<Sessions>;
  /** Notifies other processes on the same store of background jobs: `bullmqQueue` of `keepsake/adapters/bullmq`. */
  readonly queue?: Opened<Queue>;
  /** Where background jobs run: "here" (the default), or "elsewhere", in `keepsake worker` or another program. */
  readonly jobs?: "here" | "elsewhere";
  /** A cache that several servers share: `redisCache({ client })` of `keepsake/adapters/redis`. */
  readonly cache?: Opened<Cache>;
  /** The number of requests from which a user's state is shared through the cache (5). */
  readonly hotAfter?: number;
  /** Computes vectors of texts. Default: the built-in table of English word vectors, without a network. */
  readonly embedder?: Made<Embedder>;
  /**
   * Further embedders by name, which users and projects may choose instead, while the memory runs: see `memory.embedders`. All
   * processes on a memory store should have the same ones. Where a user's embedder is missing, that user's texts are found by
   * their words. So it is for one that throws `unsupported` or `unavailable` when it is opened; `notices` says why. Vector indexes
   * hold the vectors of `embedder` only; users of the others are searched in this process.
   */
  readonly embedders?: { readonly [name: string]: Made<Embedder> };
  /**
   * Who extracts memories: `rules`, during the write; the `model`, later in the background; or `both`, the default with a
   * model. Rules always execute requests to forget, at once. Your own extractors, one or two, replace the rules and, if
   * one calls a server, the model.
   */
  readonly extractor?: "rules" | "model" | "both" | Made<Extractor | readonly Extractor[]>;
  /** Answers questions and extracts memories. Without a model, answers are composed from memory. */
  readonly model?: Made<LanguageModel>;
  /** Prices, budgets and how long calls are kept. */
  readonly costs?: CostOptions;
  /** How long to wait for the first word of the model's answer, and for the whole answer, in ms (15,000 and 40,000). */
  readonly patience?: { readonly first: number; readonly whole: number };
  /** The log of model calls. Default: with SQLite, in the database file. */
  readonly calls?: Calls;
  /** Records metrics: `prometheusMeter()` of `keepsake/adapters/prometheus`, or your own. */
  readonly meter?: Meter;
  /** Records traces: `otelTracer()` of `keepsake/adapters/opentelemetry`. */
  readonly tracer?: Tracer;
  /** Parses questions, for answers without a model. Default: English, by rules. */
  readonly questions?: QuestionReader;
  /**
   * Runs slow work in threads, for a server: a slow disk, a long message or a request to forget then does not delay other
   * requests. It applies to a database file and to what is read in English. Under many recalls, recalls run in separate
   * processes.
   */
  readonly inThreads?: boolean;
  /**
   * How long an answer waits while others are answered, in ms (2,000), with `inThreads`. After that it is composed without a close
   * reading: it says that it is not certain, and has the trouble `busy`. The message itself is stored and read in any case.
   */
  readonly answerWaitMs?: number;
  /** Approximate size of the cache of recent users, in bytes (256,000,000). */
  readonly cacheBytes?: number;
  /**
   * Called when the disk fails to make a change durable. From then on, writes throw `unavailable` until the memory is closed
   * and opened again; a server should exit. Only with a database file.
   */
  readonly onSyncFailure?: () => void;
  /** The current time. Default: the system's. */
  readonly clock?: Clock;
  /** Creates ids. Default: UUIDv7. */
  readonly ids?: Ids;
  /** The key of tombstones and receipts: a text of at least 16 characters. Default: in a file beside the database. */
  readonly secret?: Secret | string;
  /** False stores credentials in messages unchanged. By default API keys, tokens, private keys and card numbers are redacted. */
  readonly redact?: boolean;
  /** Half-life of recency in ranking, in days (90). */
  readonly decayDays?: number;
  /** How recalls rank unless a call says otherwise: `{ profile: "classic" }`, or with weights of its own. */
  readonly ranking?: RankingOptions;
  /** After how many days memories expire, by kind and project: `{ days: { context: 7 } }`. By default they never do. */
  readonly expiry?: ExpiryPolicy;
  /**
   * Reorders the best items of recalls by reading each with the query: `serverReranker` of `keepsake/adapters/rerank-server`,
   * `crossEncoderReranker` of `keepsake/adapters/cross-encoder`, or your own. Default: none.
   */
  readonly reranker?: Made<Reranker>;
  /** How many items the reranker is given (30), and how long a recall waits for it, in ms (1,000). */
  readonly reranking?: RerankingOptions;
  /**
   * Whether agents of one user share what was said to them. "walled" (the default): a scope with an `agent` reads only what was
   * said to that agent. "shared": it reads everything of the user, and still labels what it stores.
   */
  readonly agents?: AgentAccess;
  /** True archives memories that the clean-up job finds. By default it only counts them, and `optimize` archives them. */
  readonly cleanUp?: boolean;
  /**
   * Describes images and transcribes recordings that came without a description, in the background: `openaiDescriber` of
   * `keepsake/adapters/openai`, or your own. Default: none.
   */
  readonly describer?: Made<AttachmentDescriber>;
  /**
   * Limits on images and recordings. `maxBytes`: of one (8,388,608). `maxUserBytes`: of all of one user (268,435,456).
   */
  readonly attachments?: { readonly maxBytes?: number; readonly maxUserBytes?: number };
  /**
   * Backups of the database file, made in the background and each checked by a restore into a second store: to
   * `folderArchive({ path })` or `s3Archive({ client, bucket })` of `keepsake/adapters/backups`. `everyHours`: from one to the
   * next (24). `keepDays`: how long each is kept (30).
   */
  readonly backups?: {
    readonly archive: BackupArchive;
    readonly everyHours?: number;
    readonly keepDays?: number;
  };
  /**
   * Sends events of changes to webhooks, which `memory.webhooks` registers. They go by HTTPS to public addresses only;
   * `allowsLoopback` also allows this machine (false). Without this option, no webhook can be registered, and nothing is sent.
   */
  readonly webhooks?: { readonly allowsLoopback?: boolean };
  /**
   * Encrypts what users say and what is learnt in the database file, with a key of each user (AES-256-GCM). The keys are in a
   * folder beside the file (`keepsake.db.keys`), wrapped by a master key: `true` derives it from the secret, `masterKeyFile`
   * names a file with 64 hexadecimal digits, and `masterKey` is a key of a service (`awsKmsKeyWrapper`, `vaultKeyWrapper`). An erasure of everything destroys the user's key. Only for a new database file, and
   * without images, recordings and sharing. Default: false.
   */
  readonly encryption?: boolean | MasterKeyPlace;
  /** The erasure ledger, outside the database. Default: a file beside the database file. */
  readonly ledger?: Ledger;
}

/** A port, or a function that opens it. An opened port is closed with the memory; a passed one stays open. */
export type Opened<Port> = Port | (() => Port | Promise<Port>);
