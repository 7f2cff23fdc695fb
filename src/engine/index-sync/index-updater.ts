import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { JobProgressPage } from "../../ports/job-store.ts";
import type { VectorIndex, VectorIndexEntry } from "../../ports/vector-index.ts";
import { runInUserQueue } from "../ingest/change-set.ts";
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

/** Feeds one index from the record. */
export interface IndexUpdater {
  readonly name: IndexJobName;
  readonly index: VectorIndex;
  readonly cursors: IndexCursors;
  readonly job: Job;
  /** Prepares the index where this process has not yet: an erasure may come before anything is fed. */
  prepare(options: CallOptions): Promise<void>;
  /** Makes sure that it is filled from this record, and holds what its cursors say; clears it where it does not, or has to `anew`. */
  ensureReady(signal: AbortSignal, options?: { readonly anew: boolean }): Promise<void>;
  /** Whether the index was seen to be filled from this record. */
  isOurs(): boolean;
  /** Something was written for a user: it is taken in with the next run. */
  markChanged(scope: Scope): void;
  /** Something is wrong with the index: the next run looks at all of it. Gives in how many ms that may be. */
  requestFullCheck(): number;
  /** Users whose writes it knows of and has not taken in. */
  countBehind(): number;
  /** Ids that no entry read before may be put under: they were erased. */
  exclude(scope: Scope, ids: readonly string[]): void;
  /** Takes in what came for a user since a revision. Yields how many entries were put and dropped with each call. */
  feed(scope: Scope, from: number, signal: AbortSignal): AsyncGenerator<number, void, void>;
}

type UpdaterPorts = Pick<Ports, "record" | "embedder">;

/** A process that writes tells by itself; what others have written is looked for so often. */
const EVERY_MS = 60_000;
/** However often something looks wrong, all users are looked at no more than so often for it. */
const SUSPECTED_AGAIN_MS = 10_000;

/** What a feeder knows of its index and of who is to be fed. */
interface UpdaterState {
  /** Users whose writes this process knows of. */
  readonly changedUsers: Map<string, Scope>;
  /** Whether it holds what its cursors say, as far as is known. */
  isReady: boolean;
  isPrepared: boolean;
  isOurs: boolean;
  /** When all users were looked at last. */
  roundAt: number;
}

