import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { JobStore, NewJobProgress } from "../../ports/stores/job-store.ts";
import type { VectorIndex, VectorIndexEntry, VectorIndexUser } from "../../ports/vector-index.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { callIndex } from "./call-index.ts";

/**
 * The progress of an index with each user, cached in this process. It is saved in the store a little later,
 * because each save is a write.
 */
export interface IndexCursors {
  /** The revision up to which the index has all changes; 0 for none. */
  get(scope: Scope): Promise<number>;
  advance(scope: Scope, revision: number): void;
  /** The value in the store is authoritative: another process may have reset it. */
  adopt(scope: Scope, revision: number): void;
  /**
   * Saves the unsaved cursors. A cursor that cannot be saved means that some changes are indexed again later.
   */
  flush(): Promise<void>;
  /** Drops the cache; the store has the cursors. */
  clear(): void;
}

/** Users in the cache; other cursors are read from the store. */
const MAX_KNOWN_USERS = 10_000;
const SAVED_AT_ONCE = 200;
/** In ms. A crash before the save means that the last changes are indexed again. */
const SAVE_AFTER_MS = 1000;

interface UnsavedCursor {
  readonly scope: Scope;
  readonly revision: number;
  /** The value in the store before. */
  readonly from: number;
}

export function createIndexCursors(
  jobs: Pick<JobStore, "userProgress" | "saveProgress">,
  name: IndexJobName,
): IndexCursors {
  const known = new Map<string, number>();
  let unnoted = new Map<string, UnsavedCursor>();
  let timer: NodeJS.Timeout | undefined;

  const keep = (key: string, revision: number): void => {
    known.delete(key);
    known.set(key, revision);
    for (const old of known.keys()) {
      if (known.size <= MAX_KNOWN_USERS) break;
      known.delete(old);
    }
  };
  /**
   * The cursors that no process has reset meanwhile. After a reset the index was cleared and lacks more than
   * our last entries.
   */
  const stillSo = async (some: readonly UnsavedCursor[]): Promise<NewJobProgress[]> => {
    const visits: NewJobProgress[] = [];
    for (const { scope, revision, from } of some) {
      const now = (await jobs.userProgress(name, scope))?.revision ?? 0;
      if (now >= from) visits.push({ scope, visit: { revision } });
      else known.delete(toScopeKey(scope));
    }
    return visits;
  };
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const all = [...unnoted.values()];
    unnoted = new Map();
    for (let at = 0; at < all.length; at += SAVED_AT_ONCE) {
      const some = all.slice(at, at + SAVED_AT_ONCE);
      await stillSo(some)
        .then((visits) => jobs.saveProgress(name, visits))
        .catch(() => {});
    }
  };

  return {
    async get(scope) {
      const key = toScopeKey(scope);
      const knownRevision = known.get(key) ?? unnoted.get(key)?.revision;
      if (knownRevision !== undefined) return knownRevision;
      const revision = (await jobs.userProgress(name, scope))?.revision ?? 0;
      if (!known.has(key)) keep(key, revision);
      return known.get(key) ?? revision;
    },
    advance(scope, revision) {
      const key = toScopeKey(scope);
      const from = unnoted.get(key)?.from ?? known.get(key) ?? 0;
      keep(key, revision);
      unnoted.set(key, { scope: { project: scope.project, user: scope.user }, revision, from });
      timer ??= setTimeout(() => void flush(), SAVE_AFTER_MS).unref();
    },
    adopt(scope, revision) {
      const key = toScopeKey(scope);
      if (!unnoted.has(key)) keep(key, revision);
    },
    flush,
    clear() {
      clearTimeout(timer);
      timer = undefined;
      known.clear();
      unnoted.clear();
    },
  };
}

/** Belongs to no user: projects and users cannot have this name. */
const MARKER_USER: VectorIndexUser = { project: "\u0001", user: "\u0001" };

/** Users whose cursors are reset at once. */
const USERS = 500;
/** Clearing a whole index may take a server this long. */
const CLEAR_MS = 120_000;
const CALL_MS = 30_000;

export type IndexJobName = `following ${string}`;

