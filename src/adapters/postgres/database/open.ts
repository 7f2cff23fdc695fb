import { invalid, MemoryError } from "../../../errors.ts";
import type { Secret } from "../../../ports/system.ts";
import { handlePoolErrors } from "../../shared/pool-connections.ts";
import {
  buildDistribution,
  DISTRIBUTE_TABLES,
  detectCitusNode,
  hasDistributedTables,
  REFERENCE_TABLES,
  SELECT_NEW_TABLES,
  USER_TABLES,
} from "../citus/distribute-tables.ts";
import { POSTGRES_MIGRATIONS } from "../migrations/index.ts";
import type { PostgresConnection, PostgresPool, Row } from "./connection.ts";
import { acquireConnection, type PostgresConnectionSettings, quoteIdentifier } from "./connection.ts";
import {
  type CreateFastReads,
  createPostgresDatabase,
  type PostgresDatabase,
  withConnection,
} from "./database.ts";
import { retryTransientFaults, toPostgresMemoryError } from "./errors.ts";
import { bypassesRowSecurity, enableRowSecurity, ensureRuntimeRole, RUNTIME_ROLE } from "./row-security.ts";

/** Options of `openPostgresStore`. */
export interface PostgresOptions {
  /** Belongs to the caller and stays open. With `pipeline: true` of `pg`, a transaction takes one round trip. */
  readonly pool: PostgresPool;
  /** The schema of all tables (default: "keepsake"). Several stores may share a database, each in its own schema. */
  readonly schema?: string;
  /** If given, the database keeps a mark of it. Opening it with a different secret throws `forbidden`. */
  readonly secret?: Secret;
  /**
   * How long the server and its archives keep the write-ahead log at most, in ms. Erasure receipts state until when the log may
   * contain erased data. By default, they state 7 days if only the server keeps the log and this login may rotate it. Otherwise
   * they state that the time is unknown.
   */
  readonly logKeptMs?: number;
  /** Timeout of one statement, in ms (default: 10,000). */
  readonly timeoutMs?: number;
  /** How long to wait for a connection, in ms (default: 5,000). */
  readonly connectMs?: number;
  /** How long to retry a call that a server restart interrupted, in ms (default: 2,000). */
  readonly patienceMs?: number;
  /** Whether short reads may use the driver's internals instead of a transaction (default: true). The results are the same. */
  readonly fastPath?: boolean;
}

interface OpenedPostgresDatabase {
  readonly database: PostgresDatabase;
  /** Notices for the operator: server settings that weaken the guarantees. */
  readonly notices: readonly string[];
  /** Names of the settings that reduce what survives a power failure. */
  readonly reducedBy: readonly string[];
}

const MIN_SERVER_VERSION = 140_000;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;
const MIGRATING_MS = 600_000;

/**
 * Opens the store in a database, and creates or migrates its tables, one server at a time. Throws `unavailable` if the server
 * cannot be reached. Throws `unsupported` if the schema belongs to another program or a newer version, or the server is too old.
 * Throws `forbidden` if the login lacks a privilege, or the secret differs.
 */
export async function openPostgresDatabase(
  options: PostgresOptions,
  createFastReads?: CreateFastReads,
): Promise<OpenedPostgresDatabase> {
  const { pool, schema = "keepsake", connectMs = 5000 } = options;
  if (!SCHEMA_NAME.test(schema)) {
    throw invalid(
      "schema: use at most 48 lowercase letters, digits and underscores; the first is not a digit.",
    );
  }
  const patience = { forMs: options.patienceMs ?? 2000, unknownForMs: 10_000 };
  const onError = (): void => undefined;
  // Until the database adds its own listener.
  pool.on("error", onError);
  handlePoolErrors(pool);
  try {
    return await retryTransientFaults(patience, async () => {
      const connection = await acquireConnection(pool, connectMs);
      return withConnection(connection, onError, async () => {
        const reducedBy = await checkServer(connection);
        const notices = reducedBy.map(formatDurabilityNotice);
        const isCoordinator = await checkCitusNode(connection);
        const role = await ensureRuntimeRole(connection, { logsIn: isCoordinator });
        await runMigrations(connection, schema, role, isCoordinator);
        const isDistributed = isCoordinator && (await hasDistributedTables(connection, schema));
        if (options.secret) await checkSecret(connection, schema, options.secret);
        const settings = await readPostgresSettings(
          connection,
          { ...options, schema, connectMs, isDistributed },
          role,
          patience,
        );
        const isUnprotected = role === "none" && (await bypassesRowSecurity(connection));
        return {
          // The nodes do not know the settings of a session, by which fast reads separate projects.
          database: createPostgresDatabase(pool, settings, isDistributed ? undefined : createFastReads),
          notices: isUnprotected ? [...notices, NO_ROW_SECURITY] : notices,
          reducedBy,
        };
      });
    });
  } catch (error) {
    throw toPostgresMemoryError(error);
  } finally {
    pool.removeListener("error", onError);
  }
}

