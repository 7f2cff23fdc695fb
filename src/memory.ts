import { memoryCalls } from "./adapters/memory/index.ts";
import { memorySessions } from "./adapters/memory/sessions.ts";
import { digestKeyOf, fileLedger, openSqliteStore, type SqliteOptions } from "./adapters/sqlite/index.ts";
import { openSqliteStoreInThread } from "./adapters/sqlite/writing-thread.ts";
import { systemClock, uuidv7 } from "./adapters/system/index.ts";
import { ATTACHMENT_LIMITS, MAX_ATTACHMENT_BYTES } from "./domain/attachment.ts";
import { checkCount } from "./domain/limits.ts";
import { checkExpiryPolicy } from "./domain/memories/expiry-policy.ts";
import type { AgentAccess } from "./domain/scope.ts";
import { createModelServers } from "./engine/admin/dependencies.ts";
import { createErasureWatch, type ErasureWatch } from "./engine/api/erasure-watch.ts";
import type { Keepsake } from "./engine/api/keepsake.ts";
import { type CostTracker, createCostTracker } from "./engine/cost/cost-tracker.ts";
import { type LedgerReplay, replayLedger } from "./engine/erase/replay-ledger.ts";
import { finishInterruptedErasures, retryFiles } from "./engine/erase/verify-erasure.ts";
import { createDamageCounter, watchClock } from "./engine/instrumentation.ts";
import type { Ports } from "./engine/ports.ts";
import { checkReranking } from "./engine/recall/rerank.ts";
import { findRankingProfile } from "./engine/recall/scoring.ts";
import { openSecondaryStores } from "./engine/secondary-stores/secondary-stores.ts";
import type { SharingOptions } from "./engine/secondary-stores/shared-cache.ts";
import { refuseUnfinishedCopy } from "./engine/transfer/copy-store.ts";
import { createUserStates, type UserStates } from "./engine/user-state/user-state.ts";
import { invalid, MemoryError } from "./errors.ts";
import type { MemoryOptions } from "./memory-options.ts";
import type { CallHooks, Calls } from "./ports/language/model-calls.ts";
import type { MemoryStore } from "./ports/memory-store.ts";
import type { Clock } from "./ports/system.ts";
import type { Meter } from "./ports/telemetry.ts";
import type { VectorIndex } from "./ports/vector-index.ts";
import { openEmbedderSet } from "./wiring/embedder-set.ts";
import { openEncryption } from "./wiring/encryption.ts";
import { createKeepsake } from "./wiring/keepsake.ts";
import {
  formatEmbedderNotices,
  type NamedEmbedderSet,
  openEmbedderEnglish,
  openEnglish,
  openLanguagePorts,
  openNamedEmbedders,
  openRulesThread,
} from "./wiring/language-ports.ts";
import type { RecallWorkers } from "./wiring/recall-workers.ts";
import { createResourceOwner, type ResourceOwner } from "./wiring/resource-owner.ts";
import { createSecretLoader, getSecretNotices, getSecretState } from "./wiring/secret.ts";

/**
 * Opens a memory: wires the engine to its ports. Every port has a default, so `createMemory()` needs no options. Throws
 * `invalid_input` for a wrong option, `unavailable` if the file is locked or cannot be opened, and `corrupt` if it is damaged.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const ana = memory.scope({ user: "ana" });
 * const receipt = await ana.remember("I moved to Lisbon.");
 * console.log(receipt.memories[0]?.action, receipt.memories[0]?.text);
 * ```
 *
 * ```text
 * added The user moved to Lisbon.
 * ```
 */
