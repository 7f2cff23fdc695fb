import type { SqliteDatabase } from "./database.ts";

/** Whether an erasure of a user is under way. */
export function isErasureUnderWay(database: SqliteDatabase, user: number): boolean {
  const sql = "SELECT 1 FROM erasing WHERE user = :user AND part = 0";
  return database.statement(sql).get({ user }) !== undefined;
}
