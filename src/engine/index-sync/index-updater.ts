import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { JobProgressPage } from "../../ports/stores/job-store.ts";
import type { VectorIndex, VectorIndexEntry } from "../../ports/vector-index.ts";
import { runInUserQueue } from "../change-set.ts";
import type { Job, JobStep } from "../jobs/job.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { callIndex } from "./call-index.ts";
import {
  createIndexCursors,
  ensureMarked,
  type IndexCursors,
  type IndexJobName,
  resetIndex,
  toIndexJobName,
} from "./index-cursors.ts";
import { toIndexChanges } from "./index-entries.ts";

/** Feeds one index from the store. */
export interface IndexUpdater {
  readonly name: IndexJobName;
  readonly index: VectorIndex;
  readonly cursors: IndexCursors;
  readonly job: Job;
  /** Prepares the index once per process: an erasure may come before any feed. */
  prepare(options: CallOptions): Promise<void>;
  /**
   * Verifies that the index was filled from this store and matches its cursors. Clears it if not, or if
   * `anew` is set.
   */
  ensureReady(signal: AbortSignal, options?: { readonly anew: boolean }): Promise<void>;
  /** Whether the index is known to be filled from this store. */
  isOurs(): boolean;
  /** Marks a user as changed; the next run indexes the changes. */
  markChanged(scope: Scope): void;
  /** Requests a check of all users because the index seems wrong. Gives the milliseconds until it may run. */
  requestFullCheck(): number;
  /** Number of users with known writes that are not indexed yet. */
  countBehind(): number;
  /** Excludes erased ids, so that no entry read earlier is put under them. */
  exclude(scope: Scope, ids: readonly string[]): void;
  /**
   * Indexes the changes of a user since a revision. Yields the number of entries put and dropped by each
   * call.
   */
  feed(scope: Scope, from: number, signal: AbortSignal): AsyncGenerator<number, void, void>;
}

type UpdaterPorts = Pick<Ports, "store" | "embedder">;

/** How often to look for writes of other processes; a process's own writes are reported at once. */
const EVERY_MS = 60_000;
/** Minimum interval between checks of all users, however often something looks wrong. */
const SUSPECTED_AGAIN_MS = 10_000;

/** What an updater knows about its index and the users to feed. */
interface UpdaterState {
  /** Users with writes that this process knows of. */
  readonly changedUsers: Map<string, Scope>;
  /** Whether the index matches its cursors, as far as is known. */
  isReady: boolean;
  isPrepared: boolean;
  isOurs: boolean;
  /** Time of the last check of all users. */
  roundAt: number;
}

export function createIndexUpdater(ports: UpdaterPorts, index: VectorIndex): IndexUpdater {
  const name = toIndexJobName(index);
  const cursors = createIndexCursors(ports.store.jobs, name);
  const excludedByUser = new Map<string, Set<string>>();
  const known: UpdaterState = {
    changedUsers: new Map(),
    isReady: false,
    isPrepared: false,
    isOurs: false,
    roundAt: Number.NEGATIVE_INFINITY,
  };
  const feeder: IndexUpdater = {
    name,
    index,
    cursors,
    job: {
      name,
      about: `brings the index "${index.name}" up to date with the database`,
      everyMs: EVERY_MS,
      isShared: true,
      restFactor: 0,
      run: (signal) => runUpdater(ports, feeder, known, signal),
      countLeft: async () => known.changedUsers.size,
    },
    async prepare(options) {
      if (known.isPrepared) return;
      const { embedder } = ports;
      await index.prepare({ fingerprint: spaceOf(embedder), dimensions: embedder.dimensions }, options);
      known.isPrepared = true;
    },
    async ensureReady(signal, { anew } = { anew: false }) {
      if (anew) await resetIndex(ports, index, signal);
      // The cached cursors belong to the earlier state of the index.
      if (anew || (await ensureMarked(ports, index, signal))) cursors.clear();
      Object.assign(known, { isReady: true, isPrepared: true, isOurs: true });
    },
    isOurs: () => known.isOurs,
    markChanged: (scope) =>
      void known.changedUsers.set(toScopeKey(scope), { project: scope.project, user: scope.user }),
    requestFullCheck() {
      known.isReady = false;
      return Math.max(0, known.roundAt + SUSPECTED_AGAIN_MS - performance.now());
    },
    countBehind: () => known.changedUsers.size,
    exclude(scope, ids) {
      const excluded = excludedByUser.get(toScopeKey(scope));
      for (const id of ids) excluded?.add(id);
    },
    async *feed(scope, from, signal) {
      const mine = new Set<string>();
      excludedByUser.set(toScopeKey(scope), mine);
      try {
        for await (const step of feedUser({ ports, index, scope, excluded: mine, signal }, from)) {
          if (step.isWhole) cursors.advance(scope, step.revision);
          yield step.entries;
        }
      } finally {
        excludedByUser.delete(toScopeKey(scope));
      }
    },
  };
  return feeder;
}

async function* runUpdater(
  ports: UpdaterPorts,
  feeder: IndexUpdater,
  known: UpdaterState,
  signal: AbortSignal,
): AsyncGenerator<JobStep, void, void> {
  try {
    if (!known.isReady || performance.now() - known.roundAt >= EVERY_MS) {
      await feeder.ensureReady(signal);
      known.changedUsers.clear();
      for await (const { entries } of feedAllUsers(ports, feeder, signal)) yield { done: entries };
      known.roundAt = performance.now();
    }
    yield* feedChangedUsers(feeder, known, signal);
  } catch (error) {
    // Check all users next: this one was taken off the list.
    known.isReady = false;
    throw error;
  }
}

