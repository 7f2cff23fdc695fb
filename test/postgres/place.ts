import { randomBytes } from "node:crypto";
import { Pool, type PoolConfig } from "pg";
import type { PostgresStore } from "../../src/adapters/postgres/index.ts";
import { openPostgresStore, type PostgresOptions } from "../../src/adapters/postgres/index.ts";

/** Room for records on a server for tests: schemas of its own, so that others can use the server at the same time. */
export interface PostgresPlace {
  /** What its connections are called on the server. */
  readonly name: string;
  readonly pool: Pool;
  /** An empty record. Schemas are used again, for making one takes longer than a test: of those open at once, three differ. */
  open(options?: Partial<PostgresOptions>): Promise<PostgresStore>;
  /** The schema that a record is in. */
  schemaOf(record: object): string;
  /** Another handle on the same record. */
  again(record: object, options?: Partial<PostgresOptions>): Promise<PostgresStore>;
  /** Takes all of it away. */
  clear(): Promise<void>;
}

const SCHEMAS = 3;
/** What leans on other rows goes before them. */
const TABLES =
  "webhook_cursors webhooks embedder_choices links gone tombstones log receipts erasures blocks recalls uses share_parties shares visits units heads versions attachments messages answers calls turns jobs " +
  "backups leases users documents filling freed";

export function testPlace(url: string, options: PoolConfig = {}): PostgresPlace {
  const prefix = `t${randomBytes(6).toString("hex")}`;
  const pool = new Pool({
    connectionString: url,
    max: 6,
    application_name: prefix,
    ...options,
  });
  // One for each record that is open.
  pool.setMaxListeners(100);
  pool.on("error", () => {});
  const schemas = new WeakMap<object, string>();
  const made = new Set<string>();
  let count = 0;
  const opened = async (schema: string, more: Partial<PostgresOptions>): Promise<PostgresStore> => {
    const record = await openPostgresStore({ pool, schema, ...more });
    schemas.set(record, schema);
    made.add(schema);
    return record;
  };
  const schemaOf = (record: object): string => schemas.get(record) ?? "";
  return {
    name: prefix,
    pool,
    schemaOf,
    async open(more = {}) {
      count += 1;
      const schema = `${prefix}_${count % SCHEMAS}`;
      if (made.has(schema)) await empty(pool, schema);
      return opened(schema, more);
    },
    again: (record, more = {}) => opened(schemaOf(record), more),
    async clear() {
      for (const schema of made) await pool.query(`DROP SCHEMA ${schema} CASCADE`).catch(() => undefined);
      await pool.end();
    },
  };
}

async function empty(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ name: string | null }>("SELECT to_regclass($1) AS name", [
    `${schema}.names`,
  ]);
  // On Citus, the names of users are a table of their own, and one transaction cannot empty all tables.
  if (rows[0]?.name) {
    for (const table of [...TABLES.split(" "), "names"]) await pool.query(`DELETE FROM ${schema}.${table}`);
  }
  const deletes = rows[0]?.name ? [] : TABLES.split(" ").map((table) => `DELETE FROM ${schema}.${table};`);
  await pool.query(
    `${deletes.join("")} UPDATE ${schema}.identity SET id = md5(gen_random_uuid()::text), secret_mark = NULL;`,
  );
}
