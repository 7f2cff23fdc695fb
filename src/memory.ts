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
 * A port; or a function that makes it, for those that ask a model's server: what it is given has every request noted, and
 * stops where a budget is used up. `model: (hooks) => openaiModel({ apiKey, ...hooks })`.
 */
export type Made<Port> = Port | ((hooks: CallHooks) => Port | Promise<Port>);

export interface MemoryOptions {
  /** The database file (`keepsake.db`); ":memory:" keeps nothing. */
  readonly path?: string;
  /**
   * Another record than the file: that of `keepsake/adapters/postgres`, or your own. `record: () => openPostgresRecord({ pool })`
   * is closed with the memory, as everything is that a function opens.
   */
  readonly record?: Opened<MemoryStore & { readonly calls?: Calls }>;
  /** Vector indexes beside the record, fed from its log: `chromaFollower({ client })` of `keepsake/adapters/chroma`. */
  readonly index?: Opened<VectorIndex> | readonly Opened<VectorIndex>[];
  /**
   * From how many search units of a user on an index is asked (50,000); and how long a recall (50) and an erasure (5,000) wait for it,
   * in ms.
   */
  readonly indexSearch?: { readonly from?: number; readonly timeoutMs?: number; readonly erasureMs?: number };
  /** What was said last, for a day: `redisSessions({ client })` of `keepsake/adapters/redis`; in this process where absent. */
  readonly sessions?: Opened<Sessions>;
  /** Tells others on the same record that there is work in the background: `bullmqQueue` of `keepsake/adapters/bullmq`. */
  readonly queue?: Opened<Queue>;
  /** Where the work of the background is done: "here" (the default), or "elsewhere", by `keepsake worker` or another program. */
  readonly jobs?: "here" | "elsewhere";
  /** What several servers share of what they worked out: `redisCache({ client })` of `keepsake/adapters/redis`. */
  readonly cache?: Opened<Cache>;
  /** How often a user is served before what is known of them is shared through the cache (5). */
  readonly hotAfter?: number;
  readonly embedder?: Made<Embedder>;
  /**
   * Who understands what is said: `rules` within the write; the `model` later, in its own time; or `both`, which it is where
   * there is a model. Requests to forget are always carried out by rules, at once. Extractors of your own, one or two, take the
   * place of the rules and, where one asks a server, of the model.
   */
  readonly extractor?: "rules" | "model" | "both" | Made<Extractor | readonly Extractor[]>;
  /** Answers questions and understands; without, answers are composed from memory. */
  readonly model?: Made<LanguageModel>;
  /** Prices, budgets and for how long calls are kept. */
  readonly costs?: CostOptions;
  /** How long the first word of the model's answer is waited for, and the last, in ms (15,000 and 40,000). */
  readonly patience?: { readonly first: number; readonly whole: number };
  /** The ledger of calls to models; in the record's own file, where it is SQLite's. */
  readonly calls?: Calls;
  /** Counts what happens: `prometheusMeter()` of `keepsake/adapters/prometheus`, or your own. */
  readonly meter?: Meter;
  /** Tells of it as spans: `otelTracer()` of `keepsake/adapters/opentelemetry`. */
  readonly tracer?: Tracer;
  readonly questions?: QuestionReader;
  /**
   * What takes long is done in threads of their own, where the record is a file and the rules read: for a server, so that a slow disk
   * or a long message holds up nobody else. Where there are many recalls, these are carried out in processes of their own.
   */
  readonly inThreads?: boolean;
  /** Memory for the users served last, about, in bytes (256,000,000). */
  readonly cacheBytes?: number;
  /**
   * Called when the disk fails to make a change durable. Every write is `unavailable` from then on, until the memory is closed and
   * opened again; a server should end. Only where the record is a file.
   */
  readonly onSyncFailure?: () => void;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Keys tombstones and receipts: a text of at least 16 characters; else a file beside the database holds one. */
  readonly secret?: Secret | string;
  /** False keeps credentials in messages word for word; else API keys, tokens, private keys and card numbers are left out. */
  readonly redact?: boolean;
  /** In so many days being new comes to count half as much in a recall (90). */
  readonly decayDays?: number;
  /** True archives what the clean-up finds by itself; else it is counted, and `optimize` carries it out. */
  readonly cleanUp?: boolean;
  /** What was erased, outside of the record; a file beside the database, where there is one. */
  readonly ledger?: Ledger;
}

