import { memoryCalls } from "./adapters/memory/index.ts";
import { memorySessions } from "./adapters/memory/sessions.ts";
import { rulesQuestionReader, warmed } from "./adapters/rules/index.ts";
import { digestKeyOf, fileLedger, openSqliteRecord, type SqliteOptions } from "./adapters/sqlite/index.ts";
import { sqliteRecordInThread } from "./adapters/sqlite/writing-thread.ts";
import { systemClock, uuidv7 } from "./adapters/system/index.ts";
import { checkCount } from "./domain/limits.ts";
import { beside } from "./engine/beside/index.ts";
import type { Sharing } from "./engine/beside/shared-blocks.ts";
import { type CostOptions, type Costs, costKeeper } from "./engine/cost/costs.ts";
import { erasureWatch } from "./engine/erasure-watch.ts";
import { type Replayed, replayLedger } from "./engine/forget/replay.ts";
import { endInterrupted } from "./engine/forget/verify.ts";
import { damageCounter } from "./engine/health/damage-counter.ts";
import { modelServers } from "./engine/health/model-servers.ts";
import { keepsake } from "./engine/keepsake.ts";
import type { Ports } from "./engine/ports.ts";
import type { Keepsake } from "./engine/surface.ts";
import { type UserStates, userStates } from "./engine/user-state.ts";
import { watchedClock } from "./engine/watched-clock.ts";
import { refuseHalfMoved } from "./engine/whole/unfinished.ts";
import { heldSecret, secretNotices, secretStateOf } from "./held-secret.ts";
import { type Opened, type Openings, openings } from "./opened.ts";
import type { Cache } from "./ports/cache.ts";
import type { CallHooks, Calls } from "./ports/calls.ts";
import type { Clock } from "./ports/clock.ts";
import type { Embedder } from "./ports/embedder.ts";
import type { Extractor } from "./ports/extractor.ts";
import type { Follower } from "./ports/follower.ts";
import type { Ids } from "./ports/ids.ts";
import type { LanguageModel } from "./ports/language-model.ts";
import type { Ledger } from "./ports/ledger.ts";
import type { Meter } from "./ports/meter.ts";
import type { QuestionReader } from "./ports/question-reader.ts";
import type { Queue } from "./ports/queue.ts";
import type { Record } from "./ports/record.ts";
import type { Secret } from "./ports/secret.ts";
import type { Sessions } from "./ports/sessions.ts";
import type { Tracer } from "./ports/tracer.ts";
import type { Recalling } from "./recalling.ts";
import { understandingOf } from "./understanding.ts";

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
  readonly record?: Opened<Record & { readonly calls?: Calls }>;
  /** Vector indexes beside the record, fed from its log: `chromaFollower({ client })` of `keepsake/adapters/chroma`. */
  readonly index?: Opened<Follower> | readonly Opened<Follower>[];
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
  const opening = openings();
  try {
    return await wired(options, opening);
  } catch (error) {
    // What it failed with says more than what closing would.
    await opening.close().catch(() => {});
    throw error;
  }
}

