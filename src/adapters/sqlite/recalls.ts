import { MOST_RECALLS, type RecallReceipt } from "../../domain/recall-receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { NewRecalls } from "../../ports/record.ts";
import type { Database } from "./database.ts";
import { bodyOf, userOf } from "./rows.ts";

/** Keeps receipts of recalls, and of each user the newest alone. A user who has nothing has none. */
export function keepRecalls(database: Database, kept: readonly NewRecalls[]): void {
  // One transaction: each costs a write to the disk that is waited for, and recalls of many users come together.
  database.transaction(() => {
    for (const { scope, receipts } of kept) {
      const user = userOf(database, scope)?.id;
      if (user !== undefined) keepOf(database, user, receipts);
    }
  });
}

function keepOf(database: Database, user: number, receipts: readonly RecallReceipt[]): void {
  const insert = database.statement(
    "INSERT OR REPLACE INTO recalls (user, id, body) VALUES (:user, :id, :body)",
  );
  for (const receipt of receipts) insert.run({ user, id: receipt.id, body: JSON.stringify(receipt) });
  database
    .statement(
      "DELETE FROM recalls WHERE user = :user AND number <= " +
        "(SELECT number FROM recalls WHERE user = :user ORDER BY number DESC LIMIT 1 OFFSET :most)",
    )
    .run({ user, most: MOST_RECALLS });
}

/** The receipts of recalls, newest first. */
export function recalls(
  database: Database,
  scope: Scope,
  { id, limit }: { readonly id?: string; readonly limit: number },
): RecallReceipt[] {
  const user = userOf(database, scope)?.id ?? -1;
  const rows =
    id === undefined
      ? database
          .statement("SELECT body FROM recalls WHERE user = :user ORDER BY number DESC LIMIT :limit")
          .all({ user, limit })
      : database.statement("SELECT body FROM recalls WHERE user = :user AND id = :id").all({ user, id });
  return rows.map(bodyOf<RecallReceipt>);
}
