import { randomUUID } from "node:crypto";
import type { Documents, SharedDocument } from "../../ports/documents.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { keyOf, readText, textOf } from "./names.ts";
import type { Row } from "./pool.ts";
import type { Transaction } from "./statement.ts";

const READ =
  "SELECT mark, CASE WHEN mark::text = $2 THEN NULL ELSE body END AS body FROM documents WHERE name = $1";
/** One change after the other; also where there is no row to lock yet. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('keepsake documents ' || $1, 0))";
const PUT =
  "INSERT INTO documents (name, mark, body) VALUES ($1, $2, $3) " +
  "ON CONFLICT (name) DO UPDATE SET mark = excluded.mark, body = excluded.body";

/** What several servers share, in the record's own database. */
export function postgresDocuments(database: Database): Documents {
  return {
    async read(name, known = "") {
      const [row] = await database.quick(undefined, { sql: READ, values: [keyOf(name), known] });
      return row && documentOf(row);
    },

    async change(name, change) {
      const key = keyOf(name);
      const mark = randomUUID();
      let thrown: { readonly reason: unknown } | undefined;
      const changed = async (transaction: Transaction): Promise<SharedDocument | undefined> => {
        thrown = undefined;
        const [, rows = []] = await transaction.all(
          { sql: LOCK, values: [key] },
          { sql: READ, values: [key, ""] },
        );
        const held = rows[0] && documentOf(rows[0]);
        let text: string | undefined;
        try {
          text = change(held?.text);
        } catch (reason) {
          thrown = { reason };
          return held;
        }
        if (text === undefined || text === held?.text) return held;
        transaction.later(PUT, key, mark, textOf(text));
        return { mark, text };
      };
      const kept = await database.write(EVERYBODY, changed, async (transaction) => {
        // Where the answer was lost, the mark says whether it was stored.
        const [row] = await transaction.rows(READ, key, "");
        return row?.mark === mark ? { was: documentOf(row) } : undefined;
      });
      // Whatever it is, it is no fault of the connection, and nothing to be tried again.
      if (thrown) throw (thrown as { readonly reason: unknown }).reason;
      return kept;
    },
  };
}

function documentOf({ mark, body }: Row): SharedDocument {
  return { mark: mark ?? "", ...(body === null ? {} : { text: readText(body) }) };
}