async function wired(options: MemoryOptions, opening: Openings): Promise<Keepsake> {
  const given = options.clock ?? systemClock;
  const clock = options.meter ? watchedClock(given, options.meter) : given;
  const path = options.path ?? "keepsake.db";
  const ids = options.ids ?? uuidv7(clock);
  const isKept = !options.record && path !== ":memory:";
  const secretHeld = heldSecret(options, isKept ? `${path}.secret` : undefined);
  const damage = damageCounter(options.meter);
  const { record, calls } = await opened(options, opening, {
    path,
    digestKey: () => digestKeyOf(secretHeld().secret),
    onDamage: damage.count,
    ...(options.onSyncFailure ? { onSyncFailure: options.onSyncFailure } : {}),
  });
  await refuseHalfMoved(record);
  const costs = costsOf(options, { calls, clock, ids });
  opening.own(costs);
  const erasures = erasureWatch();
  const servers = modelServers();
  const understanding = await understandingOf(options, hooksOf(costs, options.meter), { erasures, servers });
  const { secret } = secretHeld();
  const notices = await secretNotices(record, secretHeld().isNew);
  const ledger =
    options.ledger ?? (isKept ? fileLedger(`${path}.erasures`, await record.identity()) : undefined);
  const besides = await others(options, opening, clock);
  const apart = { ...understanding, ...besides, digestKey: digestKeyOf(secret) };
  const recaller = await recallerOf({ ...options, meter: damage.meter }, path, apart, opening);
  const states = statesOf(options, record, { ...understanding, ...besides }, recaller);
  const deaf = record.watchErased?.((scope) => {
    void states.cleanse(scope);
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
    ...wished(options),
    ...(ledger ? { ledger } : {}),
    ...besides,
    modelServers: servers,
    damagedRows: damage.rows,
    secretState: await secretStateOf(record, secretHeld().isNew),
    ...(recaller ? { recaller } : {}),
    states: opening.own(states),
    erasureWatch: erasures,
  };
  const { ports, close } = beside(plain);
  opening.own({ close });
  const told = [...notices, ...noticesOf(await replayLedger(ports))];
  await endInterrupted(ports);
  return keepsake(ports, { notices: told, release: opening.close });
}

const CACHE_BYTES = 256_000_000;
/** Of the memory for users: searches know of them what search needs, and writes that and the rest. */
const RECALLING_SHARE = 1 / 3;

/** Who carries out recalls for this process: where the record is a file, and all else that a recall asks is a part of the program. */
async function recallerOf(
  { inThreads, record, questions, meter, decayDays, cacheBytes = CACHE_BYTES }: MemoryOptions,
  path: string,
  { embedder, followers, digestKey }: Pick<Ports, "embedder" | "followers"> & { readonly digestKey: string },
  opening: Openings,
): Promise<Recalling | undefined> {
  if (!inThreads || record || path === ":memory:" || questions || followers) return undefined;
  const share = cacheBytes * RECALLING_SHARE;
  // A library begins no processes, and loads nothing that could.
  const { recallingApart } = await import("./recalling.ts");
  const recaller = recallingApart({ path, embedder, decayDays, meter, cacheBytes: share, digestKey });
  return recaller && opening.own(recaller);
}

function statesOf(
  options: MemoryOptions,
  record: Record,
  known: Pick<Ports, "embedder" | "cache">,
  recalling: Recalling | undefined,
): UserStates {
  const { meter, cacheBytes = CACHE_BYTES } = options;
  return userStates(record, known.embedder, {
    bytes: () => cacheBytes * (recalling?.isBegun() ? 1 - RECALLING_SHARE : 1),
    ...(meter ? { meter } : {}),
    sharing: sharingOf(known, options),
  });
}

function sharingOf({ cache }: Pick<Ports, "cache">, { hotAfter }: MemoryOptions): Sharing | undefined {
  return cache && { cache, ...(hotAfter === undefined ? {} : { hotAfter }) };
}

/** What stands beside the record. */
async function others(
  { index, sessions, queue, cache }: MemoryOptions,
  opening: Openings,
  clock: Clock,
): Promise<Pick<Ports, "followers" | "sessions" | "hasOwnSessions" | "queue" | "cache">> {
  const followers: Follower[] = [];
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

async function opened(
  { record, calls, inThreads }: MemoryOptions,
  opening: Openings,
  file: SqliteOptions,
): Promise<{ readonly record: Record; readonly calls: Calls }> {
  const openFile = inThreads ? sqliteRecordInThread : openSqliteRecord;
  const found = record ? await opening.open(record) : opening.own(await openFile(file));
  return { record: found, calls: calls ?? found.calls ?? memoryCalls({ most: MOST_CALLS }) };
}

function costsOf(
  { meter, tracer, costs = {} }: MemoryOptions,
  ports: Parameters<typeof costKeeper>[0],
): Costs {
  return costKeeper({ ...ports, ...(meter ? { meter } : {}), ...(tracer ? { tracer } : {}) }, costs);
}

/** What adapters that ask a server are handed. */
function hooksOf({ onCall, mayCall }: Costs, meter: Meter | undefined): CallHooks {
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
function wished({
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

function noticesOf({ again, unplaced, wasLost }: Replayed): string[] {
  return [
    ...(again > 0
      ? [`The database is an older copy: ${again} of the erasures made since then were done again.`]
      : []),
    ...(unplaced > 0 ? [UNPLACED] : []),
    ...(wasLost ? [LOST_LEDGER] : []),
  ];
}

const UNPLACED =
  "Some words that were erased could not be found again in this copy, for its messages are other ones. Look at what " +
  "is there, and forget again what should be gone.";

const LOST_LEDGER =
  "The ledger of erasures beside the database was missing and has been made anew from the database. If the database is " +
  "an older copy, what was erased after it was made is back: forget it again, or put the ledger back.";
