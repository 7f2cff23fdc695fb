/** A wish of the documents that Keepsake was asked to fulfil, and how it is met. */
export interface CoverageRow {
  readonly number: number;
  /** What is asked. */
  readonly asks: string;
  /** `yes`: seen to work wherever a person would use it. `part`: `missing` says what is not there. `no`: not yet. */
  readonly state: "yes" | "part" | "no";
  /** How Keepsake does it; for `no`, nothing. */
  readonly how: string;
  readonly missing?: string;
  /** The test that shows it: its file and its title. Required unless the state is `no`. */
  readonly test?: readonly [file: string, title: string];
}

type RowFields = Omit<CoverageRow, "number" | "state" | "asks" | "how">;

const MET = "yes" as const;
const PARTLY = "part" as const;

function row(
  number: number,
  state: CoverageRow["state"],
  asks: string,
  how: string,
  { missing, test }: RowFields = {},
): CoverageRow {
  return { number, state, asks, how, ...(missing ? { missing } : {}), ...(test ? { test } : {}) };
}

const STORY = "test/e2e/http.test.ts";
const PHRASINGS = "src/engine/samples/phrasings.test.ts";
const USAGE = "src/engine/recall/usage.test.ts";
const OPTIMIZE = "src/engine/jobs/optimize.test.ts";
const STARTS = "test/backends/familiar-starts.test.ts";

