import { MemoryError } from "../../errors.ts";
import type { Cache } from "../../ports/cache.ts";
import type { Follower } from "../../ports/follower.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { BackendSettings } from "../backend-settings.ts";
import type { Settings } from "../settings.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { openFollowers } from "./followers.ts";

/** What the settings name, open: what `createMemory` takes, and what a server takes beside it. */
export interface Backends {
  readonly options: BackendOptions;
  /** The limits of rates that several servers share; absent where each counts for itself. */
  readonly rateLimits?: (perMinute: number) => RateLimits;
  /** What whoever starts the program should be told. */
  readonly notices: readonly string[];
  /** After the memory is closed that uses them. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of `createMemory`, as the settings have them. */
export interface BackendOptions {
  readonly index?: readonly Follower[];
  readonly sessions?: Sessions;
  readonly cache?: Cache;
}

/**
 * Opens what the settings name. `unsupported` names a package that is not installed, with the command that installs it; servers that
 * do not answer yet are told in `notices`, where nothing depends on them.
 */
export async function openBackends({
  backends: settings = {},
}: Pick<Settings, "backends" | "secret">): Promise<Backends> {
  const clients = clientsOf(settings);
  try {
    if (settings.postgres) {
      throw new MemoryError("unsupported", "MEMORY_DB_URL: PostgreSQL is not supported by this version.");
    }
    const followers = await openFollowers(settings, clients);
    const rateLimits = await rateLimitsOf(settings, clients);
    return {
      options: {
        ...(followers.length > 0 ? { index: followers } : {}),
        ...(await sessionsOf(settings, clients)),
        ...(await cacheOf(settings, clients)),
      },
      ...(rateLimits ? { rateLimits } : {}),
      notices: clients.notices,
      [Symbol.asyncDispose]: clients.closing.close,
    };
  } catch (error) {
    await clients.closing.close();
    throw error;
  }
}

/** An address for people: without the password, and without what may hold one. */
export function shownAddress(url: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    return "the database";
  }
}

async function sessionsOf(
  settings: BackendSettings,
  clients: Clients,
): Promise<{ readonly sessions?: Sessions }> {
  if (settings.sessions !== "redis") return {};
  const { redisSessions } = await import("../../adapters/redis/index.ts");
  return { sessions: redisSessions({ client: await clients.redis() }) };
}

async function cacheOf(settings: BackendSettings, clients: Clients): Promise<{ readonly cache?: Cache }> {
  if (settings.cache?.name !== "redis") return {};
  const { ttlMs } = settings.cache;
  const { redisCache } = await import("../../adapters/redis/index.ts");
  const client = await clients.redis();
  return { cache: redisCache({ client, ...(ttlMs === undefined ? {} : { ttlMs }) }) };
}

async function rateLimitsOf(
  settings: BackendSettings,
  clients: Clients,
): Promise<((perMinute: number) => RateLimits) | undefined> {
  if (settings.rateLimits !== "redis") return undefined;
  const { redisRateLimits } = await import("../../adapters/redis/index.ts");
  const client = await clients.redis();
  return (perMinute) => redisRateLimits({ client, perMinute });
}
