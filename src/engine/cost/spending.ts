import {
  BUDGET_HOLDERS,
  BUDGET_PERIODS,
  type BudgetHolder,
  type BudgetState,
  type Budgets,
  computePeriods,
  type Limit,
} from "../../domain/budget.ts";
import type { ModelCall } from "../../domain/model-call.ts";
import type { CallFilter, CallSum } from "../../ports/calls.ts";

/** Dollars and tokens. */
export interface SpentAmount {
  readonly usd: number;
  readonly tokens: number;
}

/** What was spent by one project or user, today and in the days of this month before it. */
export interface Spending {
  readonly day: string;
  today: SpentAmount;
  before: SpentAmount;
  /** When it was read from the ledger, in ms. */
  readonly readAt: number;
}

const ZERO_AMOUNT: SpentAmount = { usd: 0, tokens: 0 };

export function addAmounts(one: SpentAmount, other: SpentAmount): SpentAmount {
  return { usd: one.usd + other.usd, tokens: one.tokens + other.tokens };
}

/** What a call counts against budgets: the chat that is passed on is the caller's own. */
export function amountOf(call: Pick<ModelCall, "purpose" | "cost" | "tokensIn" | "tokensOut">): SpentAmount {
  if (call.purpose === "chat") return ZERO_AMOUNT;
  return { usd: call.cost ?? 0, tokens: call.tokensIn + call.tokensOut };
}

/** The sum of what stands in the ledger. */
export function sumAmounts(sums: readonly CallSum[]): SpentAmount {
  return sums.map(amountOf).reduce(addAmounts, ZERO_AMOUNT);
}

/** Reads from the ledger what was spent; of the days before today only where it is not known. */
export async function readSpending(
  sums: (asked: CallFilter) => Promise<CallSum[]>,
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

/** How the budgets of a holder stand, with what is reserved counted as spent. */
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

/** Those whose spending is limited. */
export function findLimitedHolders(budgets: Budgets): BudgetHolder[] {
  return BUDGET_HOLDERS.filter((holder) =>
    BUDGET_PERIODS.some((per) => Object.keys(budgets[holder]?.[per] ?? {}).length > 0),
  );
}
