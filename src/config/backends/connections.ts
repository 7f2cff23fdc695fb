import { BULLMQ_CLIENT } from "../../adapters/bullmq/index.ts";
import type { PostgresOptions, PostgresStore } from "../../adapters/postgres/index.ts";
import { REDIS_CLIENT } from "../../adapters/redis/index.ts";
import { textSecret } from "../../adapters/sqlite/index.ts";
import type { BackendSettings, PostgresSettings, RedisSettings } from "../backend-settings.ts";
import { loadVendorPackage, type Redis } from "../vendor-packages.ts";

/** Clients that several parts share: each is made when the first asks for it. */
export interface BackendClients {
  readonly closing: ResourceCloser;
  readonly notices: string[];
  redis(): Promise<Redis>;
  /** For queues, whose commands wait for a server that is down. */
  queueRedis(): Promise<Redis>;
}

export function createBackendClients({
  redis: settings = { url: "redis://localhost:6379" },
}: BackendSettings): BackendClients {
  const closer = createResourceCloser();
  const notices: string[] = [];
  const connected = async (how: object): Promise<Redis> => {
    const { client, trouble } = await connectRedis(settings, how);
    closer.add(() => client.disconnect());
    if (trouble && !notices.includes(REDIS_TROUBLE_TEXTS[trouble]))
      notices.push(REDIS_TROUBLE_TEXTS[trouble]);
    return client;
  };
  let redis: Promise<Redis> | undefined;
  return {
    closing: closer,
    notices,
    redis() {
      redis ??= connected(REDIS_CLIENT);
      return redis;
    },
    queueRedis: () => connected(BULLMQ_CLIENT),
  };
}

const REDIS_TROUBLE_TEXTS: { readonly [trouble in RedisTrouble]: string } = {
  down: "Redis does not answer: what it holds is taken from the record until it does.",
  refused: "Redis refuses the password: what it holds is taken from the record. Set REDIS_PASSWORD.",
};

/** The option of adapters on servers that others use, too. */
export function toPrefixOption({ prefix }: BackendSettings): { readonly prefix?: string } {
  return prefix === undefined ? {} : { prefix };
}

/** So long the start waits for the first connection, in ms; then it goes on, and the client tries by itself. */
const FIRST_CONNECTION_MS = 2000;

/** Why a first connection came to nothing. */
export type RedisTrouble = "down" | "refused";

/**
 * A client of the Redis that the settings name, and what hinders it now: one that is down or refuses us is no reason not to start,
 * for all that is there is a copy. `how` it is made says the adapter that uses it.
 */
export async function connectRedis(
  { url, password }: RedisSettings,
  how: object,
): Promise<{ readonly client: Redis; readonly trouble?: RedisTrouble }> {
  const { Redis: Client } = await loadVendorPackage("ioredis", "REDIS_URL");
  const client = new Client(url, {
    ...how,
    lazyConnect: true,
    connectionName: "keepsake",
    ...(password === undefined ? {} : { password }),
  });
  // Every call says for itself that the server is gone; without a listener the client would write to stderr.
  let isRefused = false;
  client.on("error", ({ message }: Error) => {
    if (REFUSED_MESSAGE.test(message)) isRefused = true;
  });
  const isUp = (await tryConnect(client)) && !isRefused;
  return { client, ...(isUp ? {} : { trouble: isRefused ? "refused" : "down" }) };
}

/** What Redis says of wrong credentials, and of none where it wants some. */
const REFUSED_MESSAGE = /^(?:WRONGPASS|NOAUTH|NOPERM)\b/;

async function tryConnect(client: Redis): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, FIRST_CONNECTION_MS, false);
  });
  try {
    const connected = client.connect().then(
      () => true,
      () => false,
    );
    return await Promise.race([connected, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What is to be closed, in the order in which it was opened. */
export interface ResourceCloser {
  add(close: () => unknown): void;
  /** Closes all of it, the newest first. One that fails keeps none of the others open. */
  close(): Promise<void>;
}

export function createResourceCloser(): ResourceCloser {
  const all: (() => unknown)[] = [];
  return {
    add: (close) => void all.push(close),
    async close() {
      // A server that is gone cannot be said goodbye to: the process ends anyway.
      for (const one of all.splice(0).reverse())
        await Promise.resolve()
          .then(one)
          .catch(() => {});
    },
  };
}

export interface OpenedPostgres {
  readonly record: PostgresStore;
  /** Closes the record and its connections. */
  close(): Promise<void>;
}

const DEFAULT_CONNECTIONS = 10;

/**
 * Opens the record in the PostgreSQL that the settings name, with a pool of its own. A password that the address does not hold is
 * taken from PGPASSWORD or ~/.pgpass, as PostgreSQL's own programs do. Errors: see `openPostgresRecord`.
 */
export async function openPostgres(
  { url, schema, connections = DEFAULT_CONNECTIONS, logKeptMs }: PostgresSettings,
  options: Omit<PostgresOptions, "pool" | "secret"> & { readonly secret?: string } = {},
): Promise<OpenedPostgres> {
  const { secret, ...others } = options;
  const { Pool } = await loadVendorPackage("pg", "MEMORY_DB_URL");
  const { openPostgresStore: openPostgresRecord, postgresStream } = await import(
    "../../adapters/postgres/index.ts"
  );
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: "keepsake",
    keepAlive: true,
    // A transaction is one way there and back, and not one for each statement.
    pipeline: true,
    stream: postgresStream,
  });
  // An idle connection that breaks is replaced when it is needed; without a listener it would end the process.
  pool.on("error", () => {});
  try {
    const record = await openPostgresRecord({
      pool,
      ...(schema === undefined ? {} : { schema }),
      ...(logKeptMs === undefined ? {} : { logKeptMs }),
      ...others,
      ...(secret === undefined ? {} : { secret: textSecret(secret) }),
    });
    return {
      record,
      async close() {
        await record.close();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end().catch(() => {});
    throw error;
  }
}