/** Wires the engine to its ports. Each has a default in this process, so `createMemory()` runs alone. */
export async function createMemory(options: MemoryOptions = {}): Promise<Keepsake> {
  if (options.decayDays !== undefined) checkCount(options.decayDays, "decayDays", 1, 36_500);
  const opening = createResourceOwner();
  try {
    return await wireMemory(options, opening);
  } catch (error) {
    // What it failed with says more than what closing would.
    await opening.close().catch(() => {});
    throw error;
  }
}

async function wireMemory(options: MemoryOptions, opening: ResourceOwner): Promise<Keepsake> {
  const given = options.clock ?? systemClock;
  const clock = options.meter ? watchClock(given, options.meter) : given;
  const path = options.path ?? "keepsake.db";
  const ids = options.ids ?? uuidv7(clock);
  const isKept = !options.record && path !== ":memory:";
  const secretHeld = createSecretLoader(options, isKept ? `${path}.secret` : undefined);
  const damage = createDamageCounter(options.meter);
  const { record, calls } = await openStore(options, opening, {
    path,
    digestKey: () => digestKeyOf(secretHeld().secret),
    onDamage: damage.count,
    ...(options.onSyncFailure ? { onSyncFailure: options.onSyncFailure } : {}),
  });
  await refuseUnfinishedCopy(record);
  const costs = createCosts(options, { calls, clock, ids });
  opening.own(costs);
  const erasures = createErasureWatch();
  const servers = createModelServers();
  const understanding = await openLanguagePorts(options, createCallHooks(costs, options.meter), {
    erasures,
    servers,
  });
  const { secret } = secretHeld();
  const notices = await getSecretNotices(record, secretHeld().isNew);
  const ledger =
    options.ledger ?? (isKept ? fileLedger(`${path}.erasures`, await record.identity()) : undefined);
  const besides = await openConfiguredStores(options, opening, clock);
  const apart = { ...understanding, ...besides, digestKey: digestKeyOf(secret) };
  const recaller = await openRecallWorkers({ ...options, meter: damage.meter }, path, apart, opening);
  const states = openUserStates(options, record, { ...understanding, ...besides }, recaller);
  const deaf = record.watchErasures?.((scope) => {
    void states.purgeUser(scope);
    void erasures.notify(scope);
  });
  opening.own({ close: async () => deaf?.() });
  const plain: Ports = {
    record,
    ...understanding,
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
    ...besides,
    modelServers: servers,
    damagedRows: damage.rows,
    secretState: await getSecretState(record, secretHeld().isNew),
    ...(recaller ? { recaller } : {}),
    states: opening.own(states),
    erasureWatch: erasures,
  };
  const { ports, close } = openSecondaryStores(plain);
  opening.own({ close });
  const told = [...notices, ...formatReplayNotices(await replayLedger(ports))];
  await finishInterruptedErasures(ports);
  return createKeepsake(ports, { notices: told, release: opening.close });
}

const CACHE_BYTES = 256_000_000;
/** Of the memory for users: searches know of them what search needs, and writes that and the rest. */
const RECALL_WORKERS_SHARE = 1 / 3;

