import { ReaderBusyError, type ReaderUse } from "../../language/en/transformer/reader.ts";

/** Windows wait here for the reader, which reads one at a time. */
export interface ReadingTurns {
  /**
   * Runs a reading when it is its turn. Requests to forget (without a use) go first, then answers that were read for before, then the users
   * in turn. Throws `ReaderBusyError` where a use has waited for longer than the limit, or would.
   */
  read<Result>(reading: () => Promise<Result>, use: ReaderUse | undefined): Promise<Result>;
}

interface WaitingReading {
  readonly begin: () => void;
  readonly use: ReaderUse | undefined;
}

/** How long an answer has waited for others, in ms, in all; and whether something was read for it. */
interface UseRecord {
  waitedMs: number;
  hasBegun: boolean;
}

/** A reading that has begun is given up after this many times the limit for waiting, and no sooner than after 10 s. */
const READING_LIMITS = 5;
const LEAST_READING_MS = 10_000;
/** What an answer takes of the reader, in ms, before any has been read for. */
const ASSUMED_MS = 250;
/** What remains of the earlier readings in the mean with each one. */
const KEPT_SHARE = 0.98;

/** Makes turns in which an answer waits for others no longer than a limit, in ms. */
export function createReadingTurns(waitMs: number): ReadingTurns {
  const first: WaitingReading[] = [];
  const begun: WaitingReading[] = [];
  /** In the order in which the users have their turns. */
  const users = new Map<string, WaitingReading[]>();
  const records = new WeakMap<ReaderUse, UseRecord>();
  let isReading = false;
  let totalMs = ASSUMED_MS;
  let totalUses = 1;

  const recordOf = (use: ReaderUse): UseRecord => {
    const record = records.get(use) ?? { waitedMs: 0, hasBegun: false };
    records.set(use, record);
    return record;
  };

  /** The readings that go before the next one of a user. */
  const countBefore = (user: string): number => {
    const turn = (users.get(user)?.length ?? 0) + 1;
    const ofUsers = [...users].map(([one, { length }]) => (one === user ? turn - 1 : Math.min(length, turn)));
    return ofUsers.reduce((sum, count) => sum + count, first.length + begun.length + 1);
  };

  const listOf = (use: ReaderUse | undefined): WaitingReading[] => {
    if (!use) return first;
    if (recordOf(use).hasBegun) return begun;
    const list = users.get(use.user) ?? [];
    users.set(use.user, list);
    return list;
  };

  const leave = (waiting: WaitingReading): void => {
    for (const list of [first, begun, ...users.values()]) {
      const at = list.indexOf(waiting);
      if (at >= 0) list.splice(at, 1);
    }
    for (const [user, list] of users) if (list.length === 0) users.delete(user);
  };

  const next = (): void => {
    const waiting = first[0] ?? begun[0] ?? users.values().next().value?.[0];
    if (!waiting) return;
    leave(waiting);
    const { user = "" } = waiting.use ?? {};
    const others = users.get(user);
    // Behind the other users.
    if (others && users.delete(user)) users.set(user, others);
    isReading = true;
    waiting.begin();
  };

  const count = (milliseconds: number, isFirst: boolean): void => {
    totalMs = KEPT_SHARE * totalMs + milliseconds;
    totalUses = KEPT_SHARE * totalUses + Number(isFirst);
  };

  const takeTurn = async (use: ReaderUse | undefined): Promise<void> => {
    if (!isReading) {
      isReading = true;
      return;
    }
    const left = use ? waitMs - recordOf(use).waitedMs : undefined;
    if (
      use &&
      left !== undefined &&
      !recordOf(use).hasBegun &&
      countBefore(use.user) * (totalMs / totalUses) > left
    )
      throw new ReaderBusyError();
    const turn = Promise.withResolvers<void>();
    const waiting = { begin: turn.resolve, use };
    const from = performance.now();
    const list = listOf(use);
    list.push(waiting);
    const giveUp = (): void => {
      leave(waiting);
      turn.reject(new ReaderBusyError());
    };
    const timer = left === undefined ? undefined : setTimeout(giveUp, Math.max(0, left));
    try {
      await turn.promise;
    } finally {
      clearTimeout(timer);
      if (use) recordOf(use).waitedMs += performance.now() - from;
    }
  };

  return {
    async read(reading, use) {
      await takeTurn(use);
      const from = performance.now();
      const isFirst = !use || !recordOf(use).hasBegun;
      if (use) recordOf(use).hasBegun = true;
      const done = reading().finally(() => {
        count(performance.now() - from, isFirst);
        isReading = false;
        next();
      });
      return use ? await within(done, Math.max(LEAST_READING_MS, READING_LIMITS * waitMs)) : await done;
    },
  };
}

async function within<Result>(done: Promise<Result>, limitMs: number): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new ReaderBusyError()), limitMs);
  try {
    return await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
