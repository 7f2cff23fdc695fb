import * as z from "zod";
import { USAGE_BY } from "../../domain/stats.ts";
import { momentSchema } from "../fields.ts";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { refuse } from "../problem.ts";
import { PROJECT_STATS_SCHEMA, USER_STATS_SCHEMA } from "../shapes/stats.ts";
import { omitUndefined, toWire } from "../wire.ts";

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
