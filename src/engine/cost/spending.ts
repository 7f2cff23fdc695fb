import {
  type BudgetState,
  type Budgets,
  HOLDERS,
  type Holder,
  type Limit,
  PERIODS,
  periodsOf,
} from "../../domain/budget.ts";
import type { ModelCall } from "../../domain/model-call.ts";
import type { CallSum, CallsAsked } from "../../ports/calls.ts";

/** Dollars and tokens. */
export interface Amount {
  readonly usd: number;
  readonly tokens: number;
}

/** What was spent by one project or user, today and in the days of this month before it. */
export interface Spent {
  readonly day: string;
  today: Amount;
  before: Amount;
  /** When it was read from the ledger, in ms. */
  readonly readAt: number;
}

const NOTHING: Amount = { usd: 0, tokens: 0 };

export function added(one: Amount, other: Amount): Amount {
  return { usd: one.usd + other.usd, tokens: one.tokens + other.tokens };
}

/** What a call counts against budgets: the chat that is passed on is the caller's own. */
export function amountOf(call: Pick<ModelCall, "purpose" | "cost" | "tokensIn" | "tokensOut">): Amount {
  if (call.purpose === "chat") return NOTHING;
  return { usd: call.cost ?? 0, tokens: call.tokensIn + call.tokensOut };
}

/** The sum of what stands in the ledger. */
export function amountIn(sums: readonly CallSum[]): Amount {
  return sums.map(amountOf).reduce(added, NOTHING);
}

/** Reads from the ledger what was spent; of the days before today only where it is not known. */
export async function readSpent(
  sums: (asked: CallsAsked) => Promise<CallSum[]>,
  whose: { readonly project: string; readonly user?: string },
  now: Date,
  known: Spent | undefined,
): Promise<Spent> {
  const { day, month } = periodsOf(now);
  const today = amountIn(await sums({ ...whose, ...day }));
  const isSameDay = known?.day === day.from;
  const before = isSameDay
    ? known.before
    : amountIn(await sums({ ...whose, from: month.from, to: day.from }));
  return { day: day.from, today, before, readAt: now.getTime() };
}

/** How the budgets of a holder stand, with what is reserved counted as spent. */
export function statesOf(
  budgets: Budgets,
  of: Holder,
  spent: Spent,
  reserved: Amount,
  now: Date,
): BudgetState[] {
  const periods = periodsOf(now);
  return PERIODS.flatMap((per) => {
    const limits: Limit = budgets[of]?.[per] ?? {};
    const sum = added(per === "day" ? spent.today : added(spent.today, spent.before), reserved);
    return (["usd", "tokens"] as const).flatMap((unit): BudgetState[] => {
      const limit = limits[unit];
      if (limit === undefined) return [];
      const left = Math.max(0, limit - sum[unit]);
      return [{ of, per, unit, limit, spent: sum[unit], left, until: periods[per].to }];
    });
  });
}

/** Those whose spending is limited. */
export function limited(budgets: Budgets): Holder[] {
  return HOLDERS.filter((holder) =>
    PERIODS.some((per) => Object.keys(budgets[holder]?.[per] ?? {}).length > 0),
  );
}
