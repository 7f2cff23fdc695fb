import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { JobStore, NewJobProgress } from "../../ports/job-store.ts";
import type { VectorIndex, VectorIndexEntry, VectorIndexUser } from "../../ports/vector-index.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { callIndex } from "./call-index.ts";

/** How far an index is with each user, as this process knows it: noted in the record a little later, for a note is a write. */
export interface IndexCursors {
  /** The revision that the index has taken in as a whole; 0 for none. */
  get(scope: Scope): Promise<number>;
  advance(scope: Scope, revision: number): void;
  /** What the record says now holds: another process may have set it back. */
  adopt(scope: Scope, revision: number): void;
  /** Notes in the record what was not noted yet. What cannot be noted is taken in once more some day. */
  flush(): Promise<void>;
  /** Lets go of all; the record knows. */
  clear(): void;
}

/** So many users are known at once; of others the record is asked. */
const MAX_KNOWN_USERS = 10_000;
const SAVED_AT_ONCE = 200;
/** ms. Until then a crash has what came last taken in twice. */
const SAVE_AFTER_MS = 1000;

interface UnsavedCursor {
  readonly scope: Scope;
  readonly revision: number;
  /** What stood in the record before. */
  readonly from: number;
}

export function createIndexCursors(
  record: Pick<JobStore, "userProgress" | "saveProgress">,
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
  /** Those that nobody has set back meanwhile: then the index was cleared, and what we put is not all that it lacks. */
  const stillSo = async (some: readonly UnsavedCursor[]): Promise<NewJobProgress[]> => {
    const visits: NewJobProgress[] = [];
    for (const { scope, revision, from } of some) {
      const now = (await record.userProgress(name, scope))?.revision ?? 0;
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
        .then((visits) => record.saveProgress(name, visits))
        .catch(() => {});
    }
  };

  return {
    async get(scope) {
      const key = toScopeKey(scope);
      const held = known.get(key) ?? unnoted.get(key)?.revision;
      if (held !== undefined) return held;
      const revision = (await record.userProgress(name, scope))?.revision ?? 0;
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

/** Nobody's: no project and no user may have such a name. */
const MARKER_USER: VectorIndexUser = { project: "\u0001", user: "\u0001" };

/** Users whose cursors are set back at once. */
const USERS = 500;
/** A server that is asked to clear a whole index may take its time. */
const CLEAR_MS = 120_000;
const CALL_MS = 30_000;

export type IndexJobName = `following ${string}`;

/** The name under which the cursors of an index are noted. */
export function toIndexJobName({ name }: Pick<VectorIndex, "name">): IndexJobName {
  return `following ${name}`;
}

type MarkerPorts = Pick<Ports, "record" | "embedder">;

/**
 * Prepares an index, and makes sure that it holds what the cursors say: that it was filled from this record, and was not
 * emptied since. A mark tells, an entry of nobody's. Without it the index is cleared, and all cursors are set back. Gives whether
 * that was so. `invalid_input` where it was filled from another record; `unavailable` where it cannot be asked, or another process
 * is just clearing it.
 */
export async function ensureMarked(
  ports: MarkerPorts,
  follower: VectorIndex,
  signal?: AbortSignal,
): Promise<boolean> {
  const { record, embedder } = ports;
  const space = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
  await callIndex(follower, CALL_MS, (options) => follower.prepare(space, options), signal);
  const mark = await record.identity();
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
 * Clears an index and sets all its cursors back, whatever it held. A process that is killed in between leaves an index without
 * its mark, and the next one starts anew again.
 */
export async function resetIndex(
  ports: MarkerPorts,
  follower: VectorIndex,
  signal?: AbortSignal,
): Promise<void> {
  const { record, embedder } = ports;
  const name = toIndexJobName(follower);
  const lease = await record.takeLease(`${name}: anew`, { forMs: CLEAR_MS });
  if (lease.token === undefined) {
    throw new MemoryError(
      "unavailable",
      `the index "${follower.name}" is being cleared by another process. It goes on after that.`,
    );
  }
  try {
    const space = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
    await callIndex(follower, CLEAR_MS, (options) => follower.clear(options), signal);
    await callIndex(follower, CALL_MS, (options) => follower.prepare(space, options), signal);
    await resetCursors(record, name, signal);
    const mark = createMarker(await record.identity(), embedder.dimensions);
    await callIndex(follower, CALL_MS, (options) => follower.put(MARKER_USER, [mark], options), signal);
  } finally {
    await record.releaseLease(`${name}: anew`, lease.token);
  }
}

/**
 * Has every index take in everything once more that ever followed this record: after it was put back to an older copy, what stands
 * under a revision is not what an index took in.
 */
export async function resetAllCursors(record: JobStore): Promise<void> {
  for (const { name } of await record.jobRuns()) {
    if (isIndexJob(name)) await resetCursors(record, name);
  }
}

function isIndexJob(name: string): name is IndexJobName {
  return name.startsWith("following ");
}

/** To 0: what comes before any revision. */
async function resetCursors(record: JobStore, name: IndexJobName, signal?: AbortSignal): Promise<void> {
  let after: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await record.jobProgress(name, { limit: USERS, ...(after === undefined ? {} : { after }) });
    const visited = page.users.filter(({ visit }) => visit !== undefined && visit.revision > 0);
    await record.saveProgress(
      name,
      visited.map(({ scope }) => ({ scope, visit: { revision: 0 } })),
    );
    after = page.cursor;
  } while (after !== undefined);
}

/** Whoever has two databases feed one index would have each clear what the other put. */
async function refuseForeign(follower: VectorIndex, signal?: AbortSignal): Promise<void> {
  const isForeign = await callIndex(
    follower,
    CALL_MS,
    async (options) => {
      for await (const page of follower.entries(MARKER_USER, options)) if (page.length > 0) return true;
      return false;
    },
    signal,
  );
  if (!isForeign) return;
  throw new MemoryError(
    "invalid_input",
    `the index "${follower.name}" is filled from another database. Give it a place of its own (a collection, an index, ` +
      `a prefix), or take it over: keepsake reindex --follower ${follower.name}`,
  );
}

function createMarker(id: string, dimensions: number): VectorIndexEntry {
  const vector = new Float32Array(dimensions);
  vector[0] = 1;
  return { id, vector, metadata: { type: "memory", owner: id, at: 0 } };
}
