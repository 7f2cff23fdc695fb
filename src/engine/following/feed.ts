import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { VectorIndex, VectorIndexEntry } from "../../ports/follower.ts";
import { runInUserQueue } from "../change.ts";
import type { Ports } from "../ports.ts";
import { callIndex } from "./call.ts";
import { toIndexChanges } from "./entries.ts";

/** Entries in one call: others come in between, and an erasure waits for no more than one of them. */
const AT_ONCE = 500;
/** A user who writes all the time is left for the next run after so many looks. */
const MOST_LOOKS = 20;
const CALL_MS = 30_000;

export interface FeedOptions {
  readonly ports: Pick<Ports, "record" | "embedder">;
  readonly index: VectorIndex;
  readonly scope: Scope;
  /** Ids that were erased after the record was last looked at. */
  readonly excluded: Set<string>;
  readonly signal: AbortSignal;
}

export interface FeedStep {
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
export async function* feedUser(feeding: FeedOptions, from: number): AsyncGenerator<FeedStep, void, void> {
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
