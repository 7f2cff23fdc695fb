import type { Cache } from "../../ports/cache.ts";
import type { Queue } from "../../ports/queue.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { BackendSettings } from "../backend-settings.ts";
import { vendorPackage } from "../vendor-packages.ts";
import { type Clients, prefixOf } from "./clients.ts";

export async function sessionsOf(
  settings: BackendSettings,
  clients: Clients,
): Promise<{ readonly sessions?: Sessions }> {
  if (settings.sessions !== "redis") return {};
  const { redisSessions } = await import("../../adapters/redis/index.ts");
  return { sessions: redisSessions({ client: await clients.redis(), ...prefixOf(settings) }) };
}

export async function cacheOf(
  settings: BackendSettings,
  clients: Clients,
): Promise<{ readonly cache?: Cache }> {
  if (settings.cache?.name !== "redis") return {};
  const { ttlMs } = settings.cache;
  const { redisCache } = await import("../../adapters/redis/index.ts");
  const client = await clients.redis();
  return { cache: redisCache({ client, ...prefixOf(settings), ...(ttlMs === undefined ? {} : { ttlMs }) }) };
}

export async function rateLimitsOf(
  settings: BackendSettings,
  clients: Clients,
): Promise<((perMinute: number) => RateLimits) | undefined> {
  if (settings.rateLimits !== "redis") return undefined;
  const { redisRateLimits } = await import("../../adapters/redis/index.ts");
  const client = await clients.redis();
  return (perMinute) => redisRateLimits({ client, perMinute, ...prefixOf(settings) });
}

/** With a client of its own: BullMQ's commands wait for a server that is down, and those of the others do not. */
export async function queueOf(
  settings: BackendSettings,
  clients: Clients,
): Promise<{ readonly queue?: Queue }> {
  if (settings.queue !== "bullmq") return {};
  const library = await vendorPackage("bullmq", "KEEPSAKE_QUEUE");
  const { bullmqQueue } = await import("../../adapters/bullmq/index.ts");
  const queue = bullmqQueue({ library, connection: await clients.queueRedis(), ...prefixOf(settings) });
  clients.closing.add(() => queue.close());
  return { queue };
}
