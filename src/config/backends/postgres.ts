import type { PostgresOptions, PostgresStore } from "../../adapters/postgres/index.ts";
import { textSecret } from "../../adapters/sqlite/index.ts";
import type { PostgresSettings } from "../backend-settings.ts";
import { loadVendorPackage } from "../vendor-packages.ts";

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
