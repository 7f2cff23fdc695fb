import { randomUUID } from "node:crypto";
import type { Documents, SharedDocument } from "../../../ports/stores/documents.ts";
import type { PostgresTransaction, Row } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import { decodeText, encodeText, toIndexKey } from "../database/user-rows.ts";

const SELECT_DOCUMENT =
  "SELECT mark, CASE WHEN mark::text = $2 THEN NULL ELSE body END AS body FROM documents WHERE name = $1";
/** Serialises changes, even while there is no row to lock. */
const LOCK_DOCUMENT = "SELECT pg_advisory_xact_lock(hashtextextended('keepsake documents ' || $1, 0))";
const UPSERT_DOCUMENT =
  "INSERT INTO documents (name, mark, body) VALUES ($1, $2, $3) " +
  "ON CONFLICT (name) DO UPDATE SET mark = excluded.mark, body = excluded.body";

/** Documents that several servers share, in the database of the store. */
export function createPostgresDocuments(database: PostgresDatabase): Documents {
  return {
    async read(name, known = "") {
      const [row] = await database.queryOnce(undefined, {
        sql: SELECT_DOCUMENT,
        values: [toIndexKey(name), known],
      });
      return row && parseDocument(row);
    },

    async change(name, change) {
      const key = toIndexKey(name);
      const mark = randomUUID();
      let thrown: { readonly reason: unknown } | undefined;
      const applyChange = async (transaction: PostgresTransaction): Promise<SharedDocument | undefined> => {
        thrown = undefined;
        const [, rows = []] = await transaction.queryAll(
          { sql: LOCK_DOCUMENT, values: [key] },
          { sql: SELECT_DOCUMENT, values: [key, ""] },
        );
        const current = rows[0] && parseDocument(rows[0]);
        let text: string | undefined;
        try {
          text = change(current?.text);
        } catch (reason) {
          thrown = { reason };
          return current;
        }
        if (text === undefined || text === current?.text) return current;
        transaction.queue(UPSERT_DOCUMENT, key, mark, encodeText(text));
        return { mark, text };
      };
      const kept = await database.write(ALL_PROJECTS, applyChange, async (transaction) => {
        // If the answer was lost, the mark shows whether it was stored.
        const [row] = await transaction.query(SELECT_DOCUMENT, key, "");
        return row?.mark === mark ? { was: parseDocument(row) } : undefined;
      });
      // An error of the callback is not a fault of the connection, so it is not retried.
      if (thrown) throw (thrown as { readonly reason: unknown }).reason;
      return kept;
    },
  };
}

function parseDocument({ mark, body }: Row): SharedDocument {
  return { mark: mark ?? "", ...(body === null ? {} : { text: decodeText(body) }) };
}
