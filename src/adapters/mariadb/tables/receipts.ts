import type { BackupNote } from "../../../domain/operations/backup.ts";
import { MAX_RECALL_RECEIPTS, type RecallReceipt } from "../../../domain/recall.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "../../../domain/receipt.ts";
import type { Scope } from "../../../domain/scope.ts";
import { MemoryError } from "../../../errors.ts";
import type { ErasureStore, MemoryStore } from "../../../ports/memory-store.ts";
import type { UsageStore } from "../../../ports/stores/usage-store.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { parseBody } from "../../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "../database.ts";
import { insertMariadbRows } from "../database.ts";
import {
  findMariadbUser,
  parseMariadbScope,
  toKeyList,
  toLongNames,
  toMariadbKey,
  toMariadbScopeKeys,
  USER_NUMBER,
} from "../keys.ts";
import { parseMariadbId } from "../read.ts";
import { selectMariadbAnswers } from "./answer-cache.ts";

/** Receipts and traces of erasures. */
export function createMariadbErasures(database: MariadbDatabase): Omit<ErasureStore, "scrub"> {
  const selectErasures = (scope: Scope | undefined, columns: string, condition: string) =>
    scope
      ? database.query(
          `SELECT ${columns} FROM erasures WHERE person = ${USER_NUMBER} AND ${condition} ORDER BY number`,
          ...toMariadbScopeKeys(scope),
        )
      : database.query(`SELECT ${columns} FROM erasures WHERE ${condition} ORDER BY number`);
  return {
    list: async (scope) => (await selectErasures(scope, "body", "TRUE")).map(parseBody<ErasureReceipt>),
    traces: async (scope) =>
      (await selectErasures(scope, "trace AS body", "trace IS NOT NULL")).map(parseBody<Trace>),
    async summaries() {
      const rows = await database.query(
        "SELECT users.project, name, users.long_names, body, trace IS NOT NULL AS traced FROM erasures " +
          "JOIN users ON users.number = erasures.person ORDER BY erasures.number",
      );
      return rows.map((row) => {
        const { id, replays, verified, complete } = parseBody<ErasureReceipt>(row);
        return {
          receipt: id,
          ...parseMariadbScope(row),
          ...(replays === undefined ? {} : { replays }),
          hasTrace: Number(row.traced) === 1,
          isVerified: verified.length > 0,
          isComplete: complete,
        };
      });
    },
    countDependents: (scope, memories) => countDependents(database, scope, memories),
    async seal(scope, receipt) {
      const isThere = await database.write(async (transaction) => {
        const user = await findMariadbUser(transaction, scope);
        const place = [user?.number ?? -1, toMariadbKey(receipt.id)];
        const where = "WHERE person = ? AND id = ?";
        const [row] = await transaction.query(`SELECT body FROM erasures ${where} FOR UPDATE`, ...place);
        if (row && !parseBody<ErasureReceipt>(row).complete)
          await transaction.run(`UPDATE erasures SET body = ? ${where}`, JSON.stringify(receipt), ...place);
        return row !== undefined;
      });
      if (!isThere) throw new MemoryError("not_found", "there is no erasure receipt with this id.");
    },
  };
}

async function countDependents(database: MariadbDatabase, scope: Scope, memories: readonly string[]) {
  const keys = toKeyList(memories);
  const [links, blocks, receipts] = await database.snapshot(async (transaction) => {
    const person = (await findMariadbUser(transaction, scope))?.number ?? -1;
    const count = async (sql: string, ...values: readonly unknown[]) =>
      Number((await transaction.query(`SELECT COUNT(*) AS found FROM ${sql}`, person, ...values))[0]?.found);
    return [
      keys.length === 0
        ? 0
        : await count("links WHERE person = ? AND (source IN (?) OR target IN (?))", keys, keys),
      await count("blocks WHERE person = ? AND piece = 0"),
      await transaction.query("SELECT body FROM receipts WHERE person = ?", person),
    ];
  });
  const ids = new Set(memories);
  const affected = receipts.filter((row) =>
    parseBody<KeptReceipt>(row).memories.some(({ id }) => ids.has(id)),
  );
  return { links, blocks, answers: affected.length + (await selectMariadbAnswers(database, scope)).length };
}

/** Notes of backups. */
export function createMariadbBackupNotes(database: MariadbDatabase): MemoryStore["backups"] {
  return {
    list: async () =>
      (await database.query("SELECT body FROM backups ORDER BY number")).map(parseBody<BackupNote>),
    save: (note) =>
      database.write((transaction) =>
        insertMariadbRows(
          transaction,
          "backups",
          [toNoteRow(note)],
          "ON DUPLICATE KEY UPDATE body = VALUES(body)",
        ),
      ),
  };
}

