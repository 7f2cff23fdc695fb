import type { ChangeSetDraft } from "../domain/change-set.ts";
import { computeExpiry, type ExpiryPolicy } from "../domain/memories/expiry-policy.ts";
import type { Claim, Memory } from "../domain/memory.ts";
import type { Scope } from "../domain/scope.ts";
import { isMemoryError } from "../errors.ts";
import type { Ports } from "./ports.ts";
import { withReviewMarks } from "./review-marks.ts";
import { type ClaimIndex, createClaimIndex } from "./user-state/user-data.ts";
import { createUserQueue, type UserQueue, type UserState } from "./user-state/user-state.ts";

/** The result of a computation: nothing to write, or a draft and the result to return after its commit. */
interface ChangeResult<Result> {
  readonly draft?: ChangeSetDraft;
  readonly result: Result;
}

// With five processes on one file, one of them may lose many races in a row. It may try for about ten seconds.
const MAX_TRIES = 60;
const MAX_PAUSE_MS = 250;

const queues = new WeakMap<object, UserQueue>();

/**
 * Reads the user's state, passes it to `think`, and commits its draft on the revision that it saw. If another
 * writer was faster, it reads and thinks again. Within a process the writes of a user queue up. Gives the
 * result of `think`, and the revision after the commit.
 */
export async function commitChange<Result>(
  ports: Pick<Ports, "store" | "states" | "clock" | "expiry">,
  scope: Scope,
  think: (state: UserState, at: string) => Promise<ChangeResult<Result>>,
): Promise<{ result: Result; revision: number }> {
  return runInUserQueue(ports.store, scope, async () => {
    for (let attempt = 1; ; attempt += 1) {
      const state = await ports.states.of(scope);
      const base = state.revision;
      const at = clampToStoredTime(state, ports.clock().toISOString());
      const { draft, result } = await think(state, at);
      if (!draft) return { result, revision: base };
      try {
        const reviewed = withReviewMarks(state, draft, at);
        const { project } = scope;
        const whole = withExpiry(state, reviewed, { policy: ports.expiry, project, at });
        return { result, revision: await ports.store.commit(scope, { ...whole, base, at }) };
      } catch (error) {
        if (attempt === MAX_TRIES || !(await wasOvertaken(ports, scope, base, error))) throw error;
        await waitBeforeRetry(attempt);
      }
    }
  });
}

/**
 * A time that is not before anything stored for the user. Later statements count as later, even if a clock
 * ran backwards or the clocks of two servers differ.
 */
export function clampToStoredTime({ storedUntil }: Pick<UserState, "storedUntil">, at: string): string {
  return at < storedUntil ? storedUntil : at;
}

/** A conflict because another writer was faster. A conflict of ids on the same revision would recur. */
async function wasOvertaken(
  ports: Pick<Ports, "store">,
  scope: Scope,
  base: number,
  error: unknown,
): Promise<boolean> {
  return isMemoryError(error) && error.code === "conflict" && (await ports.store.revision(scope)) !== base;
}

/** Runs work one at a time for each user of a store. */
export async function runInUserQueue<Result>(
  record: object,
  scope: Scope,
  work: () => Promise<Result>,
): Promise<Result> {
  const queue = queues.get(record) ?? createUserQueue();
  queues.set(record, queue);
  return queue.runExclusive(scope, work);
}

/** Longer with each attempt, and random, so that two processes do not collide repeatedly. */
function waitBeforeRetry(attempt: number): Promise<void> {
  const longest = Math.min(MAX_PAUSE_MS, 2 ** attempt);
  const share = ((process.pid * 7919 + attempt * 104_729) % 1000) / 1000;
  return new Promise((resolve) => setTimeout(resolve, longest * (0.2 + 0.8 * share)));
}