/** All rows. A title that is in no test fails a test, so the table cannot promise what is not tested. */
export const COVERAGE_ROWS: readonly CoverageRow[] = [
  row(
    1,
    MET,
    "Facts are learnt from chat",
    "`remember`, `POST /api/v1/messages`, `/message`, `keepsake chat`",
    {
      test: [STORY, "a fact is learnt, answered in a new conversation, changed, and forgotten everywhere"],
    },
  ),
  row(
    2,
    MET,
    "They are recalled in a new conversation",
    "`answer` and `recall` read across sessions; tried with 20 wordings of the question",
    { test: [PHRASINGS, "are answered in a new conversation, however the question is worded"] },
  ),
  row(
    3,
    MET,
    "Saying that something is no longer so removes it",
    "a statement of an end supersedes; history keeps both. Tried with 30 ways to say it, and 10 statements that end nothing",
    { test: [PHRASINGS, "end what is no longer used, and nothing else: %s"] },
  ),
  row(4, MET, "SQLite stores texts and metadata", "one file, the default store", {
    test: ["src/testing/memory-store/write-cases.ts", "applies a change-set completely or not at all"],
  }),
  row(
    5,
    MET,
    "Chroma stores vectors",
    "an index beside the store, fed from its log (`KEEPSAKE_FOLLOWER=chroma`)",
    {
      test: [
        "test/backends/chroma.test.ts",
        "lets no write arrive late behind another when the server stood still",
      ],
    },
  ),
  row(
    6,
    MET,
    "Embeddings by OpenAI's small model",
    "`EMBEDDING_MODEL=text-embedding-3-small`; tested on a scripted server",
    {
      test: [
        "src/adapters/openai/openai.test.ts",
        "sends requests by the protocol, with the key only in the header",
      ],
    },
  ),
  row(7, MET, "A chat model extracts facts", "its proposals are checked against exact quotes", {
    test: [
      "src/adapters/model/model.test.ts",
      "becomes a claim with a generated sentence and the quoted words",
    ],
  }),
  row(8, MET, "GPT answers with the memories in its prompt", "`answer`, `converse` and the proxy", {
    test: [
      "src/engine/conversation/answer-with-model.test.ts",
      "is based on numbered notes, has no marks, and names its source memories",
    ],
  }),
  row(
    9,
    MET,
    "Separate modules for manager, extractor, embedder, stores and model",
    "ports in `src/ports`, each with adapters",
    {
      test: ["test/architecture.test.ts", "imports inwards only"],
    },
  ),
  row(10, MET, "Soft and real deletion", "`remove` with `undo`, and `forget` with a signed receipt", {
    test: ["src/engine/story.test.ts", "erases the matching words from every place, and leaves the rest"],
  }),
  row(
    11,
    MET,
    "Embeddings are cached and requested in batches",
    "a cache of vectors, batches of at most a hundred",
    {
      test: [
        "src/adapters/openai/openai.test.ts",
        "requests each text once, in batches of at most a hundred",
      ],
    },
  ),
  row(
    12,
    PARTLY,
    "Connection pool, PostgreSQL, Pinecone",
    "a pool of `CONNECTION_POOL_SIZE`; PostgreSQL as the store",
    {
      missing: "Pinecone was tried on a server of its protocol only",
      test: [STARTS, "a service on PostgreSQL and Redis with a worker gets there by its calls"],
    },
  ),
  row(13, MET, "Chroma as a server", "`CHROMA_URL`", {
    test: [
      "test/backends/chroma.test.ts",
      "still has what it was told when it is killed, and says meanwhile that it is gone",
    ],
  }),
  row(14, MET, "Memories expire", "`expiresAt`, or a policy by kind and project ([expiry](jobs.md#expiry))", {
    test: [
      "src/engine/ingest/expiry-policy.test.ts",
      "sets the expiry of new memories by kind and group, and leaves other kinds and a given expiry alone",
    ],
  }),
  row(
    15,
    MET,
    "Memories have a confidence",
    "0 to 1, weighed in the ranking; a threshold by `MEMORY_CONFIDENCE_THRESHOLD`",
    {
      test: [
        "src/engine/recall/scoring.test.ts",
        "qualities reduce a score by at most a sixth, so that relevance dominates",
      ],
    },
  ),
  row(
    16,
    MET,
    "Conflicts are resolved",
    "a new value of a one-value relation supersedes the old one, as does the opposite, another favourite, another status, or a correction; tried with 17 pairs",
    { test: [PHRASINGS, "are settled by what was said last: %s Then: %s"] },
  ),
  row(
    17,
    MET,
    "An embedding model per user",
    "`KEEPSAKE_EMBEDDERS`, chosen by a user or a project over HTTP, by `keepsake embedder` or the library ([embedders](embedders.md#an-embedder-for-each-project-or-user))",
    {
      test: [
        "src/engine/embedders.test.ts",
        "change while the memory runs: what is stored is embedded anew, and a search uses one space only",
      ],
    },
  ),
  row(
    18,
    MET,
    "MySQL stores texts and metadata",
    "MariaDB, by MySQL's protocol, as the store ([MariaDB](backends/mariadb.md)): `MEMORY_DB_URL=mysql://…`. No test has run on MySQL itself",
    {
      test: [
        "test/mariadb/command-line.test.ts",
        "remembers, answers and forgets, and a move to a file and back keeps the digest",
      ],
    },
  ),
  row(
    19,
    MET,
    "REST: conversation, memories, search, statistics, optimisation, health, deletion of all",
    "`/api/v1`, with OpenAPI",
    {
      test: ["test/tenants/matrix.test.ts", "has a row for every operation, and none besides"],
    },
  ),
  row(
    20,
    MET,
    "Types: preference, fact, commitment, instruction, entity",
    "kinds of memories, over HTTP also `type`",
    {
      test: ["src/http/app.test.ts", "are of a kind or of a group of kinds, in a write, a list and a search"],
    },
  ),
  row(
    21,
    MET,
    "A score of similarity 0.4, recency 0.3, access 0.2 and confidence 0.1",
    "the ranking `classic`, by setting or per call, with every part in `explain` ([recall](recall.md#ranking))",
    {
      test: [USAGE, "explains every part of each score, at once and later, with %j"],
    },
  ),
  row(22, MET, "PostgreSQL with pgvector", "the store, and an index in it", {
    test: [
      "src/adapters/postgres-index/postgres-index.test.ts",
      "finds a user's nearest entries among those of many others",
    ],
  }),
  row(23, PARTLY, "Pinecone", "an index beside the store", {
    missing: "an account to try it with",
    test: ["src/adapters/pinecone/pinecone.test.ts", "keeps every request within Pinecone's limits"],
  }),
  row(24, MET, "Redis caches", "shared by several servers; it holds copies only", {
    test: ["test/backends/redis.test.ts", "two servers never show what one of them has changed or erased"],
  }),
  row(25, MET, "A queue, and periodic jobs", "background jobs, in the server or in `keepsake worker`", {
    test: [
      "src/engine/jobs/maintenance-job.test.ts",
      "visits every user once, and skips users without changes",
    ],
  }),
  row(26, MET, "Decay, consolidation, clean-up", "`optimize`, and jobs that `undo` reverts", {
    test: [
      "src/engine/jobs/near-duplicates.test.ts",
      "are shown as pairs by a dry run, then merged with the evidence of both",
    ],
  }),
  row(27, MET, "Prometheus metrics by their names", "`GET /metrics`, with the names asked for as well", {
    test: [
      "src/adapters/prometheus/prometheus.test.ts",
      "reports every metric of the table and the process metrics",
    ],
  }),
  row(
    28,
    PARTLY,
    "Grafana and Compose",
    "`compose.yaml`, `deploy/`, each checked against its model: Compose, the dashboard, rules, manifests; the steps of the image run in an empty folder",
    {
      missing: "a run of all containers",
      test: [
        "test/deploy.test.ts",
        "mounts only what is there, and waits only for what says that it is well",
      ],
    },
  ),
  row(
    29,
    MET,
    "Settings by the environment",
    "the usual names, also in `.env`, in one table of [common names](reference/common-names.md)",
    {
      test: [
        "test/e2e/familiar-starts.test.ts",
        "a program with a vector folder, an SQLite file and GPT is told which setting is another one, and gets there",
      ],
    },
  ),
  row(
    30,
    MET,
    "Retries, and work with less when a part is down",
    "circuit breakers; rules and memory take over",
    {
      test: [
        "src/engine/ingest/understand.test.ts",
        "leaves extraction to the rules and messages pending; nothing is lost after it recovers",
      ],
    },
  ),
  row(31, MET, "No personal data in logs", "routes and codes only", {
    test: [
      "src/http/policies.test.ts",
      "contains the route and never values of the path, the query or the body",
    ],
  }),
  row(
    32,
    PARTLY,
    "Targets for recall, latency, false positives, uptime and cost",
    "each is defined and measured in [targets](targets.md)",
    {
      missing: "recall and false positives, on unseen data",
      test: ["scripts/targets.test.ts", "each target is defined, measured, and said to be reached or not"],
    },
  ),
  row(33, MET, "Tenants", "projects, by the key; a matrix of all operations", {
    test: [
      "test/tenants/matrix.test.ts",
      "no key reads or changes another user's data, or learns whether it exists",
    ],
  }),
  row(
    34,
    MET,
    "Memories are shared with consent",
    "[grants](sharing.md) to users and groups: withdrawn and declined at any time, read at each recall, never copied",
    {
      test: [
        "src/engine/sharing/sharing.test.ts",
        "ends with its withdrawal, its time, or when its reader declines it",
      ],
    },
  ),
  row(35, MET, "Versions and rollback", "`history`, `undo`, `asOf`, `knownAt`", {
    test: ["src/engine/story.test.ts", "undo reverts a revision, and undo of the undo restores it"],
  }),
  row(36, MET, "Streamed replies", "`answerStream`, `converseStream`, server-sent events", {
    test: ["src/http/app.test.ts", "streams its reply in parts, and the full response at the end"],
  }),
  row(
    37,
    MET,
    "Images and audio",
    "[parts of messages](attachments.md), kept by digest; described by the caller or by a model, found by that, shown on the page, and erased with their bytes",
    {
      test: [
        "test/e2e/cli-attachments.test.ts",
        "is remembered by its description, listed, saved and erased",
      ],
    },
  ),
  row(
    38,
    MET,
    "Clusters, and pruning by importance",
    "`clusters`, with a name each; clean-up archives old, unimportant, unused memories",
    {
      test: [
        "src/engine/overview/clusters.test.ts",
        "have names that tell them apart, and contain memories about one topic each",
      ],
    },
  ),
  row(
    39,
    MET,
    "Two simple calls: a message, and a request to forget",
    "`POST /message`, `POST /forget`; tried with 8 wordings of the request by each",
    { test: ["src/http/samples.test.ts", "forgets by either call what is asked in these words: %s"] },
  ),
  row(
    40,
    MET,
    "LangChain",
    "a chat history and a retriever ([frameworks](frameworks.md#langchain)); its OpenAI client through the proxy",
    {
      test: [
        "src/adapters/langchain/langchain.test.ts",
        "gives messages as they were added, in their order, and makes memories of what the user says",
      ],
    },
  ),
  row(41, PARTLY, "S3 Vectors", "an index beside the store", {
    missing: "an account; tried on a stand-in",
    test: ["src/adapters/s3-vectors/s3-vectors.test.ts", "keeps every request within the service's limits"],
  }),
  row(
    42,
    MET,
    "Julep",
    "`sessions.chat` of its client with a memory ([frameworks](frameworks.md#julep)); tested with its client and types on a server of its protocol, because the hosted service is closed",
    {
      test: ["test/clients/julep-chat.ts", "Julep, a client with a memory: two conversations and erasures"],
    },
  ),
  row(
    43,
    MET,
    "Conversations, messages and facts in tables; SQLite tuned",
    "sessions, messages and memories; [pragmas as settings](reference/settings.md#sqlite), within what is durable",
    {
      test: [
        "src/adapters/sqlite/open.test.ts",
        "is tuned as the options say, and as durable as without them",
      ],
    },
  ),
  row(
    44,
    MET,
    "Search by metadata and by words in the document",
    "`where` and `whereText` in recall, answers, contexts, lists and erasures, with any store and index ([recall](recall.md#filters))",
    {
      test: [
        "src/engine/recall/matching-units.test.ts",
        "gives the same from a store in memory, a file, and with a vector index",
      ],
    },
  ),
  row(
    45,
    MET,
    "MiniLM; chunks of 512 tokens with 50 shared",
    "the built-in embedder or MiniLM; passages of that size",
    {
      test: [
        "src/adapters/minilm/minilm.test.ts",
        "scores a question near its answer even if they share no word",
      ],
    },
  ),
  row(
    46,
    MET,
    "Sessions in Redis: last 100 messages, a day, clean-up, memory watched",
    "sessions in this process or in Redis, with a state (topic, context, preferences), also by `keepsake session`. The state is for the program that set it: no prompt shows it",
    {
      test: [
        "src/engine/admin/session-states.test.ts",
        "is created, read, changed field by field, and ended",
      ],
    },
  ),
  row(
    47,
    MET,
    "Factual, contextual and session memory",
    "kinds, with `context` among them; states of sessions",
    {
      test: ["src/engine/admin/session-states.test.ts", "expires a day after the last change or message"],
    },
  ),
  row(
    48,
    MET,
    "Backups, VACUUM, file permissions",
    "[backups](backups.md) every day, each checked by a restore; `keepsake vacuum`; files for their owner alone",
    {
      test: [
        "test/crash/backups.test.ts",
        "lets a receipt say which backups still hold what was erased, and until when",
      ],
    },
  ),
  row(49, MET, "Configuration in YAML", "`keepsake.yaml`; the file of the document as it stands", {
    test: ["src/config/common-names.test.ts", "uses the file of an agent as it stands"],
  }),
  row(
    50,
    MET,
    "Episodic, semantic and reflective memories",
    "groups of kinds, wherever a kind is named ([kinds](recall.md#kinds)); `reflect` sums up by month and topic",
    {
      test: [
        "src/engine/overview/reflections.test.ts",
        "sum up a month and a topic in the words of the memories, and name these and their messages",
      ],
    },
  ),
  row(
    51,
    MET,
    "Associations between memories, with a strength",
    "`link`, `unlink`, `links` and `related`, by hand, by a model and inferred; `POST …/links`, `keepsake link`",
    {
      test: [
        "src/engine/associations/associations.test.ts",
        "multiplies the strengths, prefers the strongest way, ends at its depth, and passes cycles",
      ],
    },
  ),
  row(
    52,
    MET,
    "A FAISS index in a file, with a switch for the GPU",
    "an index beside the store (`FAISS_INDEX_PATH`, `USE_GPU`); the start says what is used, and what cannot be",
    {
      test: [
        "test/e2e/start-report.test.ts",
        "says at the start and in /ready that an index cannot be used, and serves without it",
      ],
    },
  ),
  row(
    53,
    MET,
    "Models of sentence-transformers",
    "in this process by transformers.js, by name or from a folder, with dense layers ([embedders](embedders.md#models-of-sentence-transformers)). The download was tried with the package on a server with the hub's addresses, not on the hub itself",
    {
      test: [
        "src/adapters/sentence-transformers/sentence-transformers.test.ts",
        "are applied to the pooled vector in their order, with bias and activation, before the vector gets unit length",
      ],
    },
  ),
  row(
    54,
    MET,
    "`cleanup_old_memories`: clean-up by age and importance, with a dry run",
    "`optimize({ maxAgeDays, minImportance, kinds, dryRun })`, `POST …/optimize`, `keepsake optimize`, and `cleanup_old_memories` of the [Python client](python.md). It deletes no rows: what it archives stays in the history, and `undo` restores it. What was said twice, recalled, edited, associated or is sensitive stays. To erase, use [`forget`](forgetting.md)",
    {
      test: [
        OPTIMIZE,
        "archives by the age, importance and kinds that are named, and still leaves the rest alone",
      ],
    },
  ),
  row(55, MET, "Settings for the database, the index, the model and the GPU", "the same names", {
    test: [STARTS, "an assistant with SQLite and FAISS gets there with its types, associations and clean-up"],
  }),
];
