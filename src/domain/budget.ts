import { invalid } from "../errors.ts";

/** What may be spent in a time; what is reached first stops. */
export interface Limit {
  /** US dollars, of the calls that have a price. */
  readonly usd?: number;
  /** Tokens, in and out. */
  readonly tokens?: number;
}

export const BUDGET_PERIODS = ["day", "month"] as const;
/** Of the calendar, in UTC. */
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

export type BudgetLimits = { readonly [period in BudgetPeriod]?: Limit };

/** What Keepsake itself may spend: on understanding, answers and embeddings. The chat that a proxy passes on is not in it. */
export interface Budgets {
  /** Of each project. */
  readonly project?: BudgetLimits;
  /** Of each user. */
  readonly user?: BudgetLimits;
}

export const BUDGET_HOLDERS = ["project", "user"] as const;
export type BudgetHolder = (typeof BUDGET_HOLDERS)[number];

/** How a budget stands. */
export interface BudgetState {
  readonly of: BudgetHolder;
  readonly per: BudgetPeriod;
  readonly unit: keyof Limit;
  readonly limit: number;
  readonly spent: number;
  /** Never below 0. */
  readonly left: number;
  /** When it begins anew, ISO 8601. */
  readonly until: string;
}

/** The beginnings of the day and of the month that a time is in, and of those that follow, in UTC, ISO 8601. */
export function computePeriods(at: Date): {
  readonly [period in BudgetPeriod]: { readonly from: string; readonly to: string };
} {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const start = (...parts: [number, number, number]): string => new Date(Date.UTC(...parts)).toISOString();
  return {
    day: { from: start(year, month, day), to: start(year, month, day + 1) },
    month: { from: start(year, month, 1), to: start(year, month + 1, 1) },
  };
}

/** `invalid_input` for a limit that is no number, or below 0. */
export function checkBudgets(budgets: Budgets): Budgets {
  for (const holder of BUDGET_HOLDERS) {
    for (const period of BUDGET_PERIODS) {
      for (const [unit, limit] of Object.entries(budgets[holder]?.[period] ?? {})) {
        const isFine = typeof limit === "number" && limit >= 0 && Number.isFinite(limit);
        if (!isFine || (unit !== "usd" && unit !== "tokens")) {
          throw invalid(`budgets: ${holder}.${period} takes usd and tokens, numbers that are not below 0.`);
        }
      }
    }
  }
  return budgets;
}