/** A user's memories during a change: the stored ones, overlaid with the new versions. */
export interface MemoryDraft {
  get(id: string): Memory | undefined;
  /** The current memories, in the order in which they were first stored. */
  current(): readonly Memory[];
  /** Current memories with the same claim. */
  findSame(claim: Claim): Memory[];
  /** Current memories with the same subject and relation. */
  findInSlot(claim: Claim): Memory[];
  /** Creates the next version of a memory, or the first. Sets `version`, `revision` and `storedAt`. */
  put(memory: Omit<Memory, "version" | "revision" | "storedAt">): Memory;
  /** The new versions, in order. */
  readonly versions: readonly Memory[];
  /** The newest version of each memory that has a new one, in the order in which they were first changed. */
  newest(): Iterable<Memory>;
}

/** The stored memories under a draft. */
interface StoredMemories {
  readonly memories: ReadonlyMap<string, Memory>;
  readonly current: ReadonlyMap<string, Memory>;
  readonly claims: Pick<ClaimIndex, "findSame" | "findInSlot">;
  readonly revision: number;
}

export function createMemoryDraft(stored: StoredMemories, at: string): MemoryDraft {
  const newest = new Map<string, Memory>();
  const claims = createClaimIndex();
  const versions: Memory[] = [];
  let known: readonly Memory[] | undefined;
  const get = (id: string): Memory | undefined => newest.get(id) ?? stored.memories.get(id);
  const currentOf = (storedIds: ReadonlySet<string>, drafted: ReadonlySet<string>): Memory[] => {
    const ids = drafted.size === 0 ? storedIds : new Set([...storedIds, ...drafted]);
    return [...ids].flatMap((id) => {
      const memory = get(id);
      return memory?.status === "current" ? [memory] : [];
    });
  };
  return {
    versions,
    newest: () => newest.values(),
    get,
    current() {
      known ??= overlayCurrent(stored.current, newest);
      return known;
    },
    findSame: (claim) => currentOf(stored.claims.findSame(claim), claims.findSame(claim)),
    findInSlot: (claim) => currentOf(stored.claims.findInSlot(claim), claims.findInSlot(claim)),
    put(memory) {
      const before = get(memory.id);
      const next: Memory = {
        ...memory,
        version: (before?.version ?? 0) + 1,
        revision: stored.revision + 1,
        storedAt: at,
      };
      newest.set(next.id, next);
      claims.put(next);
      known = undefined;
      versions.push(next);
      return next;
    },
  };
}

/** Most writes change no current memory before they read them; then the stored ones are returned. */
function overlayCurrent(
  current: ReadonlyMap<string, Memory>,
  newest: ReadonlyMap<string, Memory>,
): readonly Memory[] {
  if (newest.size === 0) return [...current.values()];
  return [...new Map([...current, ...newest]).values()].filter(({ status }) => status === "current");
}

/** What a policy needs to know: the rules, whose memories they are, and the time of the change (ISO 8601). */
interface ExpiryContext {
  readonly policy: ExpiryPolicy | undefined;
  readonly project: string;
  readonly at: string;
}

/**
 * Sets the expiry of new memories by the policy, unless they have one. What is said again expires later, if the policy set its
 * expiry. Memories that are undone, reworded or already stored keep theirs.
 */
function withExpiry(
  { memories }: Pick<StoredMemories, "memories">,
  draft: ChangeSetDraft,
  { policy, project, at }: ExpiryContext,
): ChangeSetDraft {
  if (!policy || !draft.memories || draft.cause === "undo") return draft;
  const computeFor = (kind: Memory["kind"], time: string) =>
    computeExpiry(policy, { project, kind, at: time });
  const expire = (memory: Memory): Memory => {
    const before = memories.get(memory.id);
    const wasByPolicy =
      before?.expiresAt !== undefined && before.expiresAt === computeFor(before.kind, before.storedAt);
    const isDue = before
      ? memory.action === "merged" && wasByPolicy && memory.expiresAt === before.expiresAt
      : memory.expiresAt === undefined;
    const expiresAt = isDue && memory.status === "current" ? computeFor(memory.kind, at) : undefined;
    return expiresAt === undefined ? memory : { ...memory, expiresAt };
  };
  return { ...draft, memories: draft.memories.map(expire) };
}
