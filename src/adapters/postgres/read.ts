import type { LogEntry, MemoryLink, SearchUnit, Tombstone } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta } from "../../ports/memory-store.ts";
import { compareLinks, compareStrings } from "../shared/change-rules.ts";
import { createEmptyDelta, decodeVector, parseBody } from "../shared/stored-rows.ts";
import type { Row } from "./database/connection.ts";
import { createStatement } from "./database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database/database.ts";
import { NEWEST_VERSIONS, NO_USER, SELECT_BODIES, SELECT_VECTORS } from "./database/recall-statements.ts";
import {
  bindUser,
  decodeBytes,
  decodeNames,
  decodeText,
  encodeText,
  fetchUser,
  findUserNumber,
  SELECT_USER,
  toAccessScope,
  toIndexKey,
  toScopeKeys,
} from "./database/user-rows.ts";

/** The user's revision. */
export async function fetchRevision(database: PostgresDatabase, scope: Scope): Promise<number> {
  return Number((await fetchUser(database, scope))?.revision ?? 0);
}

const MESSAGES = "SELECT body FROM messages WHERE person = $1 AND revision > $2 ORDER BY turn";
const MEMORIES = `SELECT newest.body FROM ${NEWEST_VERSIONS} WHERE heads.person = $1 AND heads.revision > $2 ORDER BY heads.number`;
/** For all memories, a join is faster. */
const ALL_MEMORIES =
  "SELECT body FROM heads JOIN versions USING (person, id, version) " +
  "WHERE heads.person = $1 AND heads.revision > $2 ORDER BY heads.number";
const UNIT = "id, type, owner, long_names, first, last, space, terms";
const UNITS = `SELECT ${UNIT}, encode(vector, 'base64') AS vector FROM units WHERE person = $1 AND revision > $2`;
const GONE = "SELECT type, id, long_names FROM gone WHERE person = $1 AND revision > $2";
const TOMBSTONES = "SELECT hash, long_names, type, at FROM tombstones WHERE person = $1";
const LINKS = "SELECT source, type, target, long_names, strength FROM links WHERE person = $1";

/** The changes after a revision, from one snapshot. */
export async function fetchChangesSince(
  database: PostgresDatabase,
  scope: Scope,
  from: number,
  { units: withUnits = true }: { readonly units?: boolean } = {},
): Promise<Delta> {
  const person = await findUserNumber(database, scope);
  if (person === NO_USER) return createEmptyDelta();
  const [users = [], messages = [], memories = [], tombstones = [], links = [], gone = [], units = []] =
    await database.query(
      toAccessScope(scope),
      await bindUser(database, scope, SELECT_USER),
      createStatement(MESSAGES, person, from),
      createStatement(from === 0 ? ALL_MEMORIES : MEMORIES, person, from),
      createStatement(TOMBSTONES, person),
      createStatement(LINKS, person),
      createStatement(GONE, person, from),
      ...(withUnits ? [createStatement(UNITS, person, from)] : []),
    );
  // The database was restored to an older state, and its numbers belong to other users now.
  if (Number(users[0]?.number) !== person) return refetchChanges(database, scope, from, withUnits);
  // A user who had nothing before has nothing removed.
  const goneOf = (type: string): string[] =>
    (from === 0 ? [] : gone)
      .filter((row) => row.type === type)
      .map(decodeId)
      .sort();
  return {
    revision: Number(users[0]?.revision),
    messages: messages.map(parseBody<Message>),
    memories: memories.map(parseBody<Memory>),
    units: units.map(parseUnit).sort((one, other) => compareStrings(one.id, other.id)),
    gone: { units: goneOf("unit"), memories: goneOf("memory") },
    tombstones: tombstones.map(parseTombstone).sort((one, other) => compareStrings(one.hash, other.hash)),
    links: links.map(parseLink).sort(compareLinks),
  };
}

function refetchChanges(
  database: PostgresDatabase,
  scope: Scope,
  from: number,
  units: boolean,
): Promise<Delta> {
  database.userNumbers.clear();
  return fetchChangesSince(database, scope, from, { units });
}

export function decodeId({ id, long_names }: Row): string {
  return decodeNames(long_names, id)[0] ?? "";
}

export function parseTombstone({ hash, long_names, type, at }: Row): Tombstone {
  const [name = ""] = decodeNames(long_names, hash);
  return { hash: name, of: type as Tombstone["of"], at: at ?? "" };
}

export function parseLink({ source, type, target, long_names, strength }: Row): MemoryLink {
  const [from = "", to = ""] = decodeNames(long_names, source, target);
  return { from, type: type as MemoryLink["type"], to, strength: Number(strength) };
}

/** Parses a row as a unit, without its vector. */
export function parseUnitWithoutVector(row: Row): Omit<SearchUnit, "vector"> {
  const [id = "", owner = ""] = decodeNames(row.long_names, row.id, row.owner);
  return {
    id,
    type: row.type as SearchUnit["type"],
    owner,
    start: Number(row.first),
    end: Number(row.last),
    terms: decodeText(row.terms),
    space: decodeText(row.space),
  };
}