const NO_ROW_SECURITY =
  `PostgreSQL: this login bypasses row-level security and may not create the role ${RUNTIME_ROLE}, so only the program separates ` +
  "projects. Log in with a role that is not a superuser, or have a superuser create that role and grant it.";

async function queryOne(connection: PostgresConnection, text: string, ...values: unknown[]): Promise<Row> {
  const { rows } = await connection.query({ text, ...(values.length > 0 ? { values } : {}) });
  return rows[0] ?? {};
}

/** Refuses a server that cannot host the store. Gives the settings that weaken the guarantees. */
async function checkServer(connection: PostgresConnection): Promise<string[]> {
  const found = await queryOne(
    connection,
    "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding, " +
      "current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages",
  );
  if (Number(found.version) < MIN_SERVER_VERSION) {
    throw new MemoryError(
      "unsupported",
      "PostgreSQL: the server is too old. Version 14 or newer is required.",
    );
  }
  if (found.encoding !== "UTF8") {
    throw new MemoryError(
      "unsupported",
      `PostgreSQL: the database's encoding is ${found.encoding}, but UTF8 is required. Create another: CREATE DATABASE … ENCODING 'UTF8'.`,
    );
  }
  return [
    ...(found.fsync === "off" ? ["fsync"] : []),
    ...(found.pages === "off" ? ["full_page_writes"] : []),
  ];
}

function formatDurabilityNotice(name: string): string {
  return `PostgreSQL: ${name} is off. After a power failure, acknowledged writes may be lost or damaged.`;
}

/** Whether the server is a coordinator of Citus. Refuses a worker: what is created there is not part of the cluster. */
async function checkCitusNode(connection: PostgresConnection): Promise<boolean> {
  const node = await detectCitusNode(connection);
  if (node !== "worker") return node === "coordinator";
  throw new MemoryError(
    "unsupported",
    "PostgreSQL: this is a worker of Citus. Use the coordinator's address.",
  );
}

/**
 * Runs all missing migrations, or none. One server at a time: the others wait, then find them done. A coordinator of Citus
 * distributes a schema when it is created.
 */
