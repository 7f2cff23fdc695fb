import type { Cache } from "../../ports/cache.ts";
import type { Queue } from "../../ports/queue.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { BackendSettings } from "../backend-settings.ts";
import { loadVendorPackage } from "../vendor-packages.ts";
import { type BackendClients, toPrefixOption } from "./clients.ts";

export async function openSessions(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<{ readonly sessions?: Sessions }> {
  if (settings.sessions !== "redis") return {};
  const { redisSessions } = await import("../../adapters/redis/index.ts");
  return { sessions: redisSessions({ client: await clients.redis(), ...toPrefixOption(settings) }) };
}

export async function openCache(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<{ readonly cache?: Cache }> {
  if (settings.cache?.name !== "redis") return {};
  const { ttlMs } = settings.cache;
  const { redisCache } = await import("../../adapters/redis/index.ts");
  const client = await clients.redis();
  return {
    cache: redisCache({ client, ...toPrefixOption(settings), ...(ttlMs === undefined ? {} : { ttlMs }) }),
  };
}

export async function openRateLimits(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<((perMinute: number) => RateLimits) | undefined> {
  if (settings.rateLimits !== "redis") return undefined;
  const { redisRateLimits } = await import("../../adapters/redis/index.ts");
  const client = await clients.redis();
  return (perMinute) => redisRateLimits({ client, perMinute, ...toPrefixOption(settings) });
}

/** With a client of its own: BullMQ's commands wait for a server that is down, and those of the others do not. */
export async function openQueue(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<{ readonly queue?: Queue }> {
  if (settings.queue !== "bullmq") return {};
  const library = await loadVendorPackage("bullmq", "KEEPSAKE_QUEUE");
  const { bullmqQueue } = await import("../../adapters/bullmq/index.ts");
  const queue = bullmqQueue({ library, connection: await clients.queueRedis(), ...toPrefixOption(settings) });
  clients.closing.add(() => queue.close());
  return { queue };
}
