import * as z from "zod";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { JOB_LIST_SCHEMA, OPTIMIZE_RESULT_SCHEMA } from "../shapes/job.ts";
import { omitUndefined, toWire } from "../wire.ts";

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
