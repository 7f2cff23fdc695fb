import { MemoryError } from "../../errors.ts";
import type { Follower, FollowerEntry, FollowerUser } from "../../ports/follower.ts";
import type { HouseKeeping } from "../../ports/house-keeping.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../space.ts";
import { asked } from "./call.ts";

/** Nobody's: no project and no user may have such a name. */
export const MARK_OF: FollowerUser = { project: "\u0001", user: "\u0001" };

/** Users whose cursors are set back at once. */
const USERS = 500;
/** A server that is asked to clear a whole index may take its time. */
const CLEAR_MS = 120_000;
const CALL_MS = 30_000;

export type FollowingName = `following ${string}`;

/** The name under which the cursors of an index are noted. */
export function followingName({ name }: Pick<Follower, "name">): FollowingName {
  return `following ${name}`;
}

type MarkPorts = Pick<Ports, "record" | "embedder">;

/**
 * Prepares an index, and makes sure that it holds what the cursors say: that it was filled from this record, and was not
 * emptied since. A mark tells, an entry of nobody's. Without it the index is cleared, and all cursors are set back. Gives whether
 * that was so. `invalid_input` where it was filled from another record; `unavailable` where it cannot be asked, or another process
 * is just clearing it.
 */
export async function ready(ports: MarkPorts, follower: Follower, signal?: AbortSignal): Promise<boolean> {
  const { record, embedder } = ports;
  const space = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
  await asked(follower, CALL_MS, (options) => follower.prepare(space, options), signal);
  const mark = await record.identity();
  const there = await asked(follower, CALL_MS, (options) => follower.held(MARK_OF, [mark], options), signal);
  if (there.length > 0) return false;
  await refuseForeign(follower, signal);
  await startAnew(ports, follower, signal);
  return true;
}

/**
 * Clears an index and sets all its cursors back, whatever it held. A process that is killed in between leaves an index without
 * its mark, and the next one starts anew again.
 */
export async function startAnew(ports: MarkPorts, follower: Follower, signal?: AbortSignal): Promise<void> {
  const { record, embedder } = ports;
  const name = followingName(follower);
  const lease = await record.takeLease(`${name}: anew`, { forMs: CLEAR_MS });
  if (lease.token === undefined) {
    throw new MemoryError(
      "unavailable",
      `the index "${follower.name}" is being cleared by another process. It goes on after that.`,
    );
  }
  try {
    const space = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
    await asked(follower, CLEAR_MS, (options) => follower.clear(options), signal);
    await asked(follower, CALL_MS, (options) => follower.prepare(space, options), signal);
    await setBack(record, name, signal);
    const mark = markEntry(await record.identity(), embedder.dimensions);
    await asked(follower, CALL_MS, (options) => follower.put(MARK_OF, [mark], options), signal);
  } finally {
    await record.giveBackLease(`${name}: anew`, lease.token);
  }
}

/**
 * Has every index take in everything once more that ever followed this record: after it was put back to an older copy, what stands
 * under a revision is not what an index took in.
 */
export async function setAllBack(record: HouseKeeping): Promise<void> {
  for (const { name } of await record.jobs()) {
    if (isFollowing(name)) await setBack(record, name);
  }
}

function isFollowing(name: string): name is FollowingName {
  return name.startsWith("following ");
}

/** To 0: what comes before any revision. */
async function setBack(record: HouseKeeping, name: FollowingName, signal?: AbortSignal): Promise<void> {
  let after: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await record.visits(name, { limit: USERS, ...(after === undefined ? {} : { after }) });
    const visited = page.users.filter(({ visit }) => visit !== undefined && visit.revision > 0);
    await record.noteVisits(
      name,
      visited.map(({ scope }) => ({ scope, visit: { revision: 0 } })),
    );
    after = page.cursor;
  } while (after !== undefined);
}

/** Whoever has two databases feed one index would have each clear what the other put. */
async function refuseForeign(follower: Follower, signal?: AbortSignal): Promise<void> {
  const isForeign = await asked(
    follower,
    CALL_MS,
    async (options) => {
      for await (const page of follower.entries(MARK_OF, options)) if (page.length > 0) return true;
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

function markEntry(id: string, dimensions: number): FollowerEntry {
  const vector = new Float32Array(dimensions);
  vector[0] = 1;
  return { id, vector, metadata: { type: "memory", owner: id, at: 0 } };
}