export async function createMemory(options: MemoryOptions = {}): Promise<Keepsake> {
  if (options.decayDays !== undefined) checkCount(options.decayDays, "decayDays", 1, 36_500);
  if (options.expiry !== undefined) checkExpiryPolicy(options.expiry);
  if (options.ranking !== undefined) findRankingProfile(options.ranking);
  if (options.reranking !== undefined) checkReranking(options.reranking);
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
  const { path = "keepsake.db" } = options;
  const ids = options.ids ?? uuidv7(clock);
  const isKept = !options.record && path !== ":memory:";
  const loadSecret = createSecretLoader(options, isKept ? `${path}.secret` : undefined);
  const damage = createDamageCounter(options.meter);
  const opened = await openStore(options, opening, {
    path,
    digestKey: () => digestKeyOf(loadSecret().secret),
    onDamage: damage.count,
    ...toFileOptions(options),
  });
  await refuseUnfinishedCopy(opened.record);
  const record = await openEncryption(options, opened.record, { path, loadSecret });
  const costs = createCosts(options, { calls: opened.calls, clock, ids });
  opening.own(costs);
  const erasures = createErasureWatch();
  const servers = createModelServers();
  const hooks = createCallHooks(costs, options.meter);
  const thread = openRulesThread(options, erasures);
  const languagePorts = await openLanguagePorts(options, hooks, { erasures, servers, thread });
  const named = await openNamedEmbedders(options, hooks, { erasures, servers });
  const { secret, isNew } = loadSecret();
  const notices = [...(await getSecretNotices(record, isNew)), ...formatEmbedderNotices(named)];
  const ledger =
    options.ledger ?? (isKept ? fileLedger(`${path}.erasures`, await record.identity()) : undefined);
  const stores = await openConfiguredStores(options, opening, clock);
  const recallPorts = { ...languagePorts, ...stores, digestKey: digestKeyOf(secret) };
  const watched = { ...options, meter: damage.meter };
  const recallWorkers = await openRecallWorkers(watched, path, recallPorts, opening);
  const english = openEnglish(options, languagePorts.embedder, thread);
  const parts = { ...languagePorts, ...stores, ...english, erasures, named, recallWorkers, thread };
  const embedding = openEmbedders(options, opening, record, parts);
  const basePorts: Ports = {
    store: record,
    ...languagePorts,
    costs,
    ...(options.meter ? { meter: options.meter } : {}),
    ...(options.tracer ? { tracer: options.tracer } : {}),
    ...english,
    clock,
    ids,
    secret,
    ...toEngineOptions(options),
    ...(ledger ? { ledger } : {}),
    ...stores,
    modelServers: servers,
    damagedRows: damage.rows,
    secretState: await getSecretState(record, isNew),
    ...(recallWorkers ? { recallWorker: recallWorkers } : {}),
    ...(await openBackupPlan(options, isKept ? { path, digestKey: digestKeyOf(secret), clock } : undefined)),
    ...(await openWebhookSender(options, opening)),
    ...embedding,
    erasureWatch: erasures,
  };
  const { ports, close } = openSecondaryStores(basePorts, retryFiles);
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
  {
    inThreads,
    record,
    questions,
    reranker,
    meter,
    decayDays,
    encryption,
    cacheBytes = CACHE_BYTES,
  }: MemoryOptions,
  path: string,
  { embedder, followers, digestKey }: Pick<Ports, "embedder" | "followers"> & { readonly digestKey: string },
  opening: ResourceOwner,
): Promise<RecallWorkers | undefined> {
  // The processes have no keys.
  if (!inThreads || record || path === ":memory:" || questions || reranker || followers || encryption)
    return undefined;
  const share = cacheBytes * RECALL_WORKERS_SHARE;
  // Loaded only here: a library must not start processes, or load code that does.
  const { createRecallWorkers } = await import("./wiring/recall-workers.ts");
  const recallWorkers = createRecallWorkers({
    path,
    embedder,
    decayDays,
    meter,
    cacheBytes: share,
    digestKey,
  });
  return recallWorkers && opening.own(recallWorkers);
}

const HOUR_MS = 3_600_000;
const EVERY_HOURS = 24;
const KEEP_DAYS = 30;

/** Opens the archive of backups. Throws `unsupported` if the store is not a file here. */
async function openBackupPlan(
  { backups }: MemoryOptions,
  file: { readonly path: string; readonly digestKey: string; readonly clock: Clock } | undefined,
): Promise<Pick<Ports, "backups">> {
  if (!backups) return {};
  if (!file) {
    throw new MemoryError(
      "unsupported",
      "backups: only a database file is backed up here. A database server has backups of its own.",
    );
  }
  const everyHours = checkCount(backups.everyHours ?? EVERY_HOURS, "everyHours", 1, 8760);
  const keepDays = checkCount(backups.keepDays ?? KEEP_DAYS, "keepDays", 1, 3650);
  // Loaded only here: a library must not start processes, or load code that does.
  const { createBackupWorkshop } = await import("./adapters/sqlite/backup-workshop.ts");
  return {
    backups: {
      archive: backups.archive,
      workshop: createBackupWorkshop(file),
      everyMs: everyHours * HOUR_MS,
      keptMs: keepDays * 24 * HOUR_MS,
    },
  };
}

