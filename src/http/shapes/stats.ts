import * as z from "zod";
import { BUDGET_HOLDERS, BUDGET_PERIODS } from "../../domain/budget.ts";
import { CALL_OUTCOMES, CALL_PURPOSES } from "../../domain/model-call.ts";
import { timeSchema, wholeNumberSchema, withSchemaId } from "./named.ts";

const PURPOSE_SCHEMA = z
  .enum(CALL_PURPOSES)
  .describe("`chat` is what the proxy passed on: it is not Keepsake's own");
const dollarsSchema = z.number().min(0).describe("US dollars, by the price table");

const TOTALS_FIELDS = {
  calls: wholeNumberSchema,
  failed: wholeNumberSchema.describe("Of these, those that ended otherwise than well"),
  tokens_in: wholeNumberSchema,
  tokens_cached: wholeNumberSchema.describe("Of `tokens_in`, from the provider's prompt cache"),
  tokens_out: wholeNumberSchema,
  cost: dollarsSchema,
  unpriced: wholeNumberSchema.describe("Calls whose model is in no price table"),
};

const BUDGET_SCHEMA = withSchemaId(
  "Budget",
  z.object({
    of: z.enum(BUDGET_HOLDERS),
    per: z.enum(BUDGET_PERIODS),
    unit: z.enum(["usd", "tokens"]),
    limit: z.number(),
    spent: z.number().describe("With what is reserved for calls that are on their way"),
    left: z.number().min(0),
    until: timeSchema.describe("When it begins anew"),
  }),
);

/** What calls to models came to. */
export const USAGE_SCHEMA: z.ZodType = withSchemaId(
  "Usage",
  z.object({
    since: timeSchema.optional(),
    until: timeSchema,
    turns: wholeNumberSchema.describe("Messages stored meanwhile"),
    cost_per_thousand_turns: dollarsSchema.optional(),
    ...TOTALS_FIELDS,
    chat: z.object(TOTALS_FIELDS),
    rows: z.array(
      z.object({
        purpose: PURPOSE_SCHEMA.optional(),
        model: z.string().optional(),
        day: z.string().optional(),
        ...TOTALS_FIELDS,
      }),
    ),
    failures: z.array(
      z.object({
        purpose: PURPOSE_SCHEMA,
        model: z.string(),
        outcome: z.enum(CALL_OUTCOMES),
        calls: wholeNumberSchema,
      }),
    ),
    budgets: z.array(BUDGET_SCHEMA),
  }),
);

export const USER_STATS_SCHEMA: z.ZodType = withSchemaId(
  "Stats",
  z.object({
    user_id: z.string(),
    total: wholeNumberSchema,
    current: wholeNumberSchema,
    superseded: wholeNumberSchema,
    retracted: wholeNumberSchema,
    kinds: z.record(z.string(), wholeNumberSchema).describe("How many current memories of each kind"),
    messages: wholeNumberSchema,
    pending: wholeNumberSchema.describe("Messages that wait to be understood"),
    revision: wholeNumberSchema,
    changed_at: timeSchema.optional(),
    usage: USAGE_SCHEMA,
  }),
);

export const PROJECT_STATS_SCHEMA: z.ZodType = withSchemaId(
  "ProjectStats",
  z.object({ users: wholeNumberSchema, usage: USAGE_SCHEMA }),
);
