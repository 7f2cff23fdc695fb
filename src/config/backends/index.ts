import type { PostgresStore } from "../../adapters/postgres/index.ts";
import type { Cache } from "../../ports/cache.ts";
import type { Documents } from "../../ports/documents.ts";
import type { VectorIndex } from "../../ports/follower.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { Queue } from "../../ports/queue.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { BackendSettings } from "../backend-settings.ts";
import type { Settings } from "../settings.ts";
import { type BackendClients, createBackendClients } from "./clients.ts";
import { openVectorIndexes } from "./followers.ts";
import { openCache, openQueue, openRateLimits, openSessions } from "./on-redis.ts";

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
  readonly record?: PostgresStore;
  /** What was erased, outside of the database. */
  readonly ledger?: Ledger;
  readonly indexSearch?: { readonly from?: number; readonly timeoutMs?: number };
  readonly index?: readonly VectorIndex[];
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
  const clients = createBackendClients(settings);
  try {
    const record = await openPostgresStore(settings, clients, secret);
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

/** An address for people: without the password, and without what may hold one. */
export function redactAddress(url: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    return "the database";
  }
}

async function openPostgresStore(
  { postgres }: BackendSettings,
  { closing, notices }: BackendClients,
  secret: string | undefined,
): Promise<PostgresStore | undefined> {
  if (!postgres) return undefined;
  const { openPostgres } = await import("./postgres.ts");
  const { record, close } = await openPostgres(postgres, secret === undefined ? {} : { secret });
  closing.add(close);
  notices.push(...record.notices);
  return record;
}

async function openLedger(
  { postgres }: BackendSettings,
  record: PostgresStore,
): Promise<{ readonly ledger?: Ledger }> {
  if (postgres?.ledger === undefined) return {};
  const { fileLedger } = await import("../../adapters/sqlite/index.ts");
  return { ledger: fileLedger(postgres.ledger, await record.identity()) };
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
