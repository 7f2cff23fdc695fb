import { createUnencryptedError } from "../../shared/stored-rows.ts";
import type { SqliteDatabase } from "../database.ts";

/** Made only in a file that is encrypted: its presence is the mark. */
const TABLE =
  "CREATE TABLE IF NOT EXISTS encryption (id INTEGER PRIMARY KEY CHECK (id = 1), keys TEXT NOT NULL) STRICT";
/** Finds a row in an encrypted file. */
export const HAS_ENCRYPTION_TABLE =
  "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'encryption'";

/** The id of the keys that the texts are encrypted with. Undefined if they are not. */
export function readKeysId({ handle }: SqliteDatabase): string | undefined {
  if (!handle.prepare(HAS_ENCRYPTION_TABLE).get()) return undefined;
  const row = handle.prepare("SELECT keys FROM encryption").get();
  return row && String(row.keys);
}

/** Marks a file without users as encrypted. Throws `conflict` for a file with users and without a mark. */
export function writeKeysId(database: SqliteDatabase, keys: string): void {
  if (readKeysId(database) !== undefined) return;
  const { handle } = database;
  database.transaction(() => {
    if (handle.prepare("SELECT 1 FROM users LIMIT 1").get() && readKeysId(database) === undefined)
      throw createUnencryptedError();
    handle.exec(TABLE);
    handle.prepare("INSERT OR IGNORE INTO encryption (id, keys) VALUES (1, :keys)").run({ keys });
  });
}
