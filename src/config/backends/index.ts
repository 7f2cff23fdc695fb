import type { PostgresRecord } from "../../adapters/postgres/index.ts";
import type { Cache } from "../../ports/cache.ts";
import type { Documents } from "../../ports/documents.ts";
import type { Follower } from "../../ports/follower.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { Queue } from "../../ports/queue.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { BackendSettings } from "../backend-settings.ts";
import type { Settings } from "../settings.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { openFollowers } from "./followers.ts";
import { cacheOf, queueOf, rateLimitsOf, sessionsOf } from "./on-redis.ts";

/** What the settings name, open: what `createMemory` takes, and what a server takes beside it. */
export interface Backends {
  readonly options: BackendOptions;
  /** The limits of rates that several servers share; absent where each counts for itself. */
  readonly rateLimits?: (perMinute: number) => RateLimits;
  /** What several servers share beside the record: their keys. */
  readonly documents?: Documents;
  /** What whoever starts the program should be told. */
  readonly notices: readonly string[];
  /** After the memory is closed that uses them. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of `createMemory`, as the settings have them. */
export interface BackendOptions {
  readonly record?: PostgresRecord;
  /** What was erased, outside of the database. */
  readonly ledger?: Ledger;
  readonly indexSearch?: { readonly from?: number; readonly timeoutMs?: number };
  readonly index?: readonly Follower[];
  readonly sessions?: Sessions;
  readonly cache?: Cache;
  readonly hotAfter?: number;
  readonly queue?: Queue;
}

/**
 * Opens what the settings name. `unsupported` names a package that is not installed, with the command that installs it; servers that
 * do not answer yet are told in `notices`, where nothing depends on them.
 */
export async function openBackends({
  backends: settings = {},
  secret,
}: Pick<Settings, "backends" | "secret">): Promise<Backends> {
  const clients = clientsOf(settings);
  try {
    const record = await recordOf(settings, clients, secret);
    const followers = await openFollowers(settings, clients);
    const rateLimits = await rateLimitsOf(settings, clients);
    return {
      options: {
        ...(record ? { record, ...(await ledgerOf(settings, record)) } : {}),
        ...indexSearchOf(settings),
        ...(followers.length > 0 ? { index: followers } : {}),
        ...(await sessionsOf(settings, clients)),
        ...(await cacheOf(settings, clients)),
        ...(settings.cache?.hotAfter === undefined ? {} : { hotAfter: settings.cache.hotAfter }),
        ...(await queueOf(settings, clients)),
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

/** An address for people: without the password, and without what may hold one. */
export function shownAddress(url: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    return "the database";
  }
}

async function recordOf(
  { postgres }: BackendSettings,
  { closing, notices }: Clients,
  secret: string | undefined,
): Promise<PostgresRecord | undefined> {
  if (!postgres) return undefined;
  const { openPostgres } = await import("./postgres.ts");
  const { record, close } = await openPostgres(postgres, secret === undefined ? {} : { secret });
  closing.add(close);
  notices.push(...record.notices);
  return record;
}

async function ledgerOf(
  { postgres }: BackendSettings,
  record: PostgresRecord,
): Promise<{ readonly ledger?: Ledger }> {
  if (postgres?.ledger === undefined) return {};
  const { fileLedger } = await import("../../adapters/sqlite/index.ts");
  return { ledger: fileLedger(postgres.ledger, await record.identity()) };
}

function indexSearchOf({ followersFrom, patienceMs }: BackendSettings): Pick<BackendOptions, "indexSearch"> {
  if (followersFrom === undefined && patienceMs === undefined) return {};
  return {
    indexSearch: {
      ...(followersFrom === undefined ? {} : { from: followersFrom }),
      ...(patienceMs === undefined ? {} : { timeoutMs: patienceMs }),
    },
  };
}
