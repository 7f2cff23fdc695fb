import {
  BUDGET_HOLDERS,
  BUDGET_PERIODS,
  type BudgetHolder,
  type BudgetState,
  type Budgets,
  type CallPurpose,
  computeCost,
  computePeriods,
  type Limit,
  type ModelCall,
  type Price,
} from "../../domain/model-usage.ts";
import type {
  CallFilter,
  CallOwner,
  CallSize,
  CallSum,
  Calls,
  StoredTurns,
} from "../../ports/language/model-calls.ts";
import type { Clock } from "../../ports/system.ts";
import type { Meter } from "../../ports/telemetry.ts";

/** The owner of spending: a project, or one of its users. */
export interface SpendingOwner {
  readonly project: string;
  readonly user?: string;
}

/** Spending by project and user: from the ledger, and from calls of this process that are not in it yet. */
interface SpendingTotals {
  /**
   * Current spending. Reads the ledger again if the cached value is old, because other processes spend too.
   */
  read(whose: SpendingOwner): Promise<Spending>;
  /** The cached value, if there is one. */
  peek(whose: SpendingOwner): Spending | undefined;
  count(call: ModelCall): void;
  drop(whose: SpendingOwner): void;
}

/** Maximum delay until the spending of other processes is known. */
const FRESH_MS = 10_000;
/** Cached owners; others are read from the ledger again. */
const MAX_ENTRIES = 10_000;

export function createSpendingTotals(
  calls: Pick<Calls, "sums">,
  clock: Clock,
  writer: LedgerWriter,
): SpendingTotals {
  const cache = new Map<string, Spending>();

  /** Runs while nothing is written: calls noted meanwhile are either in the sums or still pending. */
  const read = (whose: SpendingOwner, now: Date, known: Spending | undefined): Promise<Spending> =>
    writer.runExclusive(async (waiting) => {
      const found = await readSpending((filter) => calls.sums(filter), whose, now, known).catch(
        () => undefined,
      );
      // An unreadable ledger stops nothing: the spending known to this process is used.
      const spent = found ?? createUnreadSpending(now, known);
      if (found) {
        const since = waiting().filter((call) => isCallOf(call, whose) && call.at >= found.day);
        spent.today = since.map(amountOf).reduce(addAmounts, spent.today);
      }
      // Cached from this step on: later calls are added to it.
      cache.delete(toOwnerKey(whose));
      cache.set(toOwnerKey(whose), spent);
      return spent;
    });

  return {
    async read(whose) {
      const now = clock();
      const known = cache.get(toOwnerKey(whose));
      const isToday = known?.day === computePeriods(now).day.from;
      if (known && isToday && Math.abs(now.getTime() - known.readAt) < FRESH_MS) return known;
      const spent = await read(whose, now, known);
      for (const oldest of cache.keys()) {
        if (cache.size <= MAX_ENTRIES) break;
        cache.delete(oldest);
      }
      return spent;
    },
    peek: (whose) => cache.get(toOwnerKey(whose)),
    count(call) {
      const amount = amountOf(call);
      const keys = call.user === undefined ? [{ project: call.project }] : [{ project: call.project }, call];
      for (const whose of keys) {
        const spent = cache.get(toOwnerKey(whose));
        if (spent && call.at >= spent.day) spent.today = addAmounts(spent.today, amount);
      }
    },
    drop(whose) {
      cache.delete(toOwnerKey(whose));
    },
  };
}

function createUnreadSpending(now: Date, known: Spending | undefined): Spending {
  const nothing = { usd: 0, tokens: 0 };
  const day = computePeriods(now).day.from;
  const isToday = known?.day === day;
  return {
    day,
    today: isToday ? known.today : nothing,
    before: isToday ? known.before : nothing,
    readAt: now.getTime(),
  };
}

function toOwnerKey({ project, user }: SpendingOwner): string {
  return JSON.stringify([project, user]);
}

function isCallOf(call: ModelCall, { project, user }: SpendingOwner): boolean {
  return call.project === project && (user === undefined || call.user === user);
}

/** Dollars and tokens. */
interface SpentAmount {
  readonly usd: number;
  readonly tokens: number;
}

