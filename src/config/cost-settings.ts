import * as z from "zod";
import {
  type Budgets,
  HOLDERS,
  type Holder,
  type Limit,
  type Limits,
  PERIODS,
  type Period,
} from "../domain/budget.ts";

/** What the settings say of costs. */
export interface CostSettings {
  readonly budgets?: Budgets;
  /** A file of prices. */
  readonly pricesPath?: string;
  /** How long calls are kept, in days. */
  readonly keepDays?: number;
}

const dollars: z.ZodType = z
  .string()
  .regex(/^\d{1,7}(?:\.\d{1,6})?$/)
  .transform(Number);
const tokens: z.ZodType = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const days: z.ZodType = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .pipe(z.number().min(1).max(36_500));

const UNITS = {
  usd: { schema: dollars, allowed: "US dollars, from 0 to 9999999.999999" },
  tokens: { schema: tokens, allowed: "a number of tokens, from 0" },
} as const;

function budgetName(of: Holder, per: Period, unit: keyof Limit): string {
  return `KEEPSAKE_BUDGET_${of}_${per}_${unit}`.toUpperCase();
}

/** Every setting of costs, by name, with what it may be. */
export const COST_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_PRICES: { schema: z.string().regex(/^[^\0]+$/), allowed: "a path of a file" },
  KEEPSAKE_CALLS_DAYS: { schema: days, allowed: "a number from 1 to 36500" },
  ...Object.fromEntries(
    HOLDERS.flatMap((of) =>
      PERIODS.flatMap((per) =>
        (["usd", "tokens"] as const).map((unit) => [budgetName(of, per, unit), UNITS[unit]] as const),
      ),
    ),
  ),
};

/** What checked values say of costs; nothing where they say nothing. */
export function costsIn(values: ReadonlyMap<string, string>): CostSettings | undefined {
  const budgets = Object.fromEntries(
    HOLDERS.flatMap((of) => {
      const limits = limitsIn(values, of);
      return Object.keys(limits).length === 0 ? [] : [[of, limits]];
    }),
  );
  const path = values.get("KEEPSAKE_PRICES");
  const kept = values.get("KEEPSAKE_CALLS_DAYS");
  const settings = {
    ...(Object.keys(budgets).length === 0 ? {} : { budgets }),
    ...(path === undefined ? {} : { pricesPath: path }),
    ...(kept === undefined ? {} : { keepDays: Number(kept) }),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function limitsIn(values: ReadonlyMap<string, string>, of: Holder): Limits {
  return Object.fromEntries(
    PERIODS.flatMap((per) => {
      const limit = Object.fromEntries(
        (["usd", "tokens"] as const).flatMap((unit) => {
          const value = values.get(budgetName(of, per, unit));
          return value === undefined ? [] : [[unit, Number(value)]];
        }),
      );
      return Object.keys(limit).length === 0 ? [] : [[per, limit]];
    }),
  );
}
