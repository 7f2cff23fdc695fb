import { computePeriods } from "../../domain/budget.ts";
import type { ModelCall } from "../../domain/model-call.ts";
import type { Calls } from "../../ports/calls.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LedgerWriter } from "./ledger-writer.ts";
import { addAmounts, amountOf, readSpending, type Spending } from "./spending.ts";

/** Whose spending is meant: a project's, or that of one of its users. */
export interface SpendingOwner {
  readonly project: string;
  readonly user?: string;
}

/** What has been spent, by project and user: from the ledger, and from calls of this process that are not in it yet. */
export interface SpendingTotals {
  /** As it stands now: read from the ledger where that was long ago, for other processes spend too. */
  read(whose: SpendingOwner): Promise<Spending>;
  /** The same at once, where it is held. */
  peek(whose: SpendingOwner): Spending | undefined;
  count(call: ModelCall): void;
  drop(whose: SpendingOwner): void;
}

/** What other processes spend is known so late at most. */
const FRESH_MS = 10_000;
/** So many are held; more are read from the ledger again. */
const MAX_ENTRIES = 10_000;

export function createSpendingTotals(
  calls: Pick<Calls, "sums">,
  clock: Clock,
  writer: LedgerWriter,
): SpendingTotals {
  const held = new Map<string, Spending>();

  /** Runs while nothing is written: what is noted meanwhile is either in the sums, or still waiting. */
  const read = (whose: SpendingOwner, now: Date, known: Spending | undefined): Promise<Spending> =>
    writer.runExclusive(async (waiting) => {
      const found = await readSpending((asked) => calls.sums(asked), whose, now, known).catch(
        () => undefined,
      );
      // A ledger that cannot be read stops nothing either: then what this process knows has to do.
      const spent = found ?? createUnreadSpending(now, known);
      if (found) {
        const since = waiting().filter((call) => isCallOf(call, whose) && call.at >= found.day);
        spent.today = since.map(amountOf).reduce(addAmounts, spent.today);
      }
      // Held from this very step on: what is noted next is added to it.
      held.delete(toOwnerKey(whose));
      held.set(toOwnerKey(whose), spent);
      return spent;
    });

  return {
    async read(whose) {
      const now = clock();
      const known = held.get(toOwnerKey(whose));
      const isToday = known?.day === computePeriods(now).day.from;
      if (known && isToday && Math.abs(now.getTime() - known.readAt) < FRESH_MS) return known;
      const spent = await read(whose, now, known);
      for (const oldest of held.keys()) {
        if (held.size <= MAX_ENTRIES) break;
        held.delete(oldest);
      }
      return spent;
    },
    peek: (whose) => held.get(toOwnerKey(whose)),
    count(call) {
      const amount = amountOf(call);
      const keys = call.user === undefined ? [{ project: call.project }] : [{ project: call.project }, call];
      for (const whose of keys) {
        const spent = held.get(toOwnerKey(whose));
        if (spent && call.at >= spent.day) spent.today = addAmounts(spent.today, amount);
      }
    },
    drop(whose) {
      held.delete(toOwnerKey(whose));
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