async function runMigrations(
  connection: PostgresConnection,
  schema: string,
  role: string,
  isCoordinator: boolean,
): Promise<void> {
  const run = (text: string): Promise<unknown> => connection.query({ text, query_timeout: MIGRATING_MS });
  if (
    (await countDoneMigrations(connection, schema)) === POSTGRES_MIGRATIONS.length &&
    (await isGranted(connection, schema, role))
  )
    return;
  await run("BEGIN ISOLATION LEVEL READ COMMITTED");
  await run(`SET LOCAL statement_timeout = ${MIGRATING_MS}`);
  await connection.query({
    text: "SELECT pg_advisory_xact_lock(hashtextextended('keepsake ' || $1, 0))",
    values: [schema],
  });
  await run(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`);
  await run(`SET LOCAL search_path = ${quoteIdentifier(schema)}`);
  await refuseForeignSchema(connection, schema);
  await run(
    "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())",
  );
  const from = await countDoneMigrations(connection, schema);
  if (from > POSTGRES_MIGRATIONS.length) {
    throw new MemoryError(
      "unsupported",
      `PostgreSQL: a newer version of Keepsake created the schema ${schema}. Update Keepsake. Nothing was changed.`,
    );
  }
  if (isCoordinator && from === 0) await refuseOrdinaryLogin(connection);
  for (const [i, text] of POSTGRES_MIGRATIONS.entries()) {
    if (i < from) continue;
    await run(text);
    await run(`INSERT INTO migrations (number) VALUES (${i + 1})`);
  }
  if (isCoordinator && from === 0) await run(DISTRIBUTE_TABLES);
  const isDistributed = isCoordinator && (await hasDistributedTables(connection, schema));
  if (isDistributed) await distributeNewTables(connection);
  await enableRowSecurity(connection, schema, role, isDistributed);
  await run("COMMIT");
}

/** Spreads what the migrations have added to a schema that was spread before. */
async function distributeNewTables(connection: PostgresConnection): Promise<void> {
  const values = [[...USER_TABLES, ...REFERENCE_TABLES]];
  const { rows } = await connection.query({ text: SELECT_NEW_TABLES, values });
  if (rows.length > 0) await refuseOrdinaryLogin(connection);
  for (const { name } of rows)
    await connection.query({ text: buildDistribution(name ?? ""), query_timeout: MIGRATING_MS });
}

/** Citus distributes the tables of a transaction for superusers only: it opens connections that would not see an ordinary login's. */
async function refuseOrdinaryLogin(connection: PostgresConnection): Promise<void> {
  const found = await queryOne(connection, "SELECT current_setting('is_superuser') AS is_superuser");
  if (found.is_superuser === "on") return;
  throw new MemoryError(
    "forbidden",
    "PostgreSQL: on Citus, only a superuser can create the tables. Use a superuser for the login. Nothing was changed.",
  );
}

/** The number of finished migrations; 0 for an empty schema. */
async function countDoneMigrations(connection: PostgresConnection, schema: string): Promise<number> {
  const table = await queryOne(
    connection,
    "SELECT to_regclass($1) IS NOT NULL AS is_there",
    `${schema}.migrations`,
  );
  if (!isTrue(table.is_there)) return 0;
  const found = await queryOne(
    connection,
    `SELECT coalesce(max(number), 0) AS found FROM ${quoteIdentifier(schema)}.migrations`,
  );
  return Number(found.found);
}

async function isGranted(connection: PostgresConnection, schema: string, role: string): Promise<boolean> {
  if (role === "none") return true;
  const found = await queryOne(
    connection,
    "SELECT has_table_privilege($1, $2, 'INSERT') AS may",
    role,
    `${schema}.users`,
  );
  return isTrue(found.may);
}

async function refuseForeignSchema(connection: PostgresConnection, schema: string): Promise<void> {
  const found = await queryOne(
    connection,
    "SELECT count(*) FILTER (WHERE relname = 'migrations') AS ours, count(*) AS tables FROM pg_class " +
      "WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relkind IN ('r', 'p')",
    schema,
  );
  if (Number(found.tables) === 0 || Number(found.ours) > 0) return;
  throw new MemoryError(
    "unsupported",
    `PostgreSQL: the schema ${schema} belongs to another program. Choose another schema. Nothing was changed.`,
  );
}

/** The mark by which a store recognises its secret. It depends on the store's identity, so that two stores do not reveal a shared secret. */
export function signSecretMark(secret: Secret, identity: string): string {
  return secret.sign(`mark of the record ${identity}`);
}

/** All servers on one database must key tombstones alike. Otherwise erased data could come back. */
async function checkSecret(connection: PostgresConnection, schema: string, secret: Secret): Promise<void> {
  const table = `${quoteIdentifier(schema)}.identity`;
  const { id } = await queryOne(connection, `SELECT id FROM ${table}`);
  const mark = signSecretMark(secret, id ?? "");
  await connection.query({
    text: `UPDATE ${table} SET secret_mark = $1 WHERE secret_mark IS NULL`,
    values: [mark],
  });
  const stored = await queryOne(connection, `SELECT secret_mark FROM ${table}`);
  if (stored.secret_mark === mark) return;
  throw new MemoryError(
    "forbidden",
    "PostgreSQL: this database was created with another KEEPSAKE_SECRET. Set the same one on every server.",
  );
}

async function readPostgresSettings(
  connection: PostgresConnection,
  options: Pick<PostgresConnectionSettings, "schema" | "connectMs" | "isDistributed"> & {
    readonly timeoutMs?: number;
  },
  role: string,
  patience: PostgresConnectionSettings["patience"],
): Promise<PostgresConnectionSettings> {
  const found = await queryOne(
    connection,
    "SELECT current_setting('synchronous_commit') AS synchronous, " +
      "(SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector') AS vectors",
  );
  return {
    schema: options.schema,
    ...(found.vectors ? { vectors: found.vectors } : {}),
    role,
    isDistributed: options.isDistributed,
    // "off" would acknowledge a commit before it is on disk.
    synchronous: found.synchronous === "off" ? "on" : (found.synchronous ?? "on"),
    timeoutMs: options.timeoutMs ?? 10_000,
    connectMs: options.connectMs,
    patience,
  };
}

function isTrue(value: unknown): boolean {
  return value === true || value === "t";
}
