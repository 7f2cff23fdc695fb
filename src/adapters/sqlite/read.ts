import { setImmediate } from "node:timers/promises";
import type { LogEntry, MemoryLink, SearchUnit, Tombstone } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { readInSnapshot, readRowsInSlices } from "./apart.ts";
import type { SqliteDatabase, SqliteRow } from "./database.ts";
import { type DigestTable, getDigestTable } from "./integrity/digest-tables.ts";
import { decodeVector, findUser, findUserId, parseBody } from "./rows.ts";

export function toTombstone({ hash, type, at }: SqliteRow): Tombstone {
  return { hash: String(hash), of: type as Tombstone["of"], at: String(at) };
}

export function toLink({ source, type, target, strength }: SqliteRow): MemoryLink {
  return {
    from: String(source),
    type: type as MemoryLink["type"],
    to: String(target),
    strength: Number(strength),
  };
}

export function toUnit(row: SqliteRow): SearchUnit {
  return {
    id: String(row.id),
    type: row.type as SearchUnit["type"],
    owner: String(row.owner),
    start: Number(row.first),
    end: Number(row.last),
    terms: String(row.terms),
    space: String(row.space),
    vector: decodeVector(row.vector),
  };
}

const MESSAGES_TABLE = getDigestTable("messages");
const VERSIONS_TABLE = getDigestTable("versions");

/** Messages and memories by id, in the order asked for; those that were changed since they were written are left out. */
export function readByIds(
  database: SqliteDatabase,
  scope: Scope,
  ids: { readonly messages: readonly string[]; readonly memories: readonly string[] },
): { messages: Message[]; memories: Memory[] } {
  const user = findUserId(database, scope);
  const bodies = <Body>(table: DigestTable, sql: string, wanted: readonly string[]): Body[] =>
    readRowsByIds(database, sql, { user }, wanted).flatMap((row) =>
      row && (database.guard?.verifyOnRead(table, row) ?? true) ? [parseBody<Body>(row)] : [],
    );
  return {
    messages: bodies<Message>(
      MESSAGES_TABLE,
      "SELECT messages.* FROM json_each(:ids) AS wanted " +
        "CROSS JOIN messages ON user = :user AND messages.id = wanted.value",
      ids.messages,
    ),
    memories: bodies<Memory>(
      VERSIONS_TABLE,
      "SELECT versions.* FROM json_each(:ids) AS wanted " +
        "CROSS JOIN heads ON heads.user = :user AND heads.id = wanted.value " +
        "CROSS JOIN versions ON versions.user = heads.user AND versions.id = heads.id AND versions.version = heads.version",
      ids.memories,
    ),
  };
}

export function readVectors(
  database: SqliteDatabase,
  scope: Scope,
  ids: readonly string[],
  space: string,
): (Float32Array | undefined)[] {
  const user = findUserId(database, scope);
  return readRowsByIds(
    database,
    "SELECT units.id, vector FROM json_each(:ids) AS wanted " +
      "CROSS JOIN units ON user = :user AND units.id = wanted.value AND +space = :space",
    { user, space },
    ids,
  ).map((row) => row && decodeVector(row.vector));
}

/**
 * One row for each id, in order: one statement for all takes a third of the time of one for each. The ids lead, or else
 * SQLite may walk along another index.
 */
function readRowsByIds(
  database: SqliteDatabase,
  sql: string,
  values: { readonly [name: string]: string | number },
  ids: readonly string[],
): (SqliteRow | undefined)[] {
  if (ids.length === 0) return [];
  const rows = database.statement(sql).all({ ...values, ids: JSON.stringify(ids) });
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id));
}

export async function readVersions(database: SqliteDatabase, scope: Scope, id?: string): Promise<Memory[]> {
  const user = findUser(database, scope)?.id;
  if (user === undefined) return [];
  if (id === undefined) {
    return (
      (await readInSnapshot(database, (own) => readAllVersions(own, user))) ?? readAllVersions(database, user)
    );
  }
  return database
    .statement("SELECT body FROM versions WHERE user = :user AND id = :id ORDER BY version")
    .all({ user, id })
    .map(parseBody<Memory>);
}

/** In slices: one user may have many. */
function readAllVersions(database: SqliteDatabase, user: number): Promise<Memory[]> {
  return readRowsInSlices(
    database,
    "SELECT number FROM versions WHERE user = :user ORDER BY number",
    { user },
    "SELECT body FROM json_each(:numbers) AS wanted CROSS JOIN versions ON versions.number = wanted.value",
    parseBody<Memory>,
  );
}

/** Entries that are made into objects at once: one may name thousands of ids. */
const ENTRIES_PER_SLICE = 20;

export async function readLog(
  database: SqliteDatabase,
  scope: Scope,
  options: { before?: number; limit: number },
): Promise<LogEntry[]> {
  const user = findUser(database, scope)?.id;
  if (user === undefined) return [];
  const before = options.before ?? Number.MAX_SAFE_INTEGER;
  const rows = database
    .statement(
      "SELECT body FROM log WHERE user = :user AND revision < :before ORDER BY revision DESC LIMIT :limit",
    )
    .all({ user, before, limit: options.limit });
  const entries: LogEntry[] = [];
  for (let from = 0; from < rows.length; from += ENTRIES_PER_SLICE) {
    if (from > 0) await setImmediate();
    for (const row of rows.slice(from, from + ENTRIES_PER_SLICE)) entries.push(parseBody<LogEntry>(row));
  }
  return entries;
}

export function readReceipt(
  database: SqliteDatabase,
  scope: Scope,
  key: string,
): (KeptReceipt & { readonly revision: number }) | undefined {
  const user = findUser(database, scope)?.id;
  if (user === undefined) return undefined;
  const row = database
    .statement("SELECT revision, body FROM receipts WHERE user = :user AND key = :key")
    .get({ user, key });
  return row && { ...parseBody<KeptReceipt>(row), revision: Number(row.revision) };
}

export function readErasureReceipts(database: SqliteDatabase, scope?: Scope): ErasureReceipt[] {
  if (!scope)
    return database
      .statement("SELECT body FROM erasures ORDER BY number")
      .all()
      .map(parseBody<ErasureReceipt>);
  const user = findUser(database, scope)?.id ?? -1;
  return database
    .statement("SELECT body FROM erasures WHERE user = :user ORDER BY number")
    .all({ user })
    .map(parseBody<ErasureReceipt>);
}

export function readUserNames(database: SqliteDatabase, project: string): string[] {
  return database
    .statement("SELECT name FROM users WHERE project = :project AND revision > 0")
    .all({ project })
    .map(({ name }) => String(name))
    .sort();
}
