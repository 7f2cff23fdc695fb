import type { LogEntry, MemoryLink, SearchUnit, Tombstone } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta, MemoryStore } from "../../ports/memory-store.ts";
import { compareLinks, compareStrings } from "../shared/change-rules.ts";
import { createEmptyDelta, decodeVector, parseBody } from "../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "./database.ts";
import {
  findMariadbUser,
  parseNames,
  toKeyList,
  toMariadbKey,
  toMariadbScopeKeys,
  USER_NUMBER,
} from "./keys.ts";

/** The newest versions of memories. */
export const NEWEST_MEMORIES =
  "heads JOIN versions ON versions.person = heads.person AND versions.id = heads.id AND versions.version = heads.version";

/** The reads of the store's core. */
export function createMariadbReads(
  database: MariadbDatabase,
): Pick<MemoryStore, "revision" | "since" | "read" | "vectors" | "versions" | "log" | "receipt" | "users"> {
  const selectOfUser = (sql: string, scope: Scope, ...values: readonly unknown[]) =>
    database.query(sql.replace(":user", USER_NUMBER), ...toMariadbScopeKeys(scope), ...values);
  return {
    revision: async (scope) => (await findMariadbUser(database, scope))?.revision ?? 0,
    since: (scope, revision, options) =>
      database.snapshot((transaction) => selectDelta(transaction, scope, revision, options?.units ?? true)),

    async read(scope, ids) {
      const select = async <Body>(sql: string, wanted: readonly string[]): Promise<Body[]> => {
        if (wanted.length === 0) return [];
        const rows = await selectOfUser(sql, scope, toKeyList(wanted));
        return orderRows(rows, wanted).flatMap((row) => (row ? [parseBody<Body>(row)] : []));
      };
      return {
        messages: await select<Message>(
          "SELECT id, body FROM messages WHERE person = :user AND id IN (?)",
          ids.messages,
        ),
        memories: await select<Memory>(
          `SELECT heads.id, body FROM ${NEWEST_MEMORIES} WHERE heads.person = :user AND heads.id IN (?)`,
          ids.memories,
        ),
      };
    },

    async vectors(scope, ids, space) {
      if (ids.length === 0) return [];
      const sql = "SELECT id, vector FROM units WHERE person = :user AND id IN (?) AND space = ?";
      const rows = await selectOfUser(sql, scope, toKeyList(ids), space.toWellFormed());
      return orderRows(rows, ids).map((row) => row && decodeVector(row.vector));
    },

    async versions(scope, id) {
      const rows =
        id === undefined
          ? await selectOfUser("SELECT body FROM versions WHERE person = :user ORDER BY number", scope)
          : await selectOfUser(
              "SELECT body FROM versions WHERE person = :user AND id = ? ORDER BY version",
              scope,
              toMariadbKey(id),
            );
      return rows.map(parseBody<Memory>);
    },

    async log(scope, { before = Number.MAX_SAFE_INTEGER, limit }) {
      const sql = "SELECT body FROM log WHERE person = :user AND revision < ? ORDER BY revision DESC LIMIT ?";
      return (await selectOfUser(sql, scope, before, limit)).map(parseBody<LogEntry>);
    },

    async receipt(scope, key) {
      const sql = "SELECT revision, body FROM receipts WHERE person = :user AND `key` = ?";
      const [row] = await selectOfUser(sql, scope, toMariadbKey(key));
      return row && { ...parseBody<KeptReceipt>(row), revision: Number(row.revision) };
    },

    async users(project) {
      const sql = "SELECT project, name, long_names FROM users WHERE project = ? AND revision > 0";
      const rows = await database.query(sql, toMariadbKey(project));
      return rows.map((row) => parseNames(row.long_names, row.project, row.name)[1] ?? "").sort();
    },
  };
}

function orderRows(rows: readonly MariadbRow[], ids: readonly string[]): (MariadbRow | undefined)[] {
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(toMariadbKey(id)));
}

const SELECT_CHANGED_MESSAGES = "SELECT body FROM messages WHERE person = ? AND revision > ? ORDER BY turn";
const SELECT_CHANGED_MEMORIES = `SELECT body FROM ${NEWEST_MEMORIES} WHERE heads.person = ? AND heads.revision > ? ORDER BY heads.number`;
const SELECT_CHANGED_UNITS = "SELECT * FROM units WHERE person = ? AND revision > ?";

async function selectDelta(
  transaction: MariadbTransaction,
  scope: Scope,
  from: number,
  withUnits: boolean,
): Promise<Delta> {
  const user = await findMariadbUser(transaction, scope);
  if (!user) return createEmptyDelta();
  const { number } = user;
  const messages = await transaction.query(SELECT_CHANGED_MESSAGES, number, from);
  const memories = await transaction.query(SELECT_CHANGED_MEMORIES, number, from);
  const units = withUnits ? await transaction.query(SELECT_CHANGED_UNITS, number, from) : [];
  const tombstones = await transaction.query("SELECT * FROM tombstones WHERE person = ?", number);
  const links = await transaction.query("SELECT * FROM links WHERE person = ?", number);
  const gone = await selectGone(transaction, number, from);
  return {
    revision: user.revision,
    messages: messages.map(parseBody<Message>),
    memories: memories.map(parseBody<Memory>),
    units: units.map(parseMariadbUnit).sort((one, other) => compareStrings(one.id, other.id)),
    gone,
    tombstones: tombstones
      .map(parseMariadbTombstone)
      .sort((one, other) => compareStrings(one.hash, other.hash)),
    links: links.map(parseMariadbLink).sort(compareLinks),
  };
}

async function selectGone(
  transaction: MariadbTransaction,
  number: number,
  from: number,
): Promise<Delta["gone"]> {
  // A user who had nothing before has nothing removed.
  if (from === 0) return { units: [], memories: [] };
  const sql = "SELECT type, id, long_names FROM gone WHERE person = ? AND revision > ?";
  const rows = await transaction.query(sql, number, from);
  const goneOf = (type: string): string[] =>
    rows
      .filter((row) => row.type === type)
      .map(parseMariadbId)
      .sort();
  return { units: goneOf("unit"), memories: goneOf("memory") };
}

export function parseMariadbId({ id, long_names }: MariadbRow): string {
  return parseNames(long_names, id)[0] ?? "";
}

export function parseMariadbTombstone({ hash, long_names, type, at }: MariadbRow): Tombstone {
  const [name = ""] = parseNames(long_names, hash);
  return { hash: name, of: type as Tombstone["of"], at: String(at) };
}

export function parseMariadbLink({ source, type, target, long_names, strength }: MariadbRow): MemoryLink {
  const [from = "", to = ""] = parseNames(long_names, source, target);
  return { from, type: type as MemoryLink["type"], to, strength: Number(strength) };
}

/** Parses a row as a unit, without its vector. */
export function parseMariadbUnitTexts(row: MariadbRow): Omit<SearchUnit, "vector"> {
  const [id = "", owner = ""] = parseNames(row.long_names, row.id, row.owner);
  return {
    id,
    type: row.type as SearchUnit["type"],
    owner,
    start: Number(row.first),
    end: Number(row.last),
    terms: String(row.terms),
    space: String(row.space),
  };
}

export function parseMariadbUnit(row: MariadbRow): SearchUnit {
  return { ...parseMariadbUnitTexts(row), vector: decodeVector(row.vector) };
}
