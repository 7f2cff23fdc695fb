import * as z from "zod";
import { closing } from "../open.ts";
import { type Operation, operation } from "../operation.ts";

const HEALTH = z.object({ status: z.literal("ok") });
const READY = z.object({ status: z.literal("ready"), notices: z.array(z.string()) });

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
      return exchange.json({ status: "ready", notices: services.keepsake.notices });
    },
  }),
];
