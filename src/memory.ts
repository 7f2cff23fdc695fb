import { memoryCalls } from "./adapters/memory/index.ts";
import { memorySessions } from "./adapters/memory/sessions.ts";
import { rulesQuestionReader, warmed } from "./adapters/rules/index.ts";
import { digestKeyOf, fileLedger, openSqliteStore, type SqliteOptions } from "./adapters/sqlite/index.ts";
import { openSqliteStoreInThread } from "./adapters/sqlite/writing-thread.ts";
import { systemClock, uuidv7 } from "./adapters/system/index.ts";
import { checkCount } from "./domain/limits.ts";
import { createModelServers } from "./engine/admin/dependencies.ts";
import type { Keepsake } from "./engine/api.ts";
import { type CostOptions, type CostTracker, createCostTracker } from "./engine/cost/cost-tracker.ts";
import { createErasureWatch } from "./engine/erase/erasure-watch.ts";
import { type LedgerReplay, replayLedger } from "./engine/erase/replay-ledger.ts";
import { finishInterruptedErasures } from "./engine/erase/verify-erasure.ts";
import { createDamageCounter, watchClock } from "./engine/instrumentation.ts";
import { createKeepsake } from "./engine/keepsake.ts";
import type { Ports } from "./engine/ports.ts";
import { openSecondaryStores } from "./engine/secondary-stores/secondary-stores.ts";
import type { SharingOptions } from "./engine/secondary-stores/shared-cache.ts";
import { refuseUnfinishedCopy } from "./engine/transfer/copy-store.ts";
import { createUserStates, type UserStates } from "./engine/user-state/user-state.ts";
import type { Cache } from "./ports/cache.ts";
import type { Embedder } from "./ports/language/embedder.ts";
import type { Extractor } from "./ports/language/extractor.ts";
import type { LanguageModel } from "./ports/language/language-model.ts";
import type { CallHooks, Calls } from "./ports/language/model-calls.ts";
import type { QuestionReader } from "./ports/language/question-reader.ts";
import type { Ledger } from "./ports/ledger.ts";
import type { MemoryStore } from "./ports/memory-store.ts";
import type { Queue } from "./ports/queue.ts";
import type { Sessions } from "./ports/sessions.ts";
import type { Clock, Ids, Secret } from "./ports/system.ts";
import type { Meter, Tracer } from "./ports/telemetry.ts";
import type { VectorIndex } from "./ports/vector-index.ts";
import { openLanguagePorts } from "./wiring/language-ports.ts";
import type { RecallWorkers } from "./wiring/recall-workers.ts";
import { createResourceOwner, type Opened, type ResourceOwner } from "./wiring/resource-owner.ts";
import { createSecretLoader, getSecretNotices, getSecretState } from "./wiring/secret.ts";

/**
 * A port, or a function that creates it. Ports that call a model's server use a function: its hooks record each request
 * and refuse requests once a budget is used up. Example: `model: (hooks) => openaiModel({ apiKey, ...hooks })`.
 */
export type Made<Port> = Port | ((hooks: CallHooks) => Port | Promise<Port>);

export interface MemoryOptions {
  /** The database file (default `keepsake.db`). ":memory:" stores nothing on disk. */
  readonly path?: string;
  /**
   * A memory store instead of the file: that of `keepsake/adapters/postgres`, or your own. A store that a function opens is
   * closed with the memory: `record: () => openPostgresRecord({ pool })`.
   */
  readonly record?: Opened<MemoryStore & { readonly calls?: Calls }>;
  /** Vector indexes, synced from the store's log: `chromaFollower({ client })` of `keepsake/adapters/chroma`. */
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
  readonly embedder?: Made<Embedder>;
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
  readonly questions?: QuestionReader;
  /**
   * Runs slow work in threads, for a server: a slow disk or a long message then does not delay other requests. It applies to
   * a database file and to extraction by rules. Under many recalls, recalls run in separate processes.
   */
  readonly inThreads?: boolean;
  /** Approximate size of the cache of recent users, in bytes (256,000,000). */
  readonly cacheBytes?: number;
  /**
   * Called when the disk fails to make a change durable. From then on, writes throw `unavailable` until the memory is closed
   * and opened again; a server should exit. Only with a database file.
   */
  readonly onSyncFailure?: () => void;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** The key of tombstones and receipts: a text of at least 16 characters. Default: in a file beside the database. */
  readonly secret?: Secret | string;
  /** False stores credentials in messages unchanged. By default API keys, tokens, private keys and card numbers are redacted. */
  readonly redact?: boolean;
  /** Half-life of recency in ranking, in days (90). */
  readonly decayDays?: number;
  /** True archives memories that the clean-up job finds. By default it only counts them, and `optimize` archives them. */
  readonly cleanUp?: boolean;
  /** The erasure ledger, outside the database. Default: a file beside the database file. */
  readonly ledger?: Ledger;
}

