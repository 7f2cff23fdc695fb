import { readFile } from "node:fs/promises";
import * as z from "zod";
import {
  BUDGET_HOLDERS,
  BUDGET_PERIODS,
  type BudgetHolder,
  type BudgetLimits,
  type BudgetPeriod,
  type Budgets,
  type Limit,
  type Price,
} from "../../domain/model-usage.ts";
import type { CostOptions } from "../../engine/cost/cost-tracker.ts";
import { invalid } from "../../errors.ts";

/** The settings of costs. */
export interface CostSettings {
  readonly budgets?: Budgets;
  /** A file of prices. */
  readonly pricesPath?: string;
  /** How long calls are kept, in days. */
  readonly keepDays?: number;
}

const dollarsSchema: z.ZodType = z
  .string()
  .regex(/^\d{1,7}(?:\.\d{1,6})?$/)
  .transform(Number);
const tokensSchema: z.ZodType = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const daysSchema: z.ZodType = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .pipe(z.number().min(1).max(36_500));

const BUDGET_UNITS = {
  usd: { schema: dollarsSchema, allowed: "US dollars, from 0 to 9999999.999999" },
  tokens: { schema: tokensSchema, allowed: "a number of tokens, from 0" },
} as const;

function toBudgetName(of: BudgetHolder, per: BudgetPeriod, unit: keyof Limit): string {
  return `KEEPSAKE_BUDGET_${of}_${per}_${unit}`.toUpperCase();
}

/** The settings of costs, by name, with the allowed values. */
export const COST_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_PRICES: { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a file" },
  KEEPSAKE_CALLS_DAYS: { schema: daysSchema, allowed: "a number from 1 to 36500" },
  ...Object.fromEntries(
    BUDGET_HOLDERS.flatMap((of) =>
      BUDGET_PERIODS.flatMap((per) =>
        (["usd", "tokens"] as const).map(
          (unit) => [toBudgetName(of, per, unit), BUDGET_UNITS[unit]] as const,
        ),
      ),
    ),
  ),
};

/** Parses the settings of costs; `undefined` if none is set. */
export function parseCostSettings(values: ReadonlyMap<string, string>): CostSettings | undefined {
  const budgets = Object.fromEntries(
    BUDGET_HOLDERS.flatMap((of) => {
      const limits = parseLimits(values, of);
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

function parseLimits(values: ReadonlyMap<string, string>, of: BudgetHolder): BudgetLimits {
  return Object.fromEntries(
    BUDGET_PERIODS.flatMap((per) => {
      const limit = Object.fromEntries(
        (["usd", "tokens"] as const).flatMap((unit) => {
          const value = values.get(toBudgetName(of, per, unit));
          return value === undefined ? [] : [[unit, Number(value)]];
        }),
      );
      return Object.keys(limit).length === 0 ? [] : [[per, limit]];
    }),
  );
}

const priceSchema: z.ZodNumber = z.number().min(0).max(1e6);

const PRICES_SCHEMA: z.ZodType<Price[]> = z
  .array(
    z.strictObject({
      model: z.string().min(1).max(200),
      host: z.string().min(1).max(300).exactOptional(),
      from: z.iso.date().exactOptional(),
      in: priceSchema,
      cached: priceSchema.exactOptional(),
      out: priceSchema.exactOptional(),
    }),
  )
  .max(10_000);

/** Loads the cost options and the file of prices. Throws `invalid_input` if the file is not a price list. */
export async function loadCostOptions({ pricesPath, ...rest }: CostSettings): Promise<CostOptions> {
  if (pricesPath === undefined) return rest;
  return { ...rest, prices: await readPrices(pricesPath) };
}

async function readPrices(path: string): Promise<Price[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    throw invalid(`KEEPSAKE_PRICES: cannot read the file ${path}. Check its name and permissions.`);
  }
  const checked = PRICES_SCHEMA.safeParse(await parsePrices(path, text));
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw invalid(
    `KEEPSAKE_PRICES: ${path} is not a price list${place === "" ? "" : ` (at ${place})`}. Example of a row: ` +
      '{ "model": "gpt-4o-mini", "from": "2024-10-01", "in": 0.15, "cached": 0.075, "out": 0.6 }, in US dollars per million tokens.',
  );
}

/** Parses YAML, which includes JSON. */
async function parsePrices(path: string, text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch {
    throw invalid(`KEEPSAKE_PRICES: ${path} is neither JSON nor YAML.`);
  }
}
