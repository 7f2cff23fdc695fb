import { readFileSync } from "node:fs";
import { BULLMQ_CLIENT } from "../../adapters/bullmq/index.ts";
import type { MariadbOptions, MariadbStore } from "../../adapters/mariadb/index.ts";
import type { PostgresOptions, PostgresStore } from "../../adapters/postgres/index.ts";
import { REDIS_CLIENT } from "../../adapters/redis/index.ts";
import { textSecret } from "../../adapters/sqlite/index.ts";
import { invalid } from "../../errors.ts";
import type {
  BackendSettings,
  MariadbSettings,
  PostgresSettings,
  RedisSettings,
} from "../backend-settings.ts";
import { loadVendorPackage, type Redis } from "../vendor-packages.ts";

/** Shared clients, each created on first use. */
export interface BackendClients {
  readonly closing: ResourceCloser;
  readonly notices: string[];
  redis(): Promise<Redis>;
  /** A client for queues, whose commands wait while the server is down. */
  queueRedis(): Promise<Redis>;
}

export function createBackendClients({
  redis: settings = { url: "redis://localhost:6379" },
}: BackendSettings): BackendClients {
  const closer = createResourceCloser();
  const notices: string[] = [];
  const connect = async (options: object): Promise<Redis> => {
    const { client, trouble } = await connectRedis(settings, options);
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
      redis ??= connect(REDIS_CLIENT);
      return redis;
    },
    queueRedis: () => connect(BULLMQ_CLIENT),
  };
}

const REDIS_TROUBLE_TEXTS: { readonly [trouble in RedisTrouble]: string } = {
  down: "Redis does not answer: the database is used instead until it does.",
  refused: "Redis refuses the password: the database is used instead. Set REDIS_PASSWORD.",
};

/** Gives the name prefix for adapters on shared servers. */
export function toPrefixOption({ prefix }: BackendSettings): { readonly prefix?: string } {
  return prefix === undefined ? {} : { prefix };
}

/** How long the start waits for the first connection, in ms. After that the client keeps trying in the background. */
const FIRST_CONNECTION_MS = 2000;

/** Why the first connection failed. */
type RedisTrouble = "down" | "refused";

/**
 * Connects to the configured Redis. Gives the client, and the trouble if the server is down or refuses the password. This
 * does not prevent a start, because Redis holds only copies. `options` are those of the adapter that uses the client.
 */
async function connectRedis(
  { url, password }: RedisSettings,
  options: object,
): Promise<{ readonly client: Redis; readonly trouble?: RedisTrouble }> {
  const { Redis: Client } = await loadVendorPackage("ioredis", "REDIS_URL");
  const client = new Client(url, {
    ...options,
    lazyConnect: true,
    connectionName: "keepsake",
    ...(password === undefined ? {} : { password }),
  });
  // Each call reports a lost server by itself. Without a listener, the client would write to stderr.
  let isRefused = false;
  client.on("error", ({ message }: Error) => {
    if (REFUSED_MESSAGE.test(message)) isRefused = true;
  });
  const isUp = (await tryConnect(client)) && !isRefused;
  return { client, ...(isUp ? {} : { trouble: isRefused ? "refused" : "down" }) };
}

/** Redis' errors for wrong or missing credentials. */
const REFUSED_MESSAGE = /^(?:WRONGPASS|NOAUTH|NOPERM)\b/;

