import type { Cache } from "../../ports/cache.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { Queue } from "../../ports/queue.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { Documents } from "../../ports/stores/documents.ts";
import type { VectorIndex } from "../../ports/vector-index.ts";
import { type BackendSettings, getServerSettings } from "../backend-settings.ts";
import type { Settings } from "../settings.ts";
import { loadVendorPackage } from "../vendor-packages.ts";
import {
  type BackendClients,
  createBackendClients,
  openServerStore,
  type ServerStore,
  toPrefixOption,
} from "./connections.ts";
import { openVectorIndexes } from "./vector-indexes.ts";

/** The opened backends: options for `createMemory`, and for a server. */
export interface Backends {
  readonly options: BackendOptions;
  /** Rate limits that several servers share. If absent, each server counts separately. */
  readonly rateLimits?: (perMinute: number) => RateLimits;
  /** Documents that several servers share: their keys. */
  readonly documents?: Documents;
  /** Notices to show at the start. */
  readonly notices: readonly string[];
  /** Closes the backends. Call it after closing the memory. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options of `createMemory` from the settings. */
interface BackendOptions {
  readonly record?: ServerStore;
  /** The erasure ledger, outside the database. */
  readonly ledger?: Ledger;
  readonly indexSearch?: { readonly from?: number; readonly timeoutMs?: number };
  readonly index?: readonly VectorIndex[];
  readonly sessions?: Sessions;
  readonly cache?: Cache;
  readonly hotAfter?: number;
  readonly queue?: Queue;
}

/**
 * Opens the configured backends. Throws `unsupported` with an install command if a package is missing. An optional server
 * that does not answer yet is reported in `notices`.
 */
export async function openBackends({
  backends: settings = {},
  secret,
}: Pick<Settings, "backends" | "secret">): Promise<Backends> {
  const clients = createBackendClients(settings);
  try {
    const record = await openRecord(settings, clients, secret);
    const followers = await openVectorIndexes(settings, clients);
    const rateLimits = await openRateLimits(settings, clients);
    return {
      options: {
        ...(record ? { record, ...(await openLedger(settings, record)) } : {}),
        ...toIndexSearchOptions(settings),
        ...(followers.length > 0 ? { index: followers } : {}),
        ...(await openSessions(settings, clients)),
        ...(await openCache(settings, clients)),
        ...(settings.cache?.hotAfter === undefined ? {} : { hotAfter: settings.cache.hotAfter }),
        ...(await openQueue(settings, clients)),
      },
      ...(record ? { documents: record.documents } : {}),
      ...(rateLimits ? { rateLimits } : {}),
      notices: clients.notices,
      [Symbol.asyncDispose]: clients.closing.close,
    };
  } catch (error) {
    await clients.closing.close();
    throw error;
  }
}

/** Gives an address without its password and query. */
export function redactAddress(url: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    return "the database";
  }
}

async function openRecord(
  settings: BackendSettings,
  { closing, notices }: BackendClients,
  secret: string | undefined,
): Promise<ServerStore | undefined> {
  if (!getServerSettings(settings)) return undefined;
  const opened = await openServerStore(settings, secret === undefined ? {} : { secret });
  closing.add(opened.close);
  notices.push(...opened.record.notices);
  return opened.record;
}

async function openLedger(
  settings: BackendSettings,
  record: ServerStore,
): Promise<{ readonly ledger?: Ledger }> {
  const { ledger } = getServerSettings(settings) ?? {};
  if (ledger === undefined) return {};
  const { fileLedger } = await import("../../adapters/sqlite/index.ts");
  return { ledger: fileLedger(ledger, await record.identity()) };
}

function toIndexSearchOptions({
  followersFrom,
  patienceMs,
}: BackendSettings): Pick<BackendOptions, "indexSearch"> {
  if (followersFrom === undefined && patienceMs === undefined) return {};
  return {
    indexSearch: {
      ...(followersFrom === undefined ? {} : { from: followersFrom }),
      ...(patienceMs === undefined ? {} : { timeoutMs: patienceMs }),
    },
  };
}

async function openSessions(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<{ readonly sessions?: Sessions }> {
  if (settings.sessions !== "redis") return {};
  const { redisSessions } = await import("../../adapters/redis/index.ts");
  return { sessions: redisSessions({ client: await clients.redis(), ...toPrefixOption(settings) }) };
}

async function openCache(
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

async function openRateLimits(
  settings: BackendSettings,
  clients: BackendClients,
): Promise<((perMinute: number) => RateLimits) | undefined> {
  if (settings.rateLimits !== "redis") return undefined;
  const { redisRateLimits } = await import("../../adapters/redis/index.ts");
  const client = await clients.redis();
  return (perMinute) => redisRateLimits({ client, perMinute, ...toPrefixOption(settings) });
}

/** Opens the queue with its own client: only BullMQ's commands wait while the server is down. */
async function openQueue(
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