/** The job name under which the cursors of an index are saved. */
export function toIndexJobName({ name }: Pick<VectorIndex, "name">): IndexJobName {
  return `following ${name}`;
}

type MarkerPorts = Pick<Ports, "store" | "embedder">;

/**
 * Prepares an index and verifies that it was filled from this store and not emptied since. A marker entry
 * shows that; without it the index is cleared and all cursors are reset. Gives whether the marker was there.
 * Throws `invalid_input` if the index was filled from another store. Throws `unavailable` if it cannot be
 * reached or another process is clearing it.
 */
export async function ensureMarked(
  ports: MarkerPorts,
  follower: VectorIndex,
  signal?: AbortSignal,
): Promise<boolean> {
  const { store, embedder } = ports;
  const space = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
  await callIndex(follower, CALL_MS, (options) => follower.prepare(space, options), signal);
  const mark = await store.identity();
  const there = await callIndex(
    follower,
    CALL_MS,
    (options) => follower.held(MARKER_USER, [mark], options),
    signal,
  );
  if (there.length > 0) return false;
  await refuseForeign(follower, signal);
  await resetIndex(ports, follower, signal);
  return true;
}

/**
 * Clears an index and resets all its cursors, whatever its content. If the process is killed in between, the
 * index has no marker, and the next process starts over.
 */
export async function resetIndex(
  ports: MarkerPorts,
  follower: VectorIndex,
  signal?: AbortSignal,
): Promise<void> {
  const { store, embedder } = ports;
  const name = toIndexJobName(follower);
  const lease = await store.jobs.takeLease(`${name}: anew`, { forMs: CLEAR_MS });
  if (lease.token === undefined) {
    throw new MemoryError(
      "unavailable",
      `the index "${follower.name}" is being cleared by another process. Updates continue afterwards.`,
    );
  }
  try {
    const space = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
    await callIndex(follower, CLEAR_MS, (options) => follower.clear(options), signal);
    await callIndex(follower, CALL_MS, (options) => follower.prepare(space, options), signal);
    await resetCursors(store.jobs, name, signal);
    const mark = createMarker(await store.identity(), embedder.dimensions);
    await callIndex(follower, CALL_MS, (options) => follower.put(MARKER_USER, [mark], options), signal);
  } finally {
    await store.jobs.releaseLease(`${name}: anew`, lease.token);
  }
}

/**
 * Makes every index of this store read everything again. After a restore from an older copy, a revision no
 * longer means what an index took in.
 */
export async function resetAllCursors(jobs: JobStore): Promise<void> {
  for (const { name } of await jobs.jobRuns()) {
    if (isIndexJob(name)) await resetCursors(jobs, name);
  }
}

function isIndexJob(name: string): name is IndexJobName {
  return name.startsWith("following ");
}

/** To 0, which is before any revision. */
async function resetCursors(jobs: JobStore, name: IndexJobName, signal?: AbortSignal): Promise<void> {
  let after: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await jobs.jobProgress(name, { limit: USERS, ...(after === undefined ? {} : { after }) });
    const visited = page.users.filter(({ visit }) => visit !== undefined && visit.revision > 0);
    await jobs.saveProgress(
      name,
      visited.map(({ scope }) => ({ scope, visit: { revision: 0 } })),
    );
    after = page.cursor;
  } while (after !== undefined);
}

/** Two databases feeding one index would each clear the other's entries. */
async function refuseForeign(index: VectorIndex, signal?: AbortSignal): Promise<void> {
  const isForeign = await callIndex(
    index,
    CALL_MS,
    async (options) => {
      for await (const page of index.entries(MARKER_USER, options)) if (page.length > 0) return true;
      return false;
    },
    signal,
  );
  if (!isForeign) return;
  throw new MemoryError(
    "invalid_input",
    `the index "${index.name}" is filled from another database. Configure a separate one (a collection, an index, ` +
      `a prefix), or take it over: keepsake reindex --follower ${index.name}`,
  );
}

function createMarker(id: string, dimensions: number): VectorIndexEntry {
  const vector = new Float32Array(dimensions);
  vector[0] = 1;
  return { id, vector, metadata: { type: "memory", owner: id, at: 0 } };
}