async function tryConnect(client: Redis): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, FIRST_CONNECTION_MS, false);
  });
  try {
    const connected = client.connect().then(
      () => true,
      () => false,
    );
    return await Promise.race([connected, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Closes resources. They are added in the order in which they are opened. */
interface ResourceCloser {
  add(close: () => unknown): void;
  /** Closes all resources, newest first. An error in one does not stop the others. */
  close(): Promise<void>;
}

function createResourceCloser(): ResourceCloser {
  const closers: (() => unknown)[] = [];
  return {
    add: (close) => void closers.push(close),
    async close() {
      // Closing fails if a server is gone. The process exits anyway.
      for (const close of closers.splice(0).reverse())
        await Promise.resolve()
          .then(close)
          .catch(() => {});
    },
  };
}

/** A memory store on a database server, which several servers share. */
export type ServerStore = PostgresStore | MariadbStore;

export interface OpenedServerStore {
  readonly record: ServerStore;
  /** Closes the store and its connections. */
  close(): Promise<void>;
}

interface ServerStoreOptions {
  readonly secret?: string;
  readonly timeoutMs?: number;
}

/** Opens the store on the configured database server. Throws `invalid_input` if there is none. */
export async function openServerStore(
  { postgres, mariadb }: BackendSettings = {},
  options: ServerStoreOptions = {},
): Promise<OpenedServerStore> {
  if (postgres) return openPostgres(postgres, options);
  if (mariadb) return openMariadb(mariadb, options);
  throw invalid("MEMORY_DB_URL names no database server.");
}

const DEFAULT_CONNECTIONS = 10;

/**
 * Opens the store in the configured PostgreSQL, with its own connection pool. A password that is not in the address is
 * read from PGPASSWORD or ~/.pgpass. Errors: see `openPostgresStore`.
 */
async function openPostgres(
  { url, schema, connections = DEFAULT_CONNECTIONS, logKeptMs }: PostgresSettings,
  options: ServerStoreOptions & Omit<PostgresOptions, "pool" | "secret">,
): Promise<OpenedServerStore> {
  const { secret, ...others } = options;
  checkPostgresFiles(url);
  const { Pool } = await loadVendorPackage("pg", "MEMORY_DB_URL");
  const { openPostgresStore } = await import("../../adapters/postgres/index.ts");
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: "keepsake",
    keepAlive: true,
    // A transaction takes one round trip instead of one per statement.
    pipeline: true,
  });
  // A broken idle connection is replaced on demand. Without a listener, it would end the process.
  pool.on("error", () => {});
  try {
    const record = await openPostgresStore({
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

/** Opens the store in the configured MariaDB, with its own connection pool. Errors: see `openMariadbStore`. */
async function openMariadb(
  { url, connections = DEFAULT_CONNECTIONS, logKeptMs }: MariadbSettings,
  { secret, ...others }: ServerStoreOptions & Omit<MariadbOptions, "pool" | "secret">,
): Promise<OpenedServerStore> {
  const { createPool } = await loadVendorPackage("mysql2", "MEMORY_DB_URL");
  const { openMariadbStore } = await import("../../adapters/mariadb/index.ts");
  const pool = createPool({
    ...parseMariadbAddress(url),
    connectionLimit: connections,
    enableKeepAlive: true,
  });
  try {
    const record = await openMariadbStore({
      pool,
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

const MARIADB_PARAMETERS: ReadonlySet<string> = new Set(["sslmode", "sslrootcert"]);

interface MariadbAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl?: { readonly ca?: Buffer };
}

/** Parses an address of MariaDB. Throws `invalid_input` for what cannot be read, without showing it, and for unknown parameters. */
function parseMariadbAddress(address: string): MariadbAddress {
  if (!URL.canParse(address)) throw invalid("MEMORY_DB_URL: the address cannot be read.");
  const url = new URL(address);
  const mode = url.searchParams.get("sslmode") ?? "disable";
  const certificate = url.searchParams.get("sslrootcert");
  const isKnown = [...url.searchParams.keys()].every((name) => MARIADB_PARAMETERS.has(name));
  if (!isKnown || !/^(?:disable|verify-full)$/.test(mode))
    throw invalid(
      "MEMORY_DB_URL: MariaDB takes ?sslmode=verify-full and &sslrootcert=FILE, and nothing else.",
    );
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 3306 : Number(url.port),
    user: decodePart(url.username),
    password: decodePart(url.password),
    database: decodePart(url.pathname.slice(1)),
    ...(mode === "disable"
      ? {}
      : { ssl: certificate === null ? {} : { ca: readFileOf("sslrootcert", certificate) } }),
  };
}

/** Decodes a part of an address. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid(
      "MEMORY_DB_URL: the user, the password or the database contains a % that begins no character. Write %25 for a %.",
    );
  }
}

/** Reads the file that a parameter of an address names. */
function readFileOf(parameter: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw invalid(
      `MEMORY_DB_URL: the file that ${parameter} names cannot be read. Check its path and its permissions.`,
    );
  }
}

/** Files that the driver of PostgreSQL reads when it connects. */
const POSTGRES_FILES = ["sslrootcert", "sslcert", "sslkey"];

/** Throws `invalid_input` if an address of PostgreSQL names a file that cannot be read. */
function checkPostgresFiles(address: string): void {
  if (!URL.canParse(address)) return;
  for (const [parameter, path] of new URL(address).searchParams)
    if (POSTGRES_FILES.includes(parameter) && path !== "") readFileOf(parameter, path);
}
