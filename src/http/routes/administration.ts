import * as z from "zod";
import { JOB_NAMES } from "../../domain/job.ts";
import {
  BUDGET_HOLDERS,
  BUDGET_PERIODS,
  CALL_OUTCOMES,
  CALL_PURPOSES,
  USAGE_BY,
} from "../../domain/model-usage.ts";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { PAGE_QUERY, toCursorFields } from "../pagination.ts";
import { refuse } from "../problem.ts";
import { momentSchema, timeSchema, wholeNumberSchema, withSchemaId } from "../schemas/fields.ts";
import { USER_PAGE_SCHEMA } from "../schemas/memory.ts";
import { omitUndefined, toWire } from "../wire.ts";

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
const USAGE_SCHEMA: z.ZodType = withSchemaId(
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

const USER_STATS_SCHEMA: z.ZodType = withSchemaId(
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

const PROJECT_STATS_SCHEMA: z.ZodType = withSchemaId(
  "ProjectStats",
  z.object({ users: wholeNumberSchema, usage: USAGE_SCHEMA }),
);

const JOB_NAME_SCHEMA = withSchemaId(
  "JobName",
  z.union([z.enum(JOB_NAMES), z.string().regex(/^following .+$/)]),
);

const JOB_LIST_SCHEMA: z.ZodType = z.object({
  items: z.array(
    withSchemaId(
      "Job",
      z.object({
        name: JOB_NAME_SCHEMA,
        about: z.string(),
        state: z
          .enum(["running", "failing", "scheduled", "idle"])
          .describe("`failing`: it broke off and tries again; `idle`: it runs when there is something to do"),
        last_run: timeSchema.optional(),
        took_ms: wholeNumberSchema.optional(),
        next_run: timeSchema.optional(),
        done: wholeNumberSchema.describe("Pieces of work in this run, or in the last one"),
        left: wholeNumberSchema.describe("What waits, where that is known").optional(),
        found: wholeNumberSchema.describe("What it found and leaves to people to decide").optional(),
        problem: z.string().describe("Why it broke off last").optional(),
        attempts: wholeNumberSchema.describe("Runs that broke off, one after the other"),
        set_aside: wholeNumberSchema
          .describe("Users with whom it failed too often, who are left out")
          .optional(),
      }),
    ),
  ),
});

const OPTIMIZE_RESULT_SCHEMA: z.ZodType = withSchemaId(
  "Optimized",
  z.object({
    dry_run: z.boolean(),
    revision: wholeNumberSchema.describe("The user's revision after it"),
    jobs: z.array(
      z.object({
        name: JOB_NAME_SCHEMA,
        revisions: z.array(wholeNumberSchema).describe("What it made; `undo` takes each back").optional(),
        memories: z.array(
          z.object({
            id: z.string(),
            action: z
              .enum(["expired", "merged", "archived", "faded"])
              .describe("`faded` stays as it is, and ranks lower by its age alone"),
            text: z.string(),
            by: z.string().describe("The memory that it was merged into").optional(),
            why: z.string(),
          }),
        ),
      }),
    ),
  }),
);

const STATS_QUERY = z.strictObject({
  since: momentSchema.optional(),
  until: momentSchema.optional(),
  by: z.enum(USAGE_BY).optional(),
});

/** What is known, what it cost, and how the server does. */
export const statsOperations: readonly Operation[] = [
  defineOperation({
    id: "getStats",
    method: "GET",
    path: "/api/v1/memories/{user_id}/stats",
    tag: "Memories",
    summary: "How many memories of which kind and status, and what they cost in calls to models",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: STATS_QUERY,
    answers: { 200: { says: "The counts.", schema: USER_STATS_SCHEMA } },
    handle: async ({ exchange, path, query, memoryOf }) =>
      exchange.json({
        user_id: path.user_id,
        ...(toWire(await memoryOf(path.user_id).stats(omitUndefined(query))) as object),
      }),
  }),
  defineOperation({
    id: "getProjectStats",
    method: "GET",
    path: "/api/v1/stats",
    tag: "Server",
    summary: "What the project's calls to models cost, and what is left of its budgets",
    scope: "admin",
    query: STATS_QUERY,
    answers: { 200: { says: "The sums.", schema: PROJECT_STATS_SCHEMA } },
    handle: async ({ exchange, query, project, services }) =>
      exchange.json(
        toWire(await services.keepsake.stats({ project: project(), ...omitUndefined(query) })) as object,
      ),
  }),
  defineOperation({
    id: "getMetrics",
    method: "GET",
    path: "/metrics",
    tag: "Server",
    summary: "Metrics for Prometheus",
    description:
      "Sums over all projects, without a name of any. Where the server's settings say so, no key is needed.",
    scope: "admin",
    answers: {
      200: { says: "The metrics.", others: { "text/plain": "Prometheus's text format, version 0.0.4" } },
    },
    problems: [404],
    async handle({ exchange, services }) {
      if (!services.metrics)
        throw refuse({ status: 404, code: "not_found", detail: "Metrics are off here." });
      return exchange.body(await services.metrics(), 200, {
        "content-type": "text/plain; version=0.0.4; charset=utf-8",
      });
    },
  }),
];

/** The same table, with metrics for whoever reaches the server. */
export function withOpenMetrics(operations: readonly Operation[]): Operation[] {
  return operations.map((one) => (one.id === "getMetrics" ? { ...one, scope: "none" } : one));
}

const turnTextSchema = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number)
  .pipe(z.int().min(0).max(999_999_999));
const flagSchema = z
  .enum(["true", "false"])
  .transform((word) => word === "true")
  .pipe(z.boolean());

const OPTIMIZE_QUERY = z.strictObject({
  current_turn: turnTextSchema.optional(),
  dry_run: flagSchema.optional(),
});

/** What runs in the background, and the same for one user at once. */
export const jobOperations: readonly Operation[] = [
  defineOperation({
    id: "listJobs",
    method: "GET",
    path: "/api/v1/jobs",
    tag: "Server",
    summary: "What runs in the background, and how it goes",
    description: "Of the whole server: states, times and numbers.",
    scope: "admin",
    answers: { 200: { says: "The jobs.", schema: JOB_LIST_SCHEMA } },
    handle: async ({ exchange, services }) =>
      exchange.json({ items: (await services.keepsake.jobs()).map(toWire) }),
  }),
  defineOperation({
    id: "optimize",
    method: "POST",
    path: "/api/v1/memories/{user_id}/optimize",
    tag: "Memories",
    summary: "Looks after a user's memories: expiry, consolidation, decay, clean-up",
    description:
      "With `dry_run` it says what it would do, and does nothing. Nothing is erased: `undo` takes each revision back. " +
      "With `current_turn`, what was said in the hundred turns before it is left alone.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    query: OPTIMIZE_QUERY,
    acceptsIdempotencyKey: true,
    answers: {
      200: { says: "What was done, or would be, with the reasons.", schema: OPTIMIZE_RESULT_SCHEMA },
    },
    problems: [409],
    async handle({ exchange, path, query, signal, memoryOf }) {
      const { current_turn: currentTurn, dry_run: dryRun } = query;
      const done = await memoryOf(path.user_id).optimize({
        ...omitUndefined({ currentTurn, dryRun }),
        signal,
      });
      return exchange.json(toWire(done) as object);
    },
  }),
];

/** The users of a project. */
export const userOperations: readonly Operation[] = [
  defineOperation({
    id: "listUsers",
    method: "GET",
    path: "/api/v1/users",
    tag: "Users",
    summary: "The users of the project, by name",
    scope: "admin",
    query: PAGE_QUERY,
    answers: { 200: { says: "A page.", schema: USER_PAGE_SCHEMA } },
    async handle({ exchange, query, services, project }) {
      const { limit = 50, cursor } = query;
      const all = await services.keepsake.users(project());
      const after = cursor === undefined ? undefined : Buffer.from(cursor, "base64url").toString("utf8");
      const rest = after === undefined ? all : all.filter((name) => name > after);
      const names = rest.slice(0, limit);
      const last = rest.length > limit ? names.at(-1) : undefined;
      const next = last === undefined ? undefined : Buffer.from(last, "utf8").toString("base64url");
      const items = names.map((user_id) => ({ user_id }));
      return exchange.json({ items, total: all.length, ...toCursorFields(next) });
    },
  }),
];
