import * as z from "zod";
import type { DependencyState } from "../../engine/admin/dependencies.ts";
import type { Health, HealthCheck } from "../../engine/admin/health.ts";
import { createClosingError } from "../graceful-shutdown.ts";
import { defineOperation, type Operation, type ServerServices } from "../operation.ts";

const DEPENDENCY: z.ZodType<DependencyState> = z.object({
  kind: z.enum(["record", "sessions", "cache", "queue", "index", "embedder", "model"]),
  name: z.string().exactOptional(),
  state: z.enum(["up", "degraded", "down"]),
  since: z.string(),
  problem: z.enum(["slow", "silent", "circuit", "failing", "behind"]).exactOptional(),
});
const CHECK = z.object({
  name: z.enum([
    "durability",
    "format",
    "file",
    "disk",
    "secret",
    "rows",
    "digests",
    "erasures",
    "jobs",
    "indexes",
    "writes",
  ]),
  state: z.enum(["ok", "warning"]),
  says: z.string(),
  count: z.number().exactOptional(),
});
const DURABILITY = z.enum(["full", "reduced", "none", "unknown"]);

const HEALTH = z.object({
  status: z.enum(["ok", "degraded", "down"]),
  durability: DURABILITY.exactOptional(),
  checkedAt: z.string().exactOptional(),
  checks: z.array(CHECK).exactOptional(),
  dependencies: z.array(DEPENDENCY).exactOptional(),
});
const READY = z.object({
  status: z.literal("ready"),
  durability: DURABILITY.exactOptional(),
  degraded: z.array(z.string()).exactOptional(),
  checks: z.array(CHECK).exactOptional(),
  dependencies: z.array(DEPENDENCY).exactOptional(),
  notices: z.array(z.string()).exactOptional(),
});

const OPTIONAL_KEY_NOTE = "Without a key it says nothing else. With one, ";

/** Whether the process lives, whether the memory can be read and written, and how it stands with what it depends on. */
export const healthOperations: readonly Operation[] = [
  defineOperation({
    id: "getHealth",
    method: "GET",
    path: "/api/v1/health",
    tag: "Server",
    summary: "Whether the process lives",
    description:
      `${OPTIONAL_KEY_NOTE}it tells what the quick part of \`keepsake doctor\` tells, as found in the last minute, and names each service that ` +
      "is configured: up, degraded or down, and since when. The HTTP status stays 200. No addresses.",
    scope: "optional",
    answers: { 200: { says: "It lives.", schema: HEALTH } },
    async handle({ exchange, bearer, services }) {
      return exchange.json(bearer ? await getHealth(services) : { status: "ok" });
    },
  }),
  defineOperation({
    id: "getReadiness",
    method: "GET",
    path: "/api/v1/ready",
    tag: "Server",
    summary: "Whether the memory can be read, and written where a write failed before",
    description:
      `${OPTIONAL_KEY_NOTE}it tells the same as health. Services that are degraded or down stand in \`degraded\` too; where it is one beside ` +
      "the database, the HTTP status stays 200: the server goes on without it.",
    scope: "optional",
    answers: { 200: { says: "It can; what its keeper should know stands in `notices`.", schema: READY } },
    async handle({ exchange, bearer, services }) {
      // Before it stops to serve: whoever sends it requests has the time to send them elsewhere.
      if (services.lifecycle.phase() !== "serving") throw createClosingError();
      if (!bearer) {
        await checkReadyThrottled(services);
        return exchange.json({ status: "ready" });
      }
      await checkReady(services);
      const { durability, checks, dependencies } = await getHealth(services);
      return exchange.json({
        status: "ready",
        durability,
        degraded: dependencies.filter(({ state }) => state !== "up").map(({ kind, name }) => name ?? kind),
        checks,
        dependencies,
        notices: services.keepsake.notices,
      });
    },
  }),
];

type ServerHealthCheck = HealthCheck | (Omit<HealthCheck, "name"> & { readonly name: "writes" });

/** With what the server itself knows of writes. */
async function getHealth({
  keepsake,
  lifecycle,
}: ServerServices): Promise<Omit<Health, "checks"> & { readonly checks: readonly ServerHealthCheck[] }> {
  const health = await keepsake.health();
  if (!lifecycle.isRefusingWrites) return health;
  const failed: ServerHealthCheck = {
    name: "writes",
    state: "warning",
    says: "The last write could not be stored. Look at the disk and at the server's own messages.",
  };
  return {
    ...health,
    status: health.status === "down" ? "down" : "degraded",
    checks: [...health.checks, failed],
  };
}

/** Throws where the memory cannot be read; and where a write failed, or the file may not be written, unless one succeeds now. */
async function checkReady({ keepsake, lifecycle }: ServerServices): Promise<void> {
  // A user nobody has: the cheapest read that goes through everything.
  await keepsake.scope({ project: "default", user: "readiness" }).list({ limit: 1 });
  const { checks } = await keepsake.health();
  const isReadOnly = checks.some(({ name, state }) => name === "file" && state === "warning");
  // One that succeeds now says that the disk has room again.
  if (lifecycle.isRefusingWrites || isReadOnly) {
    await keepsake.probe();
    lifecycle.isRefusingWrites = false;
  }
}

/** For so long, in ms, the last look is good for whoever has no key: anybody may ask, as often as they like. */
const CHECK_INTERVAL_MS = 500;
const lastChecks = new WeakMap<ServerServices, { readonly at: number; readonly outcome: Promise<void> }>();

async function checkReadyThrottled(services: ServerServices): Promise<void> {
  const last = lastChecks.get(services);
  if (last && performance.now() - last.at < CHECK_INTERVAL_MS) return last.outcome;
  const outcome = checkReady(services);
  lastChecks.set(services, { at: performance.now(), outcome });
  return outcome;
}