export function parseUnit(row: Row): SearchUnit {
  return { ...parseUnitWithoutVector(row), vector: decodeVector(decodeBytes(row.vector)) };
}

/** Messages and memories by id, in the requested order. */
export async function fetchByIds(
  database: PostgresDatabase,
  scope: Scope,
  ids: { readonly messages: readonly string[]; readonly memories: readonly string[] },
): Promise<{ messages: Message[]; memories: Memory[] }> {
  const person = await findUserNumber(database, scope);
  const wanted = { messages: ids.messages.map(toIndexKey), memories: ids.memories.map(toIndexKey) };
  const statement = createStatement(SELECT_BODIES, person, wanted.messages, wanted.memories);
  const rows = person === NO_USER ? [] : await database.queryOnce(toScopeKeys(scope)[0], statement);
  const of = (type: string, keys: readonly string[]): Row[] =>
    orderByKeys(
      rows.filter((row) => row.type === type),
      keys,
    ).filter((row) => row !== undefined);
  return {
    messages: of("message", wanted.messages).map(parseBody<Message>),
    memories: of("memory", wanted.memories).map(parseBody<Memory>),
  };
}

function orderByKeys(rows: readonly Row[], keys: readonly string[]): (Row | undefined)[] {
  const found = new Map(rows.map((row) => [row.id, row]));
  return keys.map((key) => found.get(key));
}

export async function fetchVectors(
  database: PostgresDatabase,
  scope: Scope,
  ids: readonly string[],
  space: string,
): Promise<(Float32Array | undefined)[]> {
  if (ids.length === 0) return [];
  const keys = ids.map(toIndexKey);
  const person = await findUserNumber(database, scope);
  const statement = createStatement(SELECT_VECTORS, person, keys, encodeText(space));
  const rows = person === NO_USER ? [] : await database.queryOnce(toScopeKeys(scope)[0], statement);
  return orderByKeys(rows, keys).map((row) => row && decodeVector(decodeBytes(row.vector)));
}

/** The rows of a user. The first value of the statement is the user's number. */
export async function fetchUserRows(
  database: PostgresDatabase,
  scope: Scope,
  sql: string,
  ...values: readonly unknown[]
): Promise<readonly Row[]> {
  const person = await findUserNumber(database, scope);
  const [rows = []] = await database.query(toAccessScope(scope), createStatement(sql, person, ...values));
  return rows;
}

export async function fetchVersions(
  database: PostgresDatabase,
  scope: Scope,
  id?: string,
): Promise<Memory[]> {
  const rows =
    id === undefined
      ? await fetchUserRows(database, scope, "SELECT body FROM versions WHERE person = $1 ORDER BY number")
      : await fetchUserRows(
          database,
          scope,
          "SELECT body FROM versions WHERE person = $1 AND id = $2 ORDER BY version",
          toIndexKey(id),
        );
  return rows.map(parseBody<Memory>);
}

export async function fetchLog(
  database: PostgresDatabase,
  scope: Scope,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number },
): Promise<LogEntry[]> {
  const rows = await fetchUserRows(
    database,
    scope,
    "SELECT body FROM log WHERE person = $1 AND revision < $2 ORDER BY revision DESC LIMIT $3",
    before,
    limit,
  );
  return rows.map(parseBody<LogEntry>);
}

export async function fetchReceipt(
  database: PostgresDatabase,
  scope: Scope,
  key: string,
): Promise<(KeptReceipt & { readonly revision: number }) | undefined> {
  const sql = "SELECT revision, body FROM receipts WHERE person = $1 AND key = $2";
  const [row] = await fetchUserRows(database, scope, sql, toIndexKey(key));
  return row && { ...parseBody<KeptReceipt>(row), revision: Number(row.revision) };
}

export async function fetchErasureReceipts(
  database: PostgresDatabase,
  scope?: Scope,
): Promise<ErasureReceipt[]> {
  const rows = scope
    ? await fetchUserRows(database, scope, "SELECT body FROM erasures WHERE person = $1 ORDER BY number")
    : await fetchRowsOfAllProjects(database, "SELECT body FROM erasures ORDER BY number");
  return rows.map(parseBody<ErasureReceipt>);
}

/** The rows of all users of all projects. */
export async function fetchRowsOfAllProjects(
  database: PostgresDatabase,
  sql: string,
  ...values: readonly unknown[]
): Promise<readonly Row[]> {
  const [rows = []] = await database.query(ALL_PROJECTS, { sql, values });
  return rows;
}

export async function fetchUserNames(database: PostgresDatabase, project: string): Promise<string[]> {
  const sql = "SELECT project, name, long_names FROM users WHERE project = $1 AND revision > 0";
  const [rows = []] = await database.query(
    { project: toIndexKey(project) },
    createStatement(sql, toIndexKey(project)),
  );
  return rows.map(({ long_names, project: of, name }) => decodeNames(long_names, of, name)[1] ?? "").sort();
}
