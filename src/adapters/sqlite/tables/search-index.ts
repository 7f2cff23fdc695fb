import type { Scope } from "../../../domain/scope.ts";
import type { StoredSearchIndex } from "../../../ports/memory-store.ts";
import type { SqliteDatabase } from "../database.ts";
import { findUser } from "../database.ts";

/** The stored search index of a user. */
export function readSearchIndex(database: SqliteDatabase, scope: Scope): StoredSearchIndex | undefined {
  const user = findUser(database, scope)?.id ?? -1;
  const row = database.statement("SELECT revision, bytes FROM blocks WHERE user = :user").get({ user });
  if (!(row?.bytes instanceof Uint8Array)) return undefined;
  return { revision: Number(row.revision), bytes: row.bytes };
}

/** The size in bytes of a user's stored search index, without reading it. */
export function readSearchIndexSize(database: SqliteDatabase, scope: Scope): number {
  const user = findUser(database, scope)?.id ?? -1;
  const row = database.statement("SELECT length(bytes) AS size FROM blocks WHERE user = :user").get({ user });
  return Number(row?.size ?? 0);
}

/** Like `readSearchIndex`, but in shared memory, which passes between threads without a copy. */
export function readSharedSearchIndex(database: SqliteDatabase, scope: Scope): StoredSearchIndex | undefined {
  const kept = readSearchIndex(database, scope);
  if (!kept) return undefined;
  const bytes = new Uint8Array(new SharedArrayBuffer(kept.bytes.length));
  bytes.set(kept.bytes);
  return { ...kept, bytes };
}

/**
 * Replaces the stored search index. An index of another revision than the user's is ignored: built before an erasure, it would
 * bring back erased data.
 */
export function saveSearchIndex(
  database: SqliteDatabase,
  scope: Scope,
  { revision, bytes }: StoredSearchIndex,
): void {
  database.transaction(() => {
    const user = findUser(database, scope);
    if (user?.revision !== revision) return;
    database
      .statement(
        "INSERT INTO blocks (user, revision, bytes) VALUES (:user, :revision, :bytes) " +
          "ON CONFLICT (user) DO UPDATE SET revision = excluded.revision, bytes = excluded.bytes",
      )
      .run({ user: user.id, revision, bytes });
  });
}

/** Deletes a user's search index, because it may contain erased data. */
export function deleteSearchIndex(database: SqliteDatabase, user: number): void {
  database.statement("DELETE FROM blocks WHERE user = :user").run({ user });
}
