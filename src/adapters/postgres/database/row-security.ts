import type { PostgresConnection, Row } from "./connection.ts";
import { quoteIdentifier } from "./connection.ts";

/** The role of all transactions of this program. It neither owns tables nor bypasses row-level security. */
export const RUNTIME_ROLE = "keepsake_runtime";

/**
 * Enables row-level security, so that whatever the program asks for, rows of another project are neither read nor written.
 * Rows without a project stay accessible. Partitions are accessible through their parent table only. `FORCE` includes the owner.
 */
export async function enableRowSecurity(
  connection: PostgresConnection,
  schema: string,
  role: string,
  isDistributed: boolean,
): Promise<void> {
  const policy = isDistributed ? DISTRIBUTED_POLICY : PROJECT_POLICY;
  const { rows } = await connection.query({ text: SELECT_TABLES, values: [schema] });
  for (const table of rows) {
    for (const text of buildRowSecuritySql(schema, table, role, policy)) await connection.query({ text });
  }
  if (role === "none") return;
  const names = quoteIdentifier(schema);
  await connection.query({ text: `GRANT USAGE ON SCHEMA ${names} TO ${role}` });
  await connection.query({ text: `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${names} TO ${role}` });
}

const SELECT_TABLES = `
SELECT c.relname AS name, c.relispartition AS is_part, c.relforcerowsecurity AS is_walled,
  EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'project' AND NOT a.attisdropped) AS is_projects
FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND c.relkind IN ('r', 'p')
ORDER BY c.relname`;

// The subqueries run once for each statement, not for each row: both settings belong to the transaction.
const PROJECT_POLICY =
  "project = (SELECT current_setting('keepsake.project', true)) OR " +
  "(SELECT current_setting('keepsake.reach', true)) = 'everybody'";
/** Citus takes no subqueries in policies. */
const DISTRIBUTED_POLICY =
  "project = current_setting('keepsake.project', true) OR current_setting('keepsake.reach', true) = 'everybody'";

function buildRowSecuritySql(
  schema: string,
  { name, is_part, is_walled, is_projects }: Row,
  role: string,
  policy: string,
): string[] {
  const table = `${quoteIdentifier(schema)}.${quoteIdentifier(name ?? "")}`;
  const isPart = isTrue(is_part);
  const protection =
    isTrue(is_walled) || !isTrue(is_projects)
      ? []
      : [
          `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
          `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
          // A partition has no policy, so a query by its own name gives nothing.
          ...(isPart
            ? []
            : [`CREATE POLICY within_project ON ${table} USING (${policy}) WITH CHECK (${policy})`]),
        ];
  const may = name === "migrations" ? "SELECT" : "SELECT, INSERT, UPDATE, DELETE";
  return [...protection, ...(isPart || role === "none" ? [] : [`GRANT ${may} ON ${table} TO ${role}`])];
}

function isTrue(value: unknown): boolean {
  return value === true || value === "t";
}

/**
 * Ensures the role for transactions: creates it if it is missing and this login may do so. Gives "none" if it is not available.
 * Row-level security still applies, unless the login itself bypasses it. With `logsIn`, the role may log in: Citus
 * connects to its nodes as the role of the transaction.
 */
export async function ensureRuntimeRole(
  connection: PostgresConnection,
  { logsIn = false }: { readonly logsIn?: boolean } = {},
): Promise<string> {
  if ((await canSetRole(connection)) && (!logsIn || (await isLogin(connection)))) return RUNTIME_ROLE;
  const { rows } = await connection.query({ text: SELECT_LOGIN_RIGHTS });
  if (!isTrue(rows[0]?.may_make)) return "none";
  // Roles belong to the whole server: another database may be creating this one at the moment.
  await connection.query({
    text: `DO $$ BEGIN CREATE ROLE ${RUNTIME_ROLE} ${logsIn ? "LOGIN" : "NOLOGIN"}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
  });
  if (logsIn) await connection.query({ text: `ALTER ROLE ${RUNTIME_ROLE} LOGIN` }).catch(() => undefined);
  await connection.query({ text: `GRANT ${RUNTIME_ROLE} TO CURRENT_USER` }).catch(() => undefined);
  return (await canSetRole(connection)) && (!logsIn || (await isLogin(connection))) ? RUNTIME_ROLE : "none";
}

const SELECT_LOGIN_RIGHTS =
  "SELECT rolsuper OR rolcreaterole AS may_make, rolsuper OR rolbypassrls AS is_above FROM pg_roles WHERE rolname = current_user";

async function canSetRole(connection: PostgresConnection): Promise<boolean> {
  const { rows } = await connection.query({
    // Since PostgreSQL 16, a member may lack the right to assume the role.
    text:
      "SELECT CASE WHEN current_setting('server_version_num')::int >= 160000 THEN pg_has_role(current_user, oid, 'SET') " +
      "ELSE pg_has_role(current_user, oid, 'MEMBER') END AS may FROM pg_roles WHERE rolname = $1",
    values: [RUNTIME_ROLE],
  });
  return isTrue(rows[0]?.may);
}

async function isLogin(connection: PostgresConnection): Promise<boolean> {
  const sql = "SELECT rolcanlogin AS may FROM pg_roles WHERE rolname = $1";
  return isTrue((await connection.query({ text: sql, values: [RUNTIME_ROLE] })).rows[0]?.may);
}

/** Whether the login sees all rows in spite of row-level security. */
export async function bypassesRowSecurity(connection: PostgresConnection): Promise<boolean> {
  const { rows } = await connection.query({ text: SELECT_LOGIN_RIGHTS });
  return isTrue(rows[0]?.is_above);
}
