import { randomBytes } from "node:crypto";
import { createPool, type Pool } from "mysql2/promise";
import {
  type MariadbOptions,
  type MariadbStore,
  openMariadbStore,
} from "../../src/adapters/mariadb/index.ts";

/** Room for stores on a server for tests: databases of its own, so that others can use the server at the same time. */
export interface MariadbPlace {
  /** An empty store. Databases are used again, because making one takes longer than a test: of those open at once, three differ. */
  open(options?: Partial<MariadbOptions>): Promise<MariadbStore>;
  /** The database that a store is in. */
  databaseOf(store: object): string;
  /** The address of a store's database. */
  addressOf(store: object): string;
  /** Another handle on the same store. */
  again(store: object, options?: Partial<MariadbOptions>): Promise<MariadbStore>;
  /** The rows of a statement, in a store's database. */
  query(store: object, sql: string): Promise<readonly { readonly [column: string]: unknown }[]>;
  /** Makes a database that holds nothing; it goes with the others. Gives its address. */
  create(): Promise<string>;
  /** Takes all of it away. */
  clear(): Promise<void>;
}

const DATABASES = 3;
/** What refers to other rows goes before them. */
const TABLES =
  "webhook_cursors webhooks embedder_choices links gone tombstones log receipts erasures blocks recalls uses share_parties shares " +
  "visits units heads versions attachments messages answers calls turns jobs backups leases users documents filling freed";

export function testMariadb(url: string): MariadbPlace {
  const prefix = `t${randomBytes(6).toString("hex")}`;
  const server = createPool({ uri: url, connectionLimit: 2 });
  const databases = new WeakMap<object, string>();
  const pools = new Map<string, Pool>();
  let count = 0;
  const poolOf = async (database: string): Promise<Pool> => {
    const known = pools.get(database);
    if (known) return known;
    await server.query(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
    const pool = createPool({ uri: withDatabase(url, database), connectionLimit: 8 });
    pools.set(database, pool);
    return pool;
  };
  const opened = async (database: string, more: Partial<MariadbOptions>): Promise<MariadbStore> => {
    const store = await openMariadbStore({ pool: await poolOf(database), ...more });
    databases.set(store, database);
    return store;
  };
  const databaseOf = (store: object): string => databases.get(store) ?? "";
  return {
    databaseOf,
    addressOf: (store) => withDatabase(url, databaseOf(store)),
    async open(more = {}) {
      count += 1;
      const database = `${prefix}_${count % DATABASES}`;
      const known = pools.get(database);
      if (known) await empty(known);
      return opened(database, more);
    },
    again: (store, more = {}) => opened(databaseOf(store), more),
    async query(store, sql) {
      const [rows] = await (await poolOf(databaseOf(store))).query(sql);
      return rows as readonly { readonly [column: string]: unknown }[];
    },
    async create() {
      count += 1;
      const database = `${prefix}_new${count}`;
      await poolOf(database);
      return withDatabase(url, database);
    },
    async clear() {
      for (const [database, pool] of pools) {
        await pool.end();
        await server.query(`DROP DATABASE ${database}`);
      }
      await server.end();
    },
  };
}

function withDatabase(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

async function empty(pool: Pool): Promise<void> {
  const connection = await pool.getConnection();
  for (const table of TABLES.split(" ")) await connection.query(`DELETE FROM ${table}`);
  await connection.query("UPDATE identity SET id = REPLACE(UUID(), '-', ''), secret_mark = NULL");
  connection.release();
}