/** Who carries out recalls for this process: where the record is a file, and all else that a recall asks is a part of the program. */
async function openRecallWorkers(
  { inThreads, record, questions, meter, decayDays, cacheBytes = CACHE_BYTES }: MemoryOptions,
  path: string,
  { embedder, followers, digestKey }: Pick<Ports, "embedder" | "followers"> & { readonly digestKey: string },
  opening: ResourceOwner,
): Promise<RecallWorkers | undefined> {
  if (!inThreads || record || path === ":memory:" || questions || followers) return undefined;
  const share = cacheBytes * RECALL_WORKERS_SHARE;
  // A library begins no processes, and loads nothing that could.
  const { createRecallWorkers: recallingApart } = await import("./wiring/recall-workers.ts");
  const recaller = recallingApart({ path, embedder, decayDays, meter, cacheBytes: share, digestKey });
  return recaller && opening.own(recaller);
}

function openUserStates(
  options: MemoryOptions,
  record: MemoryStore,
  known: Pick<Ports, "embedder" | "cache">,
  recalling: RecallWorkers | undefined,
): UserStates {
  const { meter, cacheBytes = CACHE_BYTES } = options;
  return createUserStates(record, known.embedder, {
    bytes: () => cacheBytes * (recalling?.hasStarted() ? 1 - RECALL_WORKERS_SHARE : 1),
    ...(meter ? { meter } : {}),
    sharing: toSharing(known, options),
  });
}

function toSharing({ cache }: Pick<Ports, "cache">, { hotAfter }: MemoryOptions): SharingOptions | undefined {
  return cache && { cache, ...(hotAfter === undefined ? {} : { hotAfter }) };
}

/** What stands beside the record. */
async function openConfiguredStores(
  { index, sessions, queue, cache }: MemoryOptions,
  opening: ResourceOwner,
  clock: Clock,
): Promise<Pick<Ports, "followers" | "sessions" | "hasOwnSessions" | "queue" | "cache">> {
  const followers: VectorIndex[] = [];
  for (const one of index === undefined ? [] : [index].flat()) followers.push(await opening.open(one));
  const found = {
    sessions: (await opening.open(sessions)) ?? memorySessions({ clock }),
    queue: await opening.open(queue),
    cache: await opening.open(cache),
  };
  return {
    ...(followers.length > 0 ? { followers } : {}),
    sessions: found.sessions,
    hasOwnSessions: sessions !== undefined,
    ...(found.queue ? { queue: found.queue } : {}),
    ...(found.cache ? { cache: found.cache } : {}),
  };
}

/** Of a record that keeps no ledger: so many are remembered while the program runs. */
const MOST_CALLS = 50_000;

async function openStore(
  { record, calls, inThreads }: MemoryOptions,
  opening: ResourceOwner,
  file: SqliteOptions,
): Promise<{ readonly record: MemoryStore; readonly calls: Calls }> {
  const openFile = inThreads ? openSqliteStoreInThread : openSqliteStore;
  const found = record ? await opening.open(record) : opening.own(await openFile(file));
  return { record: found, calls: calls ?? found.calls ?? memoryCalls({ most: MOST_CALLS }) };
}

function createCosts(
  { meter, tracer, costs = {} }: MemoryOptions,
  ports: Parameters<typeof createCostTracker>[0],
): CostTracker {
  return createCostTracker({ ...ports, ...(meter ? { meter } : {}), ...(tracer ? { tracer } : {}) }, costs);
}

/** What adapters that ask a server are handed. */
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

/** What goes to the engine as it was given. */
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

function formatReplayNotices({
  replayedCount: again,
  unplacedCount: unplaced,
  wasLost,
}: LedgerReplay): string[] {
  return [
    ...(again > 0
      ? [`The database is an older copy: ${again} of the erasures made since then were done again.`]
      : []),
    ...(unplaced > 0 ? [UNPLACED_NOTICE] : []),
    ...(wasLost ? [LOST_LEDGER_NOTICE] : []),
  ];
}

const UNPLACED_NOTICE =
  "Some words that were erased could not be found again in this copy, for its messages are other ones. Look at what " +
  "is there, and forget again what should be gone.";

const LOST_LEDGER_NOTICE =
  "The ledger of erasures beside the database was missing and has been made anew from the database. If the database is " +
  "an older copy, what was erased after it was made is back: forget it again, or put the ledger back.";