/** Spending of one project or user: today, and on earlier days of this month. */
interface Spending {
  readonly day: string;
  today: SpentAmount;
  before: SpentAmount;
  /** When it was read from the ledger, in ms. */
  readonly readAt: number;
}

const ZERO_AMOUNT: SpentAmount = { usd: 0, tokens: 0 };

function addAmounts(one: SpentAmount, other: SpentAmount): SpentAmount {
  return { usd: one.usd + other.usd, tokens: one.tokens + other.tokens };
}

/** What a call counts against budgets: a passed-on chat is the caller's own. */
function amountOf(call: Pick<ModelCall, "purpose" | "cost" | "tokensIn" | "tokensOut">): SpentAmount {
  if (call.purpose === "chat") return ZERO_AMOUNT;
  return { usd: call.cost ?? 0, tokens: call.tokensIn + call.tokensOut };
}

/** The sum of the ledger's entries. */
function sumAmounts(sums: readonly CallSum[]): SpentAmount {
  return sums.map(amountOf).reduce(addAmounts, ZERO_AMOUNT);
}

/** Reads the spending from the ledger; earlier days only if they are not known. */
async function readSpending(
  sums: (filter: CallFilter) => Promise<CallSum[]>,
  whose: { readonly project: string; readonly user?: string },
  now: Date,
  known: Spending | undefined,
): Promise<Spending> {
  const { day, month } = computePeriods(now);
  const today = sumAmounts(await sums({ ...whose, ...day }));
  const isSameDay = known?.day === day.from;
  const before = isSameDay
    ? known.before
    : sumAmounts(await sums({ ...whose, from: month.from, to: day.from }));
  return { day: day.from, today, before, readAt: now.getTime() };
}

/** The state of a holder's budgets, with reservations counted as spent. */
export function toBudgetStates(
  budgets: Budgets,
  of: BudgetHolder,
  spent: Spending,
  reserved: SpentAmount,
  now: Date,
): BudgetState[] {
  const periods = computePeriods(now);
  return BUDGET_PERIODS.flatMap((per) => {
    const limits: Limit = budgets[of]?.[per] ?? {};
    const sum = addAmounts(per === "day" ? spent.today : addAmounts(spent.today, spent.before), reserved);
    return (["usd", "tokens"] as const).flatMap((unit): BudgetState[] => {
      const limit = limits[unit];
      if (limit === undefined) return [];
      const left = Math.max(0, limit - sum[unit]);
      return [{ of, per, unit, limit, spent: sum[unit], left, until: periods[per].to }];
    });
  });
}

/** The holders with a budget. */
export function findLimitedHolders(budgets: Budgets): BudgetHolder[] {
  return BUDGET_HOLDERS.filter((holder) =>
    BUDGET_PERIODS.some((per) => Object.keys(budgets[holder]?.[per] ?? {}).length > 0),
  );
}

/** Estimated spending of calls in progress, so that concurrent calls do not all count on the same budget. */
interface Reservations {
  add(purpose: CallPurpose, scope: CallOwner | undefined, size: CallSize | undefined): void;
  /** A call has ended: frees the oldest reservation for a call like it. */
  settle(purpose: CallPurpose, scope: CallOwner | undefined): void;
  /** Updates the estimate for a purpose from a call. */
  learn(call: ModelCall): void;
  sumFor(whose: { readonly project: string; readonly user?: string }): SpentAmount;
}

interface Reservation extends SpentAmount {
  readonly purpose: CallPurpose;
  readonly project: string;
  readonly user: string | undefined;
  /** In ms. */
  readonly until: number;
}

/** No call takes longer; a call not reported by then was never made. */
const MAX_CALL_MS = 600_000;
/** Before the first call: a prompt of a few pages at a small model's price. */
const DEFAULT_ESTIMATE: SpentAmount = { tokens: 4000, usd: 0.001 };
/** High values decay slowly. */
const DECAY_FACTOR = 0.9;
const NO_RESERVATION: SpentAmount = { usd: 0, tokens: 0 };