/** Indexes what this process wrote since the last run. */
async function* feedChangedUsers(
  feeder: IndexUpdater,
  { changedUsers: hinted }: UpdaterState,
  signal: AbortSignal,
): AsyncGenerator<JobStep, void, void> {
  let done = 0;
  for (const [key, scope] of hinted) {
    hinted.delete(key);
    for await (const entries of feeder.feed(scope, await feeder.cursors.get(scope), signal)) {
      done += entries;
      yield { done };
    }
  }
}

/** Progress of a check of all users. */
interface UpdateProgress {
  /** Users done, and users known so far. */
  readonly users: number;
  /** Entries put and dropped. */
  readonly entries: number;
}

const USERS = 500;

/**
 * Brings an index up to date with the store for every user. A fault of one user does not delay the others and
 * is thrown at the end.
 */
export async function* feedAllUsers(
  { store }: Pick<Ports, "store">,
  feeder: IndexUpdater,
  signal: AbortSignal,
): AsyncGenerator<UpdateProgress, void, void> {
  await feeder.cursors.flush();
  const failures: unknown[] = [];
  let after: string | undefined;
  let [users, entries] = [0, 0];
  do {
    const page: JobProgressPage = await store.jobs.jobProgress(feeder.name, {
      limit: USERS,
      ...(after === undefined ? {} : { after }),
    });
    for (const user of page.users) {
      signal.throwIfAborted();
      users += 1;
      for await (const more of feedIfBehind(feeder, user, failures, signal)) {
        entries += more;
        yield { users, entries };
      }
    }
    yield { users, entries };
    after = page.cursor;
  } while (after !== undefined);
  await feeder.cursors.flush();
  for (const error of failures) throw error;
}

/** Number of users. */
export async function countUsers(
  { store }: Pick<Ports, "store">,
  { name }: Pick<IndexUpdater, "name">,
): Promise<number> {
  let [users, after]: [number, string | undefined] = [0, undefined];
  do {
    const page: JobProgressPage = await store.jobs.jobProgress(name, {
      limit: USERS,
      ...(after === undefined ? {} : { after }),
    });
    users += page.users.length;
    after = page.cursor;
  } while (after !== undefined);
  return users;
}

async function* feedIfBehind(
  feeder: IndexUpdater,
  { scope, revision, visit }: JobProgressPage["users"][number],
  failures: unknown[],
  signal: AbortSignal,
): AsyncGenerator<number, void, void> {
  const reached = visit?.revision ?? 0;
  feeder.cursors.adopt(scope, reached);
  if (reached === revision) return;
  try {
    // A lower revision than the indexed one means that the store was restored; then everything counts as new.
    yield* feeder.feed(scope, reached > revision ? 0 : reached, signal);
  } catch (error) {
    if (isBlocking(error, signal)) throw error;
    failures.push(error);
  }
}

/** Whether an error affects all users, not only this one. */
function isBlocking(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || !isMemoryError(error)) return true;
  return error.code === "unavailable" || error.code === "forbidden" || error.code === "over_quota";
}

/** Entries in one call. Other calls run in between, and an erasure waits for one call at most. */
const AT_ONCE = 500;
/** A user who writes all the time is left for the next run after this many passes. */
const MOST_LOOKS = 20;
const CALL_MS = 30_000;

interface FeedOptions {
  readonly ports: Pick<Ports, "store" | "embedder">;
  readonly index: VectorIndex;
  readonly scope: Scope;
  /** Ids that were erased after the last read from the store. */
  readonly excluded: Set<string>;
  readonly signal: AbortSignal;
}

interface FeedStep {
  /** The revision that the index has reached, or is reaching. */
  readonly revision: number;
  readonly isWhole: boolean;
  /** Entries put and dropped by this call. */
  readonly entries: number;
}

/**
 * Brings an index up to date for one user, from a revision on. Yields after each call. Safe to interrupt and
 * to repeat: puts are idempotent.
 */
async function* feedUser(feeding: FeedOptions, from: number): AsyncGenerator<FeedStep, void, void> {
  const { ports, index, scope, excluded, signal } = feeding;
  // One call of this user at a time, so that an erasure can run in between.
  const call = (work: (options: CallOptions) => Promise<void>): Promise<void> =>
    runInUserQueue(index, scope, () => callIndex(index, CALL_MS, work, signal));
  let revision = from;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    // Before the read, because its result may contain what is erased meanwhile.
    excluded.clear();
    const delta = await ports.store.since(scope, revision);
    if (delta.revision === revision) return;
    const { put, drop } = await toIndexChanges(ports, scope, delta, index.holdsTexts === true);
    if (drop.length > 0) {
      await call((options) => index.drop(scope, drop, options));
      yield { revision: delta.revision, isWhole: false, entries: drop.length };
    }
    for (let at = 0; at < put.length; at += AT_ONCE) {
      signal.throwIfAborted();
      const some = put.slice(at, at + AT_ONCE);
      await call((options) => index.put(scope, removeExcluded(some, excluded), options));
      yield { revision: delta.revision, isWhole: false, entries: some.length };
    }
    revision = delta.revision;
    yield { revision, isWhole: true, entries: 0 };
  }
}

function removeExcluded(
  entries: readonly VectorIndexEntry[],
  barred: ReadonlySet<string>,
): readonly VectorIndexEntry[] {
  return barred.size === 0 ? entries : entries.filter(({ id }) => !barred.has(id));
}
