import * as z from "zod";
import {
  BUDGET_HOLDERS,
  BUDGET_PERIODS,
  CALL_OUTCOMES,
  CALL_PURPOSES,
  USAGE_BY,
} from "../../../domain/model-usage.ts";
import { JOB_NAMES } from "../../../domain/operations/job.ts";
import { SETTING_ORIGINS } from "../../../domain/operations/setting-in-force.ts";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../../operation.ts";
import { PAGE_QUERY, toCursorFields } from "../../pagination.ts";
import { refuse } from "../../problem.ts";
import {
  createCountTextSchema,
  kindNameSchema,
  momentSchema,
  shareTextSchema,
  timeSchema,
  wholeNumberSchema,
  withSchemaId,
} from "../../schemas/fields.ts";
import { USER_PAGE_SCHEMA } from "../../schemas/memory.ts";
import { omitUndefined, toWire } from "../../schemas/wire.ts";

const PURPOSE_SCHEMA = z
  .enum(CALL_PURPOSES)
  .describe("`chat`: calls that the proxy forwarded, not Keepsake's own");
const dollarsSchema = z.number().min(0).describe("US dollars, by the price table");

const TOTALS_FIELDS = {
  calls: wholeNumberSchema,
  failed: wholeNumberSchema.describe("Calls among these that failed"),
  tokens_in: wholeNumberSchema,
  tokens_cached: wholeNumberSchema.describe("Of `tokens_in`, from the provider's prompt cache"),
  tokens_out: wholeNumberSchema,
  cost: dollarsSchema,
  unpriced: wholeNumberSchema.describe("Calls of models without a price"),
};

const BUDGET_SCHEMA = withSchemaId(
  "Budget",
  z.object({
    of: z.enum(BUDGET_HOLDERS),
    per: z.enum(BUDGET_PERIODS),
    unit: z.enum(["usd", "tokens"]),
    limit: z.number(),
    spent: z.number().describe("Includes the amount reserved for calls in progress"),
    left: z.number().min(0),
    until: timeSchema.describe("When the budget is renewed"),
  }),
);

/** The schema of usage: model calls and their cost. */
const USAGE_SCHEMA: z.ZodType = withSchemaId(
  "Usage",
  z.object({
    since: timeSchema.optional(),
    until: timeSchema,
    turns: wholeNumberSchema.describe("Messages stored in this period"),
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
    kinds: z.record(z.string(), wholeNumberSchema).describe("Number of current memories of each kind"),
    review: wholeNumberSchema.describe("Current memories that depend on something that has changed"),
    links: wholeNumberSchema.describe("Stored associations between memories"),
    messages: wholeNumberSchema,
    pending: wholeNumberSchema.describe("Messages that are not processed yet"),
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
          .describe("`failing`: the last run failed and is retried; `idle`: it runs when there is work"),
        last_run: timeSchema.optional(),
        took_ms: wholeNumberSchema.optional(),
        next_run: timeSchema.optional(),
        done: wholeNumberSchema.describe("Number of items processed in this run, or in the last one"),
        left: wholeNumberSchema.describe("Number of waiting items, if known").optional(),
        found: wholeNumberSchema.describe("Number of findings left for people to decide").optional(),
        problem: z.string().describe("Why the last run failed").optional(),
        attempts: wholeNumberSchema.describe("Number of consecutive failed runs"),
        set_aside: wholeNumberSchema
          .describe("Number of users for whom it failed too often, who are skipped")
          .optional(),
      }),
    ),
  ),
});

