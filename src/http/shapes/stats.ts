import * as z from "zod";
import { HOLDERS, PERIODS } from "../../domain/budget.ts";
import { OUTCOMES, PURPOSES } from "../../domain/model-call.ts";
import { named, time, whole } from "./named.ts";

const PURPOSE = z.enum(PURPOSES).describe("`chat` is what the proxy passed on: it is not Keepsake's own");
const usd = z.number().min(0).describe("US dollars, by the price table");

const TOTALS = {
  calls: whole,
  failed: whole.describe("Of these, those that ended otherwise than well"),
  tokens_in: whole,
  tokens_cached: whole.describe("Of `tokens_in`, from the provider's prompt cache"),
  tokens_out: whole,
  cost: usd,
  unpriced: whole.describe("Calls whose model is in no price table"),
};

const BUDGET = named(
  "Budget",
  z.object({
    of: z.enum(HOLDERS),
    per: z.enum(PERIODS),
    unit: z.enum(["usd", "tokens"]),
    limit: z.number(),
    spent: z.number().describe("With what is reserved for calls that are on their way"),
    left: z.number().min(0),
    until: time.describe("When it begins anew"),
  }),
);

/** What calls to models came to. */
export const USAGE: z.ZodType = named(
  "Usage",
  z.object({
    since: time.optional(),
    until: time,
    turns: whole.describe("Messages stored meanwhile"),
    cost_per_thousand_turns: usd.optional(),
    ...TOTALS,
    chat: z.object(TOTALS),
    rows: z.array(
      z.object({
        purpose: PURPOSE.optional(),
        model: z.string().optional(),
        day: z.string().optional(),
        ...TOTALS,
      }),
    ),
    failures: z.array(
      z.object({ purpose: PURPOSE, model: z.string(), outcome: z.enum(OUTCOMES), calls: whole }),
    ),
    budgets: z.array(BUDGET),
  }),
);

export const USER_STATS: z.ZodType = named(
  "Stats",
  z.object({
    user_id: z.string(),
    total: whole,
    current: whole,
    superseded: whole,
    retracted: whole,
    kinds: z.record(z.string(), whole).describe("How many current memories of each kind"),
    messages: whole,
    pending: whole.describe("Messages that wait to be understood"),
    revision: whole,
    changed_at: time.optional(),
    usage: USAGE,
  }),
);

export const PROJECT_STATS: z.ZodType = named("ProjectStats", z.object({ users: whole, usage: USAGE }));
