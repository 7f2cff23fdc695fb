import type { ChangeSet } from "../domain/change-set.ts";
import type { Scope } from "../domain/scope.ts";
import { isMemoryError } from "../errors.ts";
import type { Ports } from "./ports.ts";
import { createUserQueue, type UserQueue } from "./turns.ts";
import type { UserState } from "./user-state.ts";

/** A change-set without what `change` knows by itself. */
export type ChangeSetDraft = Omit<ChangeSet, "base" | "at">;

/** What came of thinking: nothing to write, or a draft and what to say once it is committed. */
export interface ChangeResult<Result> {
  readonly draft?: ChangeSetDraft;
  readonly result: Result;
}

// A model's thought costs seconds and money: three tries (DESIGN 3). Local thoughts cost a millisecond, and with
// five processes on one file the unlucky one loses many races in a row: it may try for about ten seconds.
const MAX_TRIES = 60;
const MAX_PAUSE_MS = 250;

const queues = new WeakMap<object, UserQueue>();

/**
 * Reads, thinks, commits: hands `think` the user's state, and commits its draft on the revision that it saw. Where
 * another writer was faster, it reads and thinks again. Within a process the writes of a user queue up.
 * Gives what `think` gave, and the revision after the commit.
 */
export async function commitChange<Result>(
  ports: Pick<Ports, "record" | "states" | "clock">,
  scope: Scope,
  think: (state: UserState, at: string) => Promise<ChangeResult<Result>>,
): Promise<{ result: Result; revision: number }> {
  return runInUserQueue(ports.record, scope, async () => {
    for (let attempt = 1; ; attempt += 1) {
      const state = await ports.states.of(scope);
      const base = state.revision;
      const at = clampToStoredTime(state, ports.clock().toISOString());
      const { draft, result } = await think(state, at);
      if (!draft) return { result, revision: base };
      try {
        return { result, revision: await ports.record.commit(scope, { ...draft, base, at }) };
      } catch (error) {
        if (attempt === MAX_TRIES || !(await wasOvertaken(ports, scope, base, error))) throw error;
        await waitBeforeRetry(attempt);
      }
    }
  });
}

/**
 * A time that is not before anything that is stored of the user. What is said later counts as later, even where a clock ran
 * backwards, or the clocks of two servers differ.
 */
export function clampToStoredTime({ storedUntil }: Pick<UserState, "storedUntil">, at: string): string {
  return at < storedUntil ? storedUntil : at;
}

/** A conflict because another writer was faster; one of ids, on the same revision, would come again. */
async function wasOvertaken(
  ports: Pick<Ports, "record">,
  scope: Scope,
  base: number,
  error: unknown,
): Promise<boolean> {
  return isMemoryError(error) && error.code === "conflict" && (await ports.record.revision(scope)) !== base;
}

/** One after the other for each user of a record. */
export async function runInUserQueue<Result>(
  record: object,
  scope: Scope,
  work: () => Promise<Result>,
): Promise<Result> {
  const own = queues.get(record) ?? createUserQueue();
  queues.set(record, own);
  return own.runExclusive(scope, work);
}

/** Longer with each attempt, and by a different length in each process, so that two do not meet again and again. */
function waitBeforeRetry(attempt: number): Promise<void> {
  const longest = Math.min(MAX_PAUSE_MS, 2 ** attempt);
  const share = ((process.pid * 7919 + attempt * 104_729) % 1000) / 1000;
  return new Promise((resolve) => setTimeout(resolve, longest * (0.2 + 0.8 * share)));
}