const OPTIMIZE_RESULT_SCHEMA: z.ZodType = withSchemaId(
  "Optimized",
  z.object({
    dry_run: z.boolean(),
    revision: wholeNumberSchema.describe("The user's revision afterwards"),
    jobs: z.array(
      z.object({
        name: JOB_NAME_SCHEMA,
        revisions: z.array(wholeNumberSchema).describe("Its revisions; `undo` reverts each").optional(),
        memories: z.array(
          z.object({
            id: z.string(),
            action: z
              .enum(["expired", "merged", "archived", "faded"])
              .describe("`faded` memories do not change; they only rank lower because of their age"),
            text: z.string(),
            by: z.string().describe("The memory into which it was merged").optional(),
            by_text: z.string().describe("What that memory says").optional(),
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

/** Statistics and metrics. */
export const statsOperations: readonly Operation[] = [
  defineOperation({
    id: "getStats",
    method: "GET",
    path: "/api/v1/memories/{user_id}/stats",
    tag: "Memories",
    summary: "Counts a user's memories by kind and status, with the cost of their model calls",
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
    summary: "Gives the cost of the project's model calls, and its remaining budgets",
    scope: "admin",
    query: STATS_QUERY,
    answers: { 200: { says: "The totals.", schema: PROJECT_STATS_SCHEMA } },
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
    summary: "Gives metrics for Prometheus",
    description:
      "Totals over all projects, without names. If the server's settings allow it, no key is needed.",
    scope: "admin",
    answers: {
      200: { says: "The metrics.", others: { "text/plain": "Prometheus text format, version 0.0.4" } },
    },
    problems: [404],
    async handle({ exchange, services }) {
      if (!services.metrics)
        throw refuse({ status: 404, code: "not_found", detail: "Metrics are disabled." });
      return exchange.body(await services.metrics(), 200, {
        "content-type": "text/plain; version=0.0.4; charset=utf-8",
      });
    },
  }),
];

/** Gives the same table with metrics that need no key. */
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

const kindsTextSchema = z
  .string()
  .transform((text): unknown[] => text.split(","))
  .pipe(z.array(kindNameSchema));

const OPTIMIZE_QUERY = z.strictObject({
  current_turn: turnTextSchema.optional(),
  dry_run: flagSchema.optional(),
  max_age_days: createCountTextSchema(0, 100_000).optional(),
  min_importance: shareTextSchema.optional(),
  kinds: kindsTextSchema.optional(),
});

const SETTING_LIST_SCHEMA: z.ZodType = z.object({
  items: z.array(
    withSchemaId(
      "Setting",
      z.object({
        name: z.string(),
        value: z.string().describe("Absent for a default, and where `hidden` is true").optional(),
        from: z.enum(SETTING_ORIGINS),
        hidden: z.literal(true).describe("The value is a secret, or may contain one").optional(),
      }),
    ),
  ),
  total: wholeNumberSchema,
});

/** The project of the operator: its administrators may see what the server's settings say. */
const OPERATORS_PROJECT = "default";

/** The settings of the server. */
export const settingOperations: readonly Operation[] = [
  defineOperation({
    id: "listSettings",
    method: "GET",
    path: "/api/v1/settings",
    tag: "Server",
    summary: "Lists the server's settings: what is in force, and where it comes from",
    description:
      "For the whole server. Secrets are named without their values. Only keys of the project `default` get values: settings may name " +
      "other projects.",
    scope: "admin",
    answers: { 200: { says: "The settings, by name.", schema: SETTING_LIST_SCHEMA } },
    handle({ exchange, services, project }) {
      const isOperator = project() === OPERATORS_PROJECT;
      const items = services.settings.map(({ value, ...setting }) =>
        value === undefined ? setting : { ...setting, ...(isOperator ? { value } : { hidden: true }) },
      );
      return exchange.json({ items, total: items.length });
    },
  }),
];

/** Background jobs, and running them for one user. */
export const jobOperations: readonly Operation[] = [
  defineOperation({
    id: "listJobs",
    method: "GET",
    path: "/api/v1/jobs",
    tag: "Server",
    summary: "Lists the background jobs and their state",
    description: "For the whole server: states, times and counts.",
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
    summary: "Maintains a user's memories: expiry, consolidation, decay, clean-up",
    description:
      "With `dry_run` it only shows what it would change. Nothing is erased: `undo` reverts each revision. " +
      "With `current_turn`, it skips memories from the hundred turns before that one. `max_age_days`, `min_importance` and " +
      "`kinds` (with commas) set what the clean-up archives: memories that are older, less important, and of these kinds or " +
      "groups of kinds.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    query: OPTIMIZE_QUERY,
    acceptsIdempotencyKey: true,
    answers: {
      200: { says: "The changes, or planned changes, with reasons.", schema: OPTIMIZE_RESULT_SCHEMA },
    },
    problems: [409],
    async handle({ exchange, path, query, signal, memoryOf }) {
      const { current_turn: currentTurn, dry_run: dryRun, kinds } = query;
      const { max_age_days: maxAgeDays, min_importance: minImportance } = query;
      const done = await memoryOf(path.user_id).optimize({
        ...omitUndefined({ currentTurn, dryRun, maxAgeDays, minImportance, kinds }),
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
    summary: "Lists the users of the project, by name",
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