/** Opens what sends events to webhooks. Loaded only here: most programs have none. */
async function openWebhookSender(
  { webhooks }: MemoryOptions,
  opening: ResourceOwner,
): Promise<Pick<Ports, "webhookSender">> {
  if (!webhooks) return {};
  const { createWebhookSender } = await import("./adapters/webhooks/index.ts");
  const webhookSender = createWebhookSender(webhooks);
  opening.own({ close: async () => webhookSender.close() });
  return { webhookSender };
}

/** What the parts that depend on an embedder are opened with. */
interface EmbeddingParts extends Pick<Ports, "embedder" | "cache" | "questions" | "vocabulary"> {
  readonly named: NamedEmbedderSet;
  readonly erasures: ErasureWatch;
  readonly recallWorkers: RecallWorkers | undefined;
  readonly thread: ReturnType<typeof openRulesThread>;
}

/** Opens what depends on each embedder. Erasures of other processes reach all of it. */
function openEmbedders(
  options: MemoryOptions,
  opening: ResourceOwner,
  record: MemoryStore,
  { named, questions, erasures, recallWorkers, thread, ...ports }: EmbeddingParts,
): Pick<Ports, "states" | "embedders"> {
  const share = 1 / (1 + named.opened.size);
  const { states, embedders } = opening.own(
    openEmbedderSet(ports.embedder, {
      named,
      openStates: (embedder) =>
        openUserStates(options, record, { ...ports, embedder }, { recallWorkers, share }),
      openEnglish: (embedder) => openEmbedderEnglish({ ...options, questions }, embedder, thread),
    }),
  );
  const unsubscribe = record.erasureFeed?.subscribe((scope) => {
    void states.purgeUser(scope);
    void erasures.notify(scope);
  });
  opening.own({ close: async () => unsubscribe?.() });
  return { states, ...(embedders ? { embedders } : {}) };
}

function openUserStates(
  options: MemoryOptions,
  record: MemoryStore,
  ports: Pick<Ports, "embedder" | "cache" | "vocabulary">,
  { recallWorkers, share }: { readonly recallWorkers: RecallWorkers | undefined; readonly share: number },
): UserStates {
  const { meter, cacheBytes = CACHE_BYTES } = options;
  return createUserStates(record, ports.embedder, {
    phrases: ports.vocabulary.phrases,
    bytes: () => cacheBytes * share * (recallWorkers?.hasStarted() ? 1 - RECALL_WORKERS_SHARE : 1),
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

function toFileOptions({
  onSyncFailure,
  sqlite: tuning,
}: MemoryOptions): Pick<SqliteOptions, "onSyncFailure" | "tuning"> {
  return { ...(onSyncFailure ? { onSyncFailure } : {}), ...(tuning ? { tuning } : {}) };
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
  ranking,
  reranking,
  agents,
  cleanUp,
  expiry,
  indexSearch,
  jobs,
  inThreads,
  attachments,
}: MemoryOptions): Partial<Ports> {
  return {
    ...(redact === undefined ? {} : { redact }),
    ...(patience === undefined ? {} : { patience }),
    ...(decayDays === undefined ? {} : { decayDays }),
    ...(ranking === undefined ? {} : { ranking }),
    ...(reranking === undefined ? {} : { reranking }),
    ...(agents === undefined ? {} : { agents: checkAgents(agents) }),
    ...(cleanUp === undefined ? {} : { cleansUp: cleanUp }),
    ...(expiry === undefined ? {} : { expiry }),
    ...(attachments === undefined ? {} : { attachmentLimits: toAttachmentLimits(attachments) }),
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

function toAttachmentLimits({
  maxBytes = ATTACHMENT_LIMITS.bytes,
  maxUserBytes = ATTACHMENT_LIMITS.userBytes,
}: NonNullable<MemoryOptions["attachments"]>): NonNullable<Ports["attachmentLimits"]> {
  return {
    bytes: checkCount(maxBytes, "attachments.maxBytes", 0, MAX_ATTACHMENT_BYTES),
    userBytes: checkCount(maxUserBytes, "attachments.maxUserBytes", 0, Number.MAX_SAFE_INTEGER),
  };
}

function checkAgents(agents: unknown): AgentAccess {
  if (agents === "walled" || agents === "shared") return agents;
  throw invalid('agents must be "walled" or "shared".');
}
