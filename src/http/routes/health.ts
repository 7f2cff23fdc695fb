import * as z from "zod";
import { closing } from "../open.ts";
import { type Operation, operation } from "../operation.ts";

const HEALTH = z.object({ status: z.literal("ok") });
const DEPENDENCY = z.object({
  kind: z.enum(["record", "sessions", "cache", "queue", "index"]),
  name: z.string().optional(),
  state: z.enum(["up", "down"]),
  since: z.string(),
});
const READY = z.object({
  status: z.literal("ready"),
  degraded: z.array(z.string()),
  dependencies: z.array(DEPENDENCY),
  notices: z.array(z.string()),
});

/** Whether the process lives, and whether the memory can be read. */
export const healthOperations: readonly Operation[] = [
  operation({
    id: "getHealth",
    method: "GET",
    path: "/api/v1/health",
    tag: "Server",
    summary: "Whether the process lives",
    description: "It says nothing else.",
    scope: "none",
    answers: { 200: { says: "It lives.", schema: HEALTH } },
    handle: ({ exchange }) => exchange.json({ status: "ok" }),
  }),
  operation({
    id: "getReadiness",
    method: "GET",
    path: "/api/v1/ready",
    tag: "Server",
    summary: "Whether the memory can be read, and written where a write failed before",
    description:
      "Names each service that is configured, whether it answered within the last seconds, and since when. Where one beside the " +
      "database is down, it stands in `degraded`, and the status stays 200: the service goes on without it. No addresses.",
    scope: "any",
    answers: { 200: { says: "It can; what its keeper should know stands in `notices`.", schema: READY } },
    async handle({ exchange, memoryOf, services }) {
      // Before it stops to serve: whoever sends it requests has the time to send them elsewhere.
      if (services.lifecycle.phase() !== "serving") throw closing();
      // A user nobody has: the cheapest read that goes through everything.
      await memoryOf("readiness").list({ limit: 1 });
      // Only where a write failed: one that succeeds now says that the disk has room again.
      if (services.lifecycle.isRefusingWrites) {
        await services.keepsake.probe();
        services.lifecycle.isRefusingWrites = false;
      }
      const dependencies = services.keepsake.dependencies();
      return exchange.json({
        status: "ready",
        degraded: dependencies.filter(({ state }) => state === "down").map(({ kind, name }) => name ?? kind),
        dependencies,
        notices: services.keepsake.notices,
      });
    },
  }),
];
