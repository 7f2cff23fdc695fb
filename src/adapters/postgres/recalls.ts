import { MOST_RECALLS, type RecallReceipt } from "../../domain/recall-receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { NewRecalls } from "../../ports/record.ts";
import { bodyOf } from "../shared/stored-body.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { keyOf } from "./names.ts";
import { rowsOf } from "./read.ts";
import { keysOf, reachOf } from "./rows.ts";
import type { Transaction } from "./statement.ts";

const USER = "SELECT number FROM users WHERE project = $1 AND name = $2 AND revision > 0 FOR NO KEY UPDATE";
const KEEP =
  "INSERT INTO recalls (person, project, id, body) SELECT $1, $2, id, body " +
  "FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS row (id, body, place) ORDER BY place " +
  "ON CONFLICT (person, id) DO UPDATE SET number = excluded.number, body = excluded.body";
const DROP =
  "DELETE FROM recalls WHERE person = $1 AND number <= " +
  "(SELECT number FROM recalls WHERE person = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)";

/** Keeps receipts of recalls, and of each user the newest alone. A user who has nothing has none. */
export async function keepRecalls(database: Database, kept: readonly NewRecalls[]): Promise<void> {
  if (kept.length === 0) return;
  // In one order, so that two servers that keep those of the same users follow each other.
  const ordered = kept
    .map((one) => ({ ...one, keys: keysOf(one.scope) }))
    .sort((one, other) => (JSON.stringify(one.keys) < JSON.stringify(other.keys) ? -1 : 1));
  const projects = new Set(ordered.map(({ keys: [project] }) => project));
  const [first] = ordered;
  const reach = projects.size === 1 && first ? reachOf(first.scope) : EVERYBODY;
  // One transaction: each costs a write to the disk that is waited for, and recalls of many users come together.
  await database.write(reach, async (transaction) => {
    const users = await transaction.all(...ordered.map(({ keys }) => ({ sql: USER, values: keys })));
    for (const [i, { keys, receipts }] of ordered.entries()) {
      const person = users[i]?.[0]?.number;
      if (person !== undefined) keepOf(transaction, { person: Number(person), project: keys[0] }, receipts);
    }
  });
}

function keepOf(
  transaction: Transaction,
  { person, project }: { readonly person: number; readonly project: string },
  receipts: readonly RecallReceipt[],
): void {
  // Of two of one id the last; where it stood last, for that is how new it is.
  const rows = new Map<string, RecallReceipt>();
  for (const receipt of receipts) {
    rows.delete(keyOf(receipt.id));
    rows.set(keyOf(receipt.id), receipt);
  }
  if (rows.size === 0) return;
  const bodies = [...rows.values()].map((receipt) => JSON.stringify(receipt));
  transaction.later(KEEP, person, project, [...rows.keys()], bodies);
  transaction.later(DROP, person, MOST_RECALLS);
}

/** The receipts of recalls, newest first. */
export async function recalls(
  database: Database,
  scope: Scope,
  { id, limit }: { readonly id?: string; readonly limit: number },
): Promise<RecallReceipt[]> {
  const rows =
    id === undefined
      ? await rowsOf(
          database,
          scope,
          "SELECT body FROM recalls WHERE person = $1 ORDER BY number DESC LIMIT $2",
          limit,
        )
      : await rowsOf(database, scope, "SELECT body FROM recalls WHERE person = $1 AND id = $2", keyOf(id));
  return rows.map(bodyOf<RecallReceipt>);
}
