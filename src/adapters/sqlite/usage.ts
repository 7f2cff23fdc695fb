import type { Scope } from "../../domain/scope.ts";
import type { MemoryUse, UserUses } from "../../ports/usage-store.ts";
import { findUser, type SqliteDatabase } from "./database.ts";

/** Adds uses in one transaction, because each waits for a disk write. Memories that do not exist have none. */
export function addUses(database: SqliteDatabase, added: readonly UserUses[]): void {
  database.transaction(() => {
    const add = database.statement(
      "INSERT INTO uses (user, id, count, last_at) SELECT user, id, :count, :lastAt FROM heads WHERE user = :user AND id = :id " +
        "ON CONFLICT (user, id) DO UPDATE SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)",
    );
    for (const { scope, uses } of added) {
      const user = findUser(database, scope)?.id;
      if (user === undefined) continue;
      for (const { id, count, lastAt } of uses) add.run({ user, id, count, lastAt });
    }
  });
}

/** The uses of some memories, or of all of a user. */
export function readUses(database: SqliteDatabase, scope: Scope, ids?: readonly string[]): MemoryUse[] {
  const user = findUser(database, scope)?.id ?? -1;
  const rows = ids
    ? database
        .statement(
          "SELECT id, count, last_at FROM uses WHERE user = :user AND id IN (SELECT value FROM json_each(:ids))",
        )
        .all({ user, ids: JSON.stringify(ids) })
    : database.statement("SELECT id, count, last_at FROM uses WHERE user = :user").all({ user });
  return rows.map((row) => ({ id: String(row.id), count: Number(row.count), lastAt: String(row.last_at) }));
}