/** Opens a memory: wires the engine to its ports. Every port has a default, so `createMemory()` needs no options. */
export async function createMemory(options: MemoryOptions = {}): Promise<Keepsake> {
  if (options.decayDays !== undefined) checkCount(options.decayDays, "decayDays", 1, 36_500);
  const opening = createResourceOwner();
  try {
    return await wireMemory(options, opening);
  } catch (error) {
    // The first error is more useful than one from closing.
    await opening.close().catch(() => {});
    throw error;
  }
}

async function wireMemory(options: MemoryOptions, opening: ResourceOwner): Promise<Keepsake> {
  const baseClock = options.clock ?? systemClock;
  const clock = options.meter ? watchClock(baseClock, options.meter) : baseClock;
  const path = options.path ?? "keepsake.db";
  const ids = options.ids ?? uuidv7(clock);
  const isKept = !options.record && path !== ":memory:";
  const loadSecret = createSecretLoader(options, isKept ? `${path}.secret` : undefined);
  const damage = createDamageCounter(options.meter);
  const { record, calls } = await openStore(options, opening, {
    path,
    digestKey: () => digestKeyOf(loadSecret().secret),
    onDamage: damage.count,
    ...(options.onSyncFailure ? { onSyncFailure: options.onSyncFailure } : {}),
  });
  await refuseUnfinishedCopy(record);
  const costs = createCosts(options, { calls, clock, ids });
  opening.own(costs);
  const erasures = createErasureWatch();
  const servers = createModelServers();
  const languagePorts = await openLanguagePorts(options, createCallHooks(costs, options.meter), {
    erasures,
    servers,
  });
  const { secret } = loadSecret();
  const notices = await getSecretNotices(record, loadSecret().isNew);
  const ledger =
    options.ledger ?? (isKept ? fileLedger(`${path}.erasures`, await record.identity()) : undefined);
  const stores = await openConfiguredStores(options, opening, clock);
  const recallPorts = { ...languagePorts, ...stores, digestKey: digestKeyOf(secret) };
  const recaller = await openRecallWorkers({ ...options, meter: damage.meter }, path, recallPorts, opening);
  const states = openUserStates(options, record, { ...languagePorts, ...stores }, recaller);
  const unsubscribe = record.erasureFeed?.subscribe((scope) => {
    void states.purgeUser(scope);
    void erasures.notify(scope);
  });
  opening.own({ close: async () => unsubscribe?.() });
  const basePorts: Ports = {
    record,
    ...languagePorts,
    costs,
    ...(options.meter ? { meter: options.meter } : {}),
    ...(options.tracer ? { tracer: options.tracer } : {}),
    questions:
      options.questions ?? (options.inThreads ? warmed(rulesQuestionReader()) : rulesQuestionReader()),
    clock,
    ids,
    secret,
    ...toEngineOptions(options),
    ...(ledger ? { ledger } : {}),
    ...stores,
    modelServers: servers,
    damagedRows: damage.rows,
    secretState: await getSecretState(record, loadSecret().isNew),
    ...(recaller ? { recaller } : {}),
    states: opening.own(states),
    erasureWatch: erasures,
  };
  const { ports, close } = openSecondaryStores(basePorts);
  opening.own({ close });
  const allNotices = [...notices, ...formatReplayNotices(await replayLedger(ports))];
  await finishInterruptedErasures(ports);
  return createKeepsake(ports, { notices: allNotices, release: opening.close });
}

const CACHE_BYTES = 256_000_000;
/** The share of recall processes in the cache of users. They hold what search needs; writes need that and the rest. */
const RECALL_WORKERS_SHARE = 1 / 3;

/** Opens recall processes, if the store is a file and recalls need nothing that another process cannot open. */
async function openRecallWorkers(
  { inThreads, record, questions, meter, decayDays, cacheBytes = CACHE_BYTES }: MemoryOptions,
  path: string,
  { embedder, followers, digestKey }: Pick<Ports, "embedder" | "followers"> & { readonly digestKey: string },
  opening: ResourceOwner,
): Promise<RecallWorkers | undefined> {
  if (!inThreads || record || path === ":memory:" || questions || followers) return undefined;
  const share = cacheBytes * RECALL_WORKERS_SHARE;
  // Loaded only here: a library must not start processes, or load code that does.
  const { createRecallWorkers } = await import("./wiring/recall-workers.ts");
  const recaller = createRecallWorkers({ path, embedder, decayDays, meter, cacheBytes: share, digestKey });
  return recaller && opening.own(recaller);
}

