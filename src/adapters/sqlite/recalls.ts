import { MAX_RECALL_RECEIPTS, type RecallReceipt } from "../../domain/recall-receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { NewRecallReceipts } from "../../ports/record.ts";
import type { SqliteDatabase } from "./database.ts";
import { findUser, parseBody } from "./rows.ts";

/** Keeps receipts of recalls, and of each user the newest alone. A user who has nothing has none. */
export function saveRecallReceipts(database: SqliteDatabase, kept: readonly NewRecallReceipts[]): void {
  // One transaction: each costs a write to the disk that is waited for, and recalls of many users come together.
  database.transaction(() => {
    for (const { scope, receipts } of kept) {
      const user = findUser(database, scope)?.id;
      if (user !== undefined) saveUserReceipts(database, user, receipts);
    }
  });
}

function saveUserReceipts(database: SqliteDatabase, user: number, receipts: readonly RecallReceipt[]): void {
  const insert = database.statement(
    "INSERT OR REPLACE INTO recalls (user, id, body) VALUES (:user, :id, :body)",
  );
  for (const receipt of receipts) insert.run({ user, id: receipt.id, body: JSON.stringify(receipt) });
  database
    .statement(
      "DELETE FROM recalls WHERE user = :user AND number <= " +
        "(SELECT number FROM recalls WHERE user = :user ORDER BY number DESC LIMIT 1 OFFSET :most)",
    )
    .run({ user, most: MAX_RECALL_RECEIPTS });
}

/** The receipts of recalls, newest first. */
export function readRecallReceipts(
  database: SqliteDatabase,
  scope: Scope,
  { id, limit }: { readonly id?: string; readonly limit: number },
): RecallReceipt[] {
  const user = findUser(database, scope)?.id ?? -1;
  const rows =
    id === undefined
      ? database
          .statement("SELECT body FROM recalls WHERE user = :user ORDER BY number DESC LIMIT :limit")
          .all({ user, limit })
      : database.statement("SELECT body FROM recalls WHERE user = :user AND id = :id").all({ user, id });
  return rows.map(parseBody<RecallReceipt>);
}
