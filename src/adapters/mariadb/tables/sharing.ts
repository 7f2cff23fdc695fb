import { randomUUID } from "node:crypto";
import { listParties, type Share, toGroupParty, toUserParty } from "../../../domain/sharing.ts";
import { MemoryError } from "../../../errors.ts";
import type { Documents, SharedDocument } from "../../../ports/stores/documents.ts";
import type { SharingStore } from "../../../ports/stores/sharing-store.ts";
import { checkNames, parseBody } from "../../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "../database.ts";
import { insertMariadbRows } from "../database.ts";
import { toKeyList, toMariadbKey, toMariadbScopeKeys } from "../keys.ts";

const SELECT_SHARES =
  "SELECT body FROM shares WHERE project = ? AND id IN " +
  "(SELECT id FROM share_parties WHERE project = ? AND party IN (?)) ORDER BY id";

/** Grants and groups. */
export function createMariadbSharing(database: MariadbDatabase): SharingStore {
  return {
    async read(scope) {
      const [project] = toMariadbScopeKeys(scope);
      const select = async (parties: readonly string[]): Promise<Share[]> =>
        (await database.query(SELECT_SHARES, project, project, toKeyList(parties))).map(parseBody<Share>);
      const user = toUserParty(scope.user);
      const own = await select([user]);
      const groups = own.filter(({ type }) => type === "group").map(({ id }) => toGroupParty(id));
      return groups.length === 0 ? own : select([user, ...groups]);
    },
    async apply(name, { put = [], drop = [] }) {
      checkNames(name, ...put.flatMap(listParties));
      const project = toMariadbKey(name);
      await database.write<void>(
        async (transaction) => {
          if (drop.length > 0)
            await transaction.run(
              "DELETE FROM shares WHERE project = ? AND id IN (?)",
              project,
              toKeyList(drop),
            );
          // In a fixed order, so that two servers do not deadlock.
          for (const share of put.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
            await putShare(transaction, project, share);
        },
        async (transaction) =>
          (await areStored(transaction, project, put, drop)) ? { was: undefined } : undefined,
      );
    },
  };
}

async function putShare(transaction: MariadbTransaction, project: string, share: Share): Promise<void> {
  const id = toMariadbKey(share.id);
  const body = JSON.stringify(share);
  // A locking read sees the newest version; a missing row is refused by its key.
  const sql = "SELECT version FROM shares WHERE project = ? AND id = ? FOR UPDATE";
  const [row] = await transaction.query(sql, project, id);
  if (Number(row?.version ?? 0) !== share.version - 1) throw createShareConflict();
  const columns = { project, id, version: share.version, body };
  await insertMariadbRows(transaction, "shares", [columns], row ? REPLACE_SHARE : "").catch(refuseDuplicate);
  await transaction.run("DELETE FROM share_parties WHERE project = ? AND id = ?", project, id);
  await insertMariadbRows(transaction, "share_parties", toPartyRows(project, share), KEEP_PARTY);
}

const REPLACE_SHARE = "ON DUPLICATE KEY UPDATE version = VALUES(version), body = VALUES(body)";
export const KEEP_PARTY = "ON DUPLICATE KEY UPDATE project = VALUES(project)";
const DUPLICATE_KEY = 1062;

function createShareConflict(): MemoryError {
  return new MemoryError("conflict", "a grant or group has changed meanwhile. Read it again.");
}

function refuseDuplicate(error: unknown): never {
  throw (error as { readonly errno?: unknown }).errno === DUPLICATE_KEY ? createShareConflict() : error;
}

/** The rows of whom a share concerns. */
export function toPartyRows(project: string, share: Share): MariadbRow[] {
  const id = toMariadbKey(share.id);
  return listParties(share).map((party) => ({ project, party: toMariadbKey(party), id }));
}

/** Whether the changes were stored, after a COMMIT without an answer. */
async function areStored(
  transaction: MariadbTransaction,
  project: string,
  put: readonly Share[],
  drop: readonly string[],
): Promise<boolean> {
  const ids = toKeyList([...drop, ...put.map(({ id }) => id)]);
  if (ids.length === 0) return true;
  const rows = await transaction.query(
    "SELECT body FROM shares WHERE project = ? AND id IN (?) FOR UPDATE",
    project,
    ids,
  );
  const bodies = new Set(rows.map(({ body }) => body));
  return rows.length === put.length && put.every((share) => bodies.has(JSON.stringify(share)));
}

const SELECT_DOCUMENT = "SELECT mark, body FROM documents WHERE name = ?";

/** Documents that several servers share, such as their keys. */
export function createMariadbDocuments(database: MariadbDatabase): Documents {
  return {
    async read(name, known) {
      const sql = "SELECT mark, IF(mark = ?, NULL, body) AS body FROM documents WHERE name = ?";
      const [row] = await database.query(sql, known ?? "", toMariadbKey(name));
      return row && parseDocument(row);
    },
    async change(name, change) {
      const key = toMariadbKey(name);
      const mark = randomUUID();
      return database.write(
        async (transaction) => {
          // A row without a mark is locked in place of a missing one, and is removed with the transaction.
          await insertMariadbRows(
            transaction,
            "documents",
            [{ name: key, mark: "", body: "" }],
            KEEP_DOCUMENT,
          );
          const [row] = await transaction.query(`${SELECT_DOCUMENT} FOR UPDATE`, key);
          const current = row && row.mark !== "" ? parseDocument(row) : undefined;
          const text = change(current?.text);
          if (text !== undefined && text !== current?.text) {
            const sql = "UPDATE documents SET mark = ?, body = ? WHERE name = ?";
            await transaction.run(sql, mark, text.toWellFormed(), key);
            return { mark, text };
          }
          if (!current) await transaction.run("DELETE FROM documents WHERE name = ?", key);
          return current;
        },
        async (transaction) => {
          const [row] = await transaction.query(`${SELECT_DOCUMENT} FOR UPDATE`, key);
          return row?.mark === mark ? { was: parseDocument(row) } : undefined;
        },
      );
    },
  };
}

const KEEP_DOCUMENT = "ON DUPLICATE KEY UPDATE name = VALUES(name)";

function parseDocument({ mark, body }: MariadbRow): SharedDocument {
  return { mark: String(mark), ...(body === null ? {} : { text: String(body) }) };
}