function openUserStates(
  options: MemoryOptions,
  record: MemoryStore,
  ports: Pick<Ports, "embedder" | "cache">,
  recallWorkers: RecallWorkers | undefined,
): UserStates {
  const { meter, cacheBytes = CACHE_BYTES } = options;
  return createUserStates(record, ports.embedder, {
    bytes: () => cacheBytes * (recallWorkers?.hasStarted() ? 1 - RECALL_WORKERS_SHARE : 1),
    ...(meter ? { meter } : {}),
    sharing: toSharing(ports, options),
  });
}

function toSharing({ cache }: Pick<Ports, "cache">, { hotAfter }: MemoryOptions): SharingOptions | undefined {
  return cache && { cache, ...(hotAfter === undefined ? {} : { hotAfter }) };
}

/** Opens vector indexes, sessions, the queue and the cache. */
async function openConfiguredStores(
  { index, sessions, queue, cache }: MemoryOptions,
  opening: ResourceOwner,
  clock: Clock,
): Promise<Pick<Ports, "followers" | "sessions" | "hasOwnSessions" | "queue" | "cache">> {
  const followers: VectorIndex[] = [];
  for (const opened of index === undefined ? [] : [index].flat()) followers.push(await opening.open(opened));
  const stores = {
    sessions: (await opening.open(sessions)) ?? memorySessions({ clock }),
    queue: await opening.open(queue),
    cache: await opening.open(cache),
  };
  return {
    ...(followers.length > 0 ? { followers } : {}),
    sessions: stores.sessions,
    hasOwnSessions: sessions !== undefined,
    ...(stores.queue ? { queue: stores.queue } : {}),
    ...(stores.cache ? { cache: stores.cache } : {}),
  };
}

/** The number of calls kept in this process for a store without a log of calls. */
const MOST_CALLS = 50_000;

async function openStore(
  { record, calls, inThreads }: MemoryOptions,
  opening: ResourceOwner,
  file: SqliteOptions,
): Promise<{ readonly record: MemoryStore; readonly calls: Calls }> {
  const openFile = inThreads ? openSqliteStoreInThread : openSqliteStore;
  const store = record ? await opening.open(record) : opening.own(await openFile(file));
  return { record: store, calls: calls ?? store.calls ?? memoryCalls({ most: MOST_CALLS }) };
}

function createCosts(
  { meter, tracer, costs = {} }: MemoryOptions,
  ports: Parameters<typeof createCostTracker>[0],
): CostTracker {
  return createCostTracker({ ...ports, ...(meter ? { meter } : {}), ...(tracer ? { tracer } : {}) }, costs);
}

/** Gives the hooks of adapters that call a server. */
function createCallHooks({ onCall, mayCall }: CostTracker, meter: Meter | undefined): CallHooks {
  if (!meter) return { onCall, mayCall };
  const states = { closed: 0, half_open: 1, open: 2 };
  return {
    onCall,
    mayCall,
    onCircuit: (state, host) => meter.set("llm_circuit_state", states[state], { server: host }),
    onCache: (hits, misses) => {
      meter.count("cache_hits_total", { cache: "vectors" }, hits);
      meter.count("cache_misses_total", { cache: "vectors" }, misses);
    },
  };
}

/** Gives the options that the engine takes unchanged. */
function toEngineOptions({
  redact,
  patience,
  decayDays,
  cleanUp,
  indexSearch,
  jobs,
  inThreads,
}: MemoryOptions): Partial<Ports> {
  return {
    ...(redact === undefined ? {} : { redact }),
    ...(patience === undefined ? {} : { patience }),
    ...(decayDays === undefined ? {} : { decayDays }),
    ...(cleanUp === undefined ? {} : { cleansUp: cleanUp }),
    ...(inThreads ? { watchesDependencies: true } : {}),
    ...(jobs === "elsewhere" ? { leavesJobs: true } : {}),
    ...(indexSearch === undefined ? {} : { indexSearch }),
  };
}

function formatReplayNotices({ replayedCount, unplacedCount, wasLost }: LedgerReplay): string[] {
  return [
    ...(replayedCount > 0
      ? [
          `The database is an older copy: ${replayedCount} of the erasures made since then were applied again.`,
        ]
      : []),
    ...(unplacedCount > 0 ? [UNPLACED_NOTICE] : []),
    ...(wasLost ? [LOST_LEDGER_NOTICE] : []),
  ];
}

const UNPLACED_NOTICE =
  "Some erased words could not be located in this copy, because its messages differ. Check its memories and forget " +
  "again what should be gone.";

const LOST_LEDGER_NOTICE =
  "The erasure ledger beside the database was missing and has been rebuilt from the database. If the database is an " +
  "older copy, data erased since then is back: restore the ledger, or forget the data again.";
