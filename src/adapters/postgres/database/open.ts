import { invalid, MemoryError } from "../../../errors.ts";
import type { Secret } from "../../../ports/system.ts";
import { handlePoolErrors } from "../../shared/pool-errors.ts";
import { POSTGRES_MIGRATIONS } from "../migrations/index.ts";
import type { PostgresConnection, PostgresPool, Row } from "./connection.ts";
import { acquireConnection, type PostgresConnectionSettings, quoteIdentifier } from "./connection.ts";
import { createPostgresDatabase, type PostgresDatabase, withConnection } from "./database.ts";
import { retryTransientFaults, toPostgresMemoryError } from "./errors.ts";
import { bypassesRowSecurity, enableRowSecurity, ensureRuntimeRole, RUNTIME_ROLE } from "./row-security.ts";

export interface PostgresOptions {
  /** The caller's: it stays open. With `pipeline: true` of `pg` a transaction is one way there and back. */
  readonly pool: PostgresPool;
  /** Holds all tables ("keepsake"); several records may share a database, each in a schema of its own. */
  readonly schema?: string;
  /** Where given, the record keeps a mark of it, and is not opened with another: `forbidden`. */
  readonly secret?: Secret;
  /**
   * For how long the server and its archives keep the write-ahead log at the most, in ms: receipts of erasures say until when
   * it may hold what went. Absent, they say 7 days where nothing but the server keeps it and this login may turn it over, else
   * that nobody knows.
   */
  readonly logKeptMs?: number;
  /** The longest that one statement may take, in ms (10,000). */
  readonly timeoutMs?: number;
  /** How long a connection is waited for, in ms (5,000). */
  readonly connectMs?: number;
  /** For how long a call tries again what a restart of the server broke off, in ms (2,000). */
  readonly patienceMs?: number;
}

export interface OpenedPostgresDatabase {
  readonly database: PostgresDatabase;
  /** What the operator should know: settings of the server by which less is promised. */
  readonly notices: readonly string[];
  /** The settings that reduce what survives a loss of power, by name. */
  readonly reducedBy: readonly string[];
}

const MIN_SERVER_VERSION = 140_000;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;
const MIGRATING_MS = 600_000;

/**
 * Opens the record in a database, and makes or updates its tables, one server at a time. `unavailable` where it cannot be
 * reached, `unsupported` where it is another program's, a newer version's, or too old a server, `forbidden` where the login
 * may not, or the secret is another one.
 */
export async function openPostgresDatabase(options: PostgresOptions): Promise<OpenedPostgresDatabase> {
  const { pool, schema = "keepsake", connectMs = 5000 } = options;
  if (!SCHEMA_NAME.test(schema)) {
    throw invalid("schema: small letters, digits and _, at most 48 of them, with a letter first.");
  }
  const patience = { forMs: options.patienceMs ?? 2000, unknownForMs: 10_000 };
  const onError = (): void => undefined;
  // Before the database listens for itself.
  pool.on("error", onError);
  handlePoolErrors(pool);
  try {
    return await retryTransientFaults(patience, async () => {
      const connection = await acquireConnection(pool, connectMs);
      return withConnection(connection, onError, async () => {
        const reducedBy = await checkServer(connection);
        const notices = reducedBy.map(formatDurabilityNotice);
        const role = await ensureRuntimeRole(connection);
        await runMigrations(connection, schema, role);
        if (options.secret) await checkSecret(connection, schema, options.secret);
        const settings = await readPostgresSettings(
          connection,
          { ...options, schema, connectMs },
          role,
          patience,
        );
        const isOpen = role === "none" && (await bypassesRowSecurity(connection));
        return {
          database: createPostgresDatabase(pool, settings),
          notices: isOpen ? [...notices, NO_ROW_SECURITY] : notices,
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
  `PostgreSQL: this login stands above row-level security and may not make the role ${RUNTIME_ROLE}: projects are held apart by the ` +
  "program alone. Log in with a role that is no superuser, or have one make that role and grant it.";

async function queryOne(connection: PostgresConnection, text: string, ...values: unknown[]): Promise<Row> {
  const { rows } = await connection.query({ text, ...(values.length > 0 ? { values } : {}) });
  return rows[0] ?? {};
}

/** Refuses a server that cannot hold the record, and gives the settings by which less is promised. */
async function checkServer(connection: PostgresConnection): Promise<string[]> {
  const found = await queryOne(
    connection,
    "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding, " +
      "current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages",
  );
  if (Number(found.version) < MIN_SERVER_VERSION) {
    throw new MemoryError("unsupported", "PostgreSQL: the server is too old: 14 or newer is needed.");
  }
  if (found.encoding !== "UTF8") {
    throw new MemoryError(
      "unsupported",
      `PostgreSQL: the database's encoding is ${found.encoding}: UTF8 is needed. Make another: CREATE DATABASE … ENCODING 'UTF8'.`,
    );
  }
  return [
    ...(found.fsync === "off" ? ["fsync"] : []),
    ...(found.pages === "off" ? ["full_page_writes"] : []),
  ];
}

function formatDurabilityNotice(name: string): string {
  return `PostgreSQL: ${name} is off: after a loss of power, what was acknowledged may be gone, or damaged.`;
}

/** One server at a time: the others wait, and find it done. All migrations, or none. */
async function runMigrations(connection: PostgresConnection, schema: string, role: string): Promise<void> {
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
      `PostgreSQL: a newer version of Keepsake made the schema ${schema}. Update Keepsake; it was left as it is.`,
    );
  }
  for (const [i, text] of POSTGRES_MIGRATIONS.entries()) {
    if (i < from) continue;
    await run(text);
    await run(`INSERT INTO migrations (number) VALUES (${i + 1})`);
  }
  await enableRowSecurity(connection, schema, role);
  await run("COMMIT");
}

/** How many migrations are done: 0 where there is nothing yet. */
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
    `PostgreSQL: the schema ${schema} belongs to another program. Name another one; it was left as it is.`,
  );
}

/** By which a record knows a secret again: of its own identity, so that two records do not tell who shares one. */
export function signSecretMark(secret: Secret, identity: string): string {
  return secret.sign(`mark of the record ${identity}`);
}

/** Every server that works on one database must key its tombstones alike, or what was erased would come back. */
async function checkSecret(connection: PostgresConnection, schema: string, secret: Secret): Promise<void> {
  const table = `${quoteIdentifier(schema)}.identity`;
  const { id } = await queryOne(connection, `SELECT id FROM ${table}`);
  const mark = signSecretMark(secret, id ?? "");
  await connection.query({
    text: `UPDATE ${table} SET secret_mark = $1 WHERE secret_mark IS NULL`,
    values: [mark],
  });
  const held = await queryOne(connection, `SELECT secret_mark FROM ${table}`);
  if (held.secret_mark === mark) return;
  throw new MemoryError(
    "forbidden",
    "PostgreSQL: this database was made with another KEEPSAKE_SECRET. Set the same one on every server.",
  );
}

async function readPostgresSettings(
  connection: PostgresConnection,
  options: { readonly schema: string; readonly connectMs: number; readonly timeoutMs?: number },
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
    // "off" acknowledges what is not on the disk yet.
    synchronous: found.synchronous === "off" ? "on" : (found.synchronous ?? "on"),
    timeoutMs: options.timeoutMs ?? 10_000,
    connectMs: options.connectMs,
    patience,
  };
}

function isTrue(value: unknown): boolean {
  return value === true || value === "t";
}
