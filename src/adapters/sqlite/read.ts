import { setImmediate } from "node:timers/promises";
import type { Link, LogEntry, Tombstone, Unit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { readApart, rowsInSlices } from "./apart.ts";
import type { Database, Row } from "./database.ts";
import { type DigestTable, digestTable } from "./integrity/digest-tables.ts";
import { bodyOf, numberOf, userOf, vectorOf } from "./rows.ts";

export function tombstoneOf({ hash, type, at }: Row): Tombstone {
  return { hash: String(hash), of: type as Tombstone["of"], at: String(at) };
}

export function linkOf({ source, type, target, strength }: Row): Link {
  return {
    from: String(source),
    type: type as Link["type"],
    to: String(target),
    strength: Number(strength),
  };
}

export function unitOf(row: Row): Unit {
  return {
    id: String(row.id),
    type: row.type as Unit["type"],
    owner: String(row.owner),
    start: Number(row.first),
    end: Number(row.last),
    terms: String(row.terms),
    space: String(row.space),
    vector: vectorOf(row.vector),
  };
}

const MESSAGES = digestTable("messages");
const VERSIONS = digestTable("versions");

/** Messages and memories by id, in the order asked for; those that were changed since they were written are left out. */
export function byIds(
  database: Database,
  scope: Scope,
  ids: { readonly messages: readonly string[]; readonly memories: readonly string[] },
): { messages: Message[]; memories: Memory[] } {
  const user = numberOf(database, scope);
  const bodies = <Body>(table: DigestTable, sql: string, wanted: readonly string[]): Body[] =>
    rowsByIds(database, sql, { user }, wanted).flatMap((row) =>
      row && (database.guard?.mayGive(table, row) ?? true) ? [bodyOf<Body>(row)] : [],
    );
  return {
    messages: bodies<Message>(
      MESSAGES,
      "SELECT messages.* FROM json_each(:ids) AS wanted " +
        "CROSS JOIN messages ON user = :user AND messages.id = wanted.value",
      ids.messages,
    ),
    memories: bodies<Memory>(
      VERSIONS,
      "SELECT versions.* FROM json_each(:ids) AS wanted " +
        "CROSS JOIN heads ON heads.user = :user AND heads.id = wanted.value " +
        "CROSS JOIN versions ON versions.user = heads.user AND versions.id = heads.id AND versions.version = heads.version",
      ids.memories,
    ),
  };
}

export function vectors(
  database: Database,
  scope: Scope,
  ids: readonly string[],
  space: string,
): (Float32Array | undefined)[] {
  const user = numberOf(database, scope);
  return rowsByIds(
    database,
    "SELECT units.id, vector FROM json_each(:ids) AS wanted " +
      "CROSS JOIN units ON user = :user AND units.id = wanted.value AND +space = :space",
    { user, space },
    ids,
  ).map((row) => row && vectorOf(row.vector));
}

/**
 * One row for each id, in order: one statement for all takes a third of the time of one for each. The ids lead, or else
 * SQLite may walk along another index.
 */
function rowsByIds(
  database: Database,
  sql: string,
  values: { readonly [name: string]: string | number },
  ids: readonly string[],
): (Row | undefined)[] {
  if (ids.length === 0) return [];
  const rows = database.statement(sql).all({ ...values, ids: JSON.stringify(ids) });
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id));
}

export async function versions(database: Database, scope: Scope, id?: string): Promise<Memory[]> {
  const user = userOf(database, scope)?.id;
  if (user === undefined) return [];
  if (id === undefined) {
    return (await readApart(database, (own) => allVersions(own, user))) ?? allVersions(database, user);
  }
  return database
    .statement("SELECT body FROM versions WHERE user = :user AND id = :id ORDER BY version")
    .all({ user, id })
    .map(bodyOf<Memory>);
}

/** In slices: one user may have many. */
function allVersions(database: Database, user: number): Promise<Memory[]> {
  return rowsInSlices(
    database,
    "SELECT number FROM versions WHERE user = :user ORDER BY number",
    { user },
    "SELECT body FROM json_each(:numbers) AS wanted CROSS JOIN versions ON versions.number = wanted.value",
    bodyOf<Memory>,
  );
}

/** Entries that are made into objects at once: one may name thousands of ids. */
const ENTRIES = 20;

export async function log(
  database: Database,
  scope: Scope,
  options: { before?: number; limit: number },
): Promise<LogEntry[]> {
  const user = userOf(database, scope)?.id;
  if (user === undefined) return [];
  const before = options.before ?? Number.MAX_SAFE_INTEGER;
  const rows = database
    .statement(
      "SELECT body FROM log WHERE user = :user AND revision < :before ORDER BY revision DESC LIMIT :limit",
    )
    .all({ user, before, limit: options.limit });
  const entries: LogEntry[] = [];
  for (let from = 0; from < rows.length; from += ENTRIES) {
    if (from > 0) await setImmediate();
    for (const row of rows.slice(from, from + ENTRIES)) entries.push(bodyOf<LogEntry>(row));
  }
  return entries;
}

export function receipt(
  database: Database,
  scope: Scope,
  key: string,
): (KeptReceipt & { readonly revision: number }) | undefined {
  const user = userOf(database, scope)?.id;
  if (user === undefined) return undefined;
  const row = database
    .statement("SELECT revision, body FROM receipts WHERE user = :user AND key = :key")
    .get({ user, key });
  return row && { ...bodyOf<KeptReceipt>(row), revision: Number(row.revision) };
}

export function erasures(database: Database, scope?: Scope): ErasureReceipt[] {
  if (!scope)
    return database
      .statement("SELECT body FROM erasures ORDER BY number")
      .all()
      .map(bodyOf<ErasureReceipt>);
  const user = userOf(database, scope)?.id ?? -1;
  return database
    .statement("SELECT body FROM erasures WHERE user = :user ORDER BY number")
    .all({ user })
    .map(bodyOf<ErasureReceipt>);
}

export function users(database: Database, project: string): string[] {
  return database
    .statement("SELECT name FROM users WHERE project = :project AND revision > 0")
    .all({ project })
    .map(({ name }) => String(name))
    .sort();
}
