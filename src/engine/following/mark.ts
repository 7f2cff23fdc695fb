import { MemoryError } from "../../errors.ts";
import type { VectorIndex, VectorIndexEntry, VectorIndexUser } from "../../ports/follower.ts";
import type { JobStore } from "../../ports/house-keeping.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../space.ts";
import { callIndex } from "./call.ts";

/** Nobody's: no project and no user may have such a name. */
export const MARKER_USER: VectorIndexUser = { project: "\u0001", user: "\u0001" };

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