export function createReservations(clock: Clock, prices: readonly Price[]): Reservations {
  let reservations: readonly Reservation[] = [];
  const typical = new Map<CallPurpose, SpentAmount>();

  const estimate = (purpose: CallPurpose, size: CallSize | undefined): SpentAmount => {
    const before = typical.get(purpose) ?? DEFAULT_ESTIMATE;
    if (!size) return before;
    const usage = { ...size, host: "", tokensCached: 0 };
    const usd = computeCost(usage, clock().toISOString(), prices) ?? 0;
    return { usd, tokens: size.tokensIn + size.tokensOut };
  };

  return {
    add(purpose, scope, size) {
      const now = clock().getTime();
      const reservation: Reservation = {
        ...estimate(purpose, size),
        purpose,
        project: scope?.project ?? "",
        user: scope?.user,
        until: now + MAX_CALL_MS,
      };
      reservations = [...reservations.filter(({ until }) => until > now), reservation];
    },

    settle(purpose, scope) {
      const project = scope?.project ?? "";
      const at = reservations.findIndex(
        (one) => one.purpose === purpose && one.project === project && one.user === scope?.user,
      );
      if (at !== -1) reservations = reservations.toSpliced(at, 1);
    },

    learn(call) {
      const { usd, tokens } = amountOf(call);
      if (tokens === 0) return;
      const before = typical.get(call.purpose) ?? NO_RESERVATION;
      typical.set(call.purpose, {
        usd: Math.max(usd, before.usd * DECAY_FACTOR),
        tokens: Math.max(tokens, before.tokens * DECAY_FACTOR),
      });
    },

    sumFor({ project, user }) {
      const now = clock().getTime();
      return reservations
        .filter(
          (one) => one.until > now && one.project === project && (user === undefined || one.user === user),
        )
        .reduce<SpentAmount>(addAmounts, NO_RESERVATION);
    },
  };
}

/** Writes calls to the ledger in batches and a moment later, so that no call waits for the disk. */
interface LedgerWriter {
  note(call: ModelCall): void;
  noteTurns(turns: StoredTurns): void;
  /**
   * Runs work while nothing is written, after all earlier calls are; `waiting` gives the calls noted since.
   */
  runExclusive<Result>(work: (waiting: () => readonly ModelCall[]) => Promise<Result>): Promise<Result>;
  flush(): Promise<void>;
  /** Writes pending calls; later ones are lost. */
  close(): Promise<void>;
}

/** Calls are written after this time, or when this many are pending. */
const FLUSH_DELAY_MS = 1000;
const MAX_BATCH = 200;
/**
 * While the ledger cannot be written, this many calls are kept; the oldest beyond that are lost, and counted.
 */
const MAX_WAITING = 10_000;

export function createLedgerWriter(calls: Pick<Calls, "note">, meter: Meter): LedgerWriter {
  let waiting: ModelCall[] = [];
  let turns = new Map<string, StoredTurns>();
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const write = async (): Promise<void> => {
    const [batch, stored] = [waiting, turns];
    if (batch.length === 0 && stored.size === 0) return;
    waiting = [];
    turns = new Map();
    try {
      await calls.note(batch, [...stored.values()]);
    } catch {
      // A failed write fails no call. The next write includes these calls.
      meter.count("memory_ledger_failures_total");
      const pending = [...batch, ...waiting];
      const lost = Math.max(0, pending.length - MAX_WAITING);
      if (lost > 0) meter.count("memory_ledger_lost_total", {}, lost);
      waiting = pending.slice(lost);
      for (const one of stored.values()) addTurns(turns, one);
      if (!isClosed) later();
    }
  };
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return inTurn(write);
  };
  const later = (): void => {
    if (isClosed || timer) return;
    timer = setTimeout(() => void flush(), FLUSH_DELAY_MS);
    timer.unref();
  };

  return {
    note(call) {
      waiting.push(call);
      if (waiting.length === MAX_BATCH) void flush();
      else later();
    },
    noteTurns(one) {
      addTurns(turns, one);
      later();
    },
    runExclusive: (work) =>
      inTurn(async () => {
        await write();
        return work(() => waiting);
      }),
    flush,
    async close() {
      isClosed = true;
      await flush();
    },
  };
}

function addTurns(turns: Map<string, StoredTurns>, one: StoredTurns): void {
  const key = JSON.stringify([one.project, one.user, one.day]);
  turns.set(key, { ...one, turns: one.turns + (turns.get(key)?.turns ?? 0) });
}