export function createIndexUpdater(ports: UpdaterPorts, follower: VectorIndex): IndexUpdater {
  const name = toIndexJobName(follower);
  const cursors = createIndexCursors(ports.record, name);
  const barred = new Map<string, Set<string>>();
  const known: UpdaterState = {
    changedUsers: new Map(),
    isReady: false,
    isPrepared: false,
    isOurs: false,
    roundAt: Number.NEGATIVE_INFINITY,
  };
  const feeder: IndexUpdater = {
    name,
    index: follower,
    cursors,
    job: {
      name,
      about: `brings the index "${follower.name}" to where the record is`,
      everyMs: EVERY_MS,
      isShared: true,
      restFactor: 0,
      run: (signal) => runUpdater(ports, feeder, known, signal),
      countLeft: async () => known.changedUsers.size,
    },
    async prepare(options) {
      if (known.isPrepared) return;
      const { embedder } = ports;
      await follower.prepare({ fingerprint: spaceOf(embedder), dimensions: embedder.dimensions }, options);
      known.isPrepared = true;
    },
    async ensureReady(signal, { anew } = { anew: false }) {
      if (anew) await resetIndex(ports, follower, signal);
      // What was noted until now is of the index as it was.
      if (anew || (await ensureMarked(ports, follower, signal))) cursors.clear();
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
      const held = barred.get(toScopeKey(scope));
      for (const id of ids) held?.add(id);
    },
    async *feed(scope, from, signal) {
      const mine = new Set<string>();
      barred.set(toScopeKey(scope), mine);
      try {
        for await (const step of feedUser({ ports, index: follower, scope, excluded: mine, signal }, from)) {
          if (step.isWhole) cursors.advance(scope, step.revision);
          yield step.entries;
        }
      } finally {
        barred.delete(toScopeKey(scope));
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
    // All users are looked at next: this one was taken off the list.
    known.isReady = false;
    throw error;
  }
}

/** What this process wrote since the last run. */
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

/** How far a look at all users is. */
interface UpdateProgress {
  /** Users done, of so many known so far. */
  readonly users: number;
  /** Entries put and dropped. */
  readonly entries: number;
}

const USERS = 500;

/**
 * Brings an index to where the record is for every user who is behind. What is wrong with one of them holds up none of the others,
 * and is thrown at the end.
 */
export async function* feedAllUsers(
  { record }: Pick<Ports, "record">,
  feeder: IndexUpdater,
  signal: AbortSignal,
): AsyncGenerator<UpdateProgress, void, void> {
  await feeder.cursors.flush();
  const failures: unknown[] = [];
  let after: string | undefined;
  let [users, entries] = [0, 0];
  do {
    const page: JobProgressPage = await record.jobProgress(feeder.name, {
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

/** How many users there are. */
export async function countUsers(
  { record }: Pick<Ports, "record">,
  { name }: Pick<IndexUpdater, "name">,
): Promise<number> {
  let [users, after]: [number, string | undefined] = [0, undefined];
  do {
    const page: JobProgressPage = await record.jobProgress(name, {
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
  const seen = visit?.revision ?? 0;
  feeder.cursors.adopt(scope, seen);
  if (seen === revision) return;
  try {
    // A lower revision than the one that was taken in: the record was put back. All of it counts as new then.
    yield* feeder.feed(scope, seen > revision ? 0 : seen, signal);
  } catch (error) {
    if (isBlocking(error, signal)) throw error;
    failures.push(error);
  }
}

/** What hinders all users, and not this one alone. */
function isBlocking(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || !isMemoryError(error)) return true;
  return error.code === "unavailable" || error.code === "forbidden" || error.code === "over_quota";
}

/** Entries in one call: others come in between, and an erasure waits for no more than one of them. */
const AT_ONCE = 500;
/** A user who writes all the time is left for the next run after so many looks. */
const MOST_LOOKS = 20;
const CALL_MS = 30_000;

interface FeedOptions {
  readonly ports: Pick<Ports, "record" | "embedder">;
  readonly index: VectorIndex;
  readonly scope: Scope;
  /** Ids that were erased after the record was last looked at. */
  readonly excluded: Set<string>;
  readonly signal: AbortSignal;
}

interface FeedStep {
  /** The revision that the index has taken in, or is taking in. */
  readonly revision: number;
  readonly isWhole: boolean;
  /** Entries put and dropped by this call. */
  readonly entries: number;
}

/**
 * Brings an index to where the record is for one user, from a revision on. Yields after each call. Safe to break off and to
 * repeat: what was taken in twice is there once.
 */
async function* feedUser(feeding: FeedOptions, from: number): AsyncGenerator<FeedStep, void, void> {
  const { ports, index: follower, scope, excluded: barred, signal } = feeding;
  // One call of this user at a time, between which an erasure finds its place.
  const call = (work: (options: CallOptions) => Promise<void>): Promise<void> =>
    runInUserQueue(follower, scope, () => callIndex(follower, CALL_MS, work, signal));
  let revision = from;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    // Before the look: what is erased while it is on its way may be in it.
    barred.clear();
    const delta = await ports.record.since(scope, revision);
    if (delta.revision === revision) return;
    const { put, drop } = await toIndexChanges(ports, scope, delta, follower.holdsTexts === true);
    if (drop.length > 0) {
      await call((options) => follower.drop(scope, drop, options));
      yield { revision: delta.revision, isWhole: false, entries: drop.length };
    }
    for (let at = 0; at < put.length; at += AT_ONCE) {
      signal.throwIfAborted();
      const some = put.slice(at, at + AT_ONCE);
      await call((options) => follower.put(scope, removeExcluded(some, barred), options));
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