/** The columns of a note about a backup or a job. */
export function toNoteRow(note: { readonly name: string }): MariadbRow {
  return { name: toMariadbKey(note.name), body: JSON.stringify(note) };
}

/** Locks users in a fixed order, so that two servers do not deadlock. Gives those with data, in that order. */
async function lockUsers<Owned extends { readonly scope: Scope }>(
  transaction: MariadbTransaction,
  owned: readonly Owned[],
): Promise<(Owned & { readonly person: number })[]> {
  const keyOf = ({ scope }: Owned): string => JSON.stringify(toMariadbScopeKeys(scope));
  const ordered = owned.toSorted((one, other) => compareStrings(keyOf(one), keyOf(other)));
  const found: (Owned & { readonly person: number })[] = [];
  for (const one of ordered) {
    const user = await findMariadbUser(transaction, one.scope, "FOR UPDATE");
    if (user && user.revision > 0) found.push({ ...one, person: user.number });
  }
  return found;
}

/** Receipts of recalls. */
export function createMariadbRecallReceipts(database: MariadbDatabase): MemoryStore["recallReceipts"] {
  return {
    save: (kept) =>
      database.write(async (transaction) => {
        for (const { person, receipts } of await lockUsers(transaction, kept))
          await saveReceiptsOfUser(transaction, person, receipts);
      }),
    async list(scope, { id, limit }) {
      const select = `SELECT body FROM recalls WHERE person = ${USER_NUMBER}`;
      const keys = toMariadbScopeKeys(scope);
      const rows =
        id === undefined
          ? await database.query(`${select} ORDER BY number DESC LIMIT ?`, ...keys, limit)
          : await database.query(`${select} AND id = ?`, ...keys, toMariadbKey(id));
      return rows.map(parseBody<RecallReceipt>);
    },
    clear: (scope) =>
      database.write(async (transaction) => {
        const [user] = await lockUsers(transaction, [{ scope }]);
        if (user) await transaction.run("DELETE FROM recalls WHERE person = ?", user.person);
      }),
  };
}

async function saveReceiptsOfUser(
  transaction: MariadbTransaction,
  person: number,
  receipts: readonly RecallReceipt[],
): Promise<void> {
  if (receipts.length === 0) return;
  // The last receipt of each id, at its last place, which defines its age.
  const last = new Map<string, RecallReceipt>();
  for (const receipt of receipts) {
    last.delete(toMariadbKey(receipt.id));
    last.set(toMariadbKey(receipt.id), receipt);
  }
  await transaction.run("DELETE FROM recalls WHERE person = ? AND id IN (?)", person, [...last.keys()]);
  const rows = [...last].map(([id, receipt]) => ({ person, id, body: JSON.stringify(receipt) }));
  await insertMariadbRows(transaction, "recalls", rows);
  const [excess] = await transaction.query(
    "SELECT number FROM recalls WHERE person = ? ORDER BY number DESC LIMIT 1 OFFSET ?",
    person,
    MAX_RECALL_RECEIPTS,
  );
  if (excess)
    await transaction.run("DELETE FROM recalls WHERE person = ? AND number <= ?", person, excess.number);
}

/** How often recalls returned each memory. A batch whose COMMIT got no answer may count twice. */
export function createMariadbUsage(database: MariadbDatabase): UsageStore {
  return {
    add: (added) =>
      database.write(async (transaction) => {
        for (const { person, uses } of await lockUsers(transaction, added)) {
          if (uses.length === 0) continue;
          const sql = "SELECT id FROM heads WHERE person = ? AND id IN (?)";
          const heads = await transaction.query(sql, person, toKeyList(uses.map(({ id }) => id)));
          const known = new Set(heads.map(({ id }) => id));
          const rows = uses
            .filter(({ id }) => known.has(toMariadbKey(id)))
            .map((use) => ({ person, ...toUseRow(use) }));
          await insertMariadbRows(transaction, "uses", rows, ADD_USE);
        }
      }),
    async read(scope, ids) {
      const select = `SELECT id, long_names, count, last_at FROM uses WHERE person = ${USER_NUMBER}`;
      const keys = toMariadbScopeKeys(scope);
      if (ids?.length === 0) return [];
      const rows = ids
        ? await database.query(`${select} AND id IN (?)`, ...keys, toKeyList(ids))
        : await database.query(select, ...keys);
      return rows.map((row) => ({
        id: parseMariadbId(row),
        count: Number(row.count),
        lastAt: String(row.last_at),
      }));
    },
  };
}

const ADD_USE =
  "ON DUPLICATE KEY UPDATE count = count + VALUES(count), last_at = GREATEST(last_at, VALUES(last_at))";

/** The columns of a use, besides its person. */
export function toUseRow({ id, count, lastAt }: { id: string; count: number; lastAt: string }): MariadbRow {
  return { id: toMariadbKey(id), long_names: toLongNames(id), count, last_at: lastAt };
}
