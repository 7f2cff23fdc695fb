import type { SQLInputValue } from "node:sqlite";
import type { SqliteDatabase, SqliteRow } from "../database.ts";
import type { DigestTable } from "./digest-tables.ts";

const INSERT_STATEMENTS = new Map<string, string>();

/**
 * Inserts a row with its digest, in half the time that the trigger takes for it. False where a row of its key is there: that one is
 * left as it is.
 */
export function insertRow(database: SqliteDatabase, table: DigestTable, row: SqliteRow): boolean {
  const digest = database.guard?.digestInserted(table, row) ?? null;
  const { changes } = database
    .statement(getInsertSql(table))
    .run({ ...row, digest } as { [column: string]: SQLInputValue });
  if (changes !== 0) return true;
  if (digest) database.guard?.undoInserted(table, row, digest);
  return false;
}

function getInsertSql({ name, columns }: DigestTable): string {
  const made = INSERT_STATEMENTS.get(name);
  if (made) return made;
  const all = [...columns, "digest"];
  const values = all.map((column) => `:${column}`).join(", ");
  const sql = `INSERT INTO ${name} (${all.join(", ")}) VALUES (${values}) ON CONFLICT DO NOTHING`;
  INSERT_STATEMENTS.set(name, sql);
  return sql;
}
