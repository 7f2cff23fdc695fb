import * as z from "zod";
import type { DependencyState, Health, HealthCheck } from "../../../engine/api/inspection-types.ts";
import { createClosingError } from "../../graceful-shutdown.ts";
import { defineOperation, type Operation, type ServerServices } from "../../operation.ts";

const DEPENDENCY: z.ZodType<DependencyState> = z.object({
  kind: z.enum([
    "record",
    "sessions",
    "cache",
    "queue",
    "index",
    "embedder",
    "model",
    "reranker",
    "backups",
    "identity_provider",
  ]),
  name: z.string().exactOptional(),
  state: z.enum(["up", "degraded", "down"]),
  since: z.string(),
  problem: z.enum(["slow", "silent", "circuit", "failing", "behind", "overdue"]).exactOptional(),
  lastSuccess: z.string().exactOptional(),
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
    "webhooks",
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

const OPTIONAL_KEY_NOTE = "Without a key it gives only the status. With one, ";

/** Health and readiness, with the state of dependencies. */
export const healthOperations: readonly Operation[] = [
  defineOperation({
    id: "getHealth",
    method: "GET",
    path: "/api/v1/health",
    tag: "Server",
    summary: "Checks whether the process is alive",
    description:
      `${OPTIONAL_KEY_NOTE}it adds the quick checks of \`keepsake doctor\`, at most a minute old, and the state of each configured ` +
      "service: up, degraded or down, and since when. The HTTP status is always 200. It contains no addresses.",
    scope: "optional",
    answers: { 200: { says: "The process is alive.", schema: HEALTH } },
    async handle({ exchange, bearer, services }) {
      return exchange.json(bearer ? await getHealth(services) : { status: "ok" });
    },
  }),
  defineOperation({
    id: "getReadiness",
    method: "GET",
    path: "/api/v1/ready",
    tag: "Server",
    summary: "Checks whether the database can be read and, after a failed write, written",
    description:
      `${OPTIONAL_KEY_NOTE}it gives the same as health. Services that are degraded or down are listed in \`degraded\` too. If such a ` +
      "service is not the database, the HTTP status is still 200: the server works without it.",
    scope: "optional",
    answers: { 200: { says: "Ready. `notices` contains messages for the operator.", schema: READY } },
    async handle({ exchange, bearer, services }) {
      // Reported before the server stops serving, so that clients can switch to another one.
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
        notices: [...services.keepsake.notices, ...services.notices()],
      });
    },
  }),
];

type ServerHealthCheck = HealthCheck | (Omit<HealthCheck, "name"> & { readonly name: "writes" });

/** Adds the server's own check of writes, and the identity provider. */
async function getHealth({
  keepsake,
  lifecycle,
  oauth,
}: ServerServices): Promise<Omit<Health, "checks"> & { readonly checks: readonly ServerHealthCheck[] }> {
  const [known, provider] = await Promise.all([keepsake.health(), oauth?.getProviderState?.()]);
  const health = provider ? addDependency(known, provider) : known;
  if (!lifecycle.isRefusingWrites) return health;
  const failed: ServerHealthCheck = {
    name: "writes",
    state: "warning",
    says: "The last write failed. Check the disk and the server's log.",
  };
  return {
    ...health,
    status: health.status === "down" ? "down" : "degraded",
    checks: [...health.checks, failed],
  };
}

function addDependency(health: Health, dependency: DependencyState): Health {
  const isWorse = health.status === "ok" && dependency.state !== "up";
  return {
    ...health,
    status: isWorse ? "degraded" : health.status,
    dependencies: [...health.dependencies, dependency],
  };
}

/** Throws if the database cannot be read; and, after a failed write or on a read-only file, unless a write succeeds now. */
async function checkReady({ keepsake, lifecycle }: ServerServices): Promise<void> {
  // A user without data: the cheapest read through all layers.
  await keepsake.scope({ project: "default", user: "readiness" }).list({ limit: 1 });
  const { checks } = await keepsake.health();
  const isReadOnly = checks.some(({ name, state }) => name === "file" && state === "warning");
  // A successful write now shows that the disk works again.
  if (lifecycle.isRefusingWrites || isReadOnly) {
    await keepsake.probe();
    lifecycle.isRefusingWrites = false;
  }
}

/** How long a result is cached for requests without a key, in ms: anyone may send them, without limit. */
const CHECK_INTERVAL_MS = 500;
const lastChecks = new WeakMap<ServerServices, { readonly at: number; readonly outcome: Promise<void> }>();

async function checkReadyThrottled(services: ServerServices): Promise<void> {
  const last = lastChecks.get(services);
  if (last && performance.now() - last.at < CHECK_INTERVAL_MS) return last.outcome;
  const outcome = checkReady(services);
  lastChecks.set(services, { at: performance.now(), outcome });
  return outcome;
}
