import type { Link, LogEntry, Tombstone, Unit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta } from "../../ports/record.ts";
import { noDelta } from "../shared/no-delta.ts";
import { bodyOf } from "../shared/stored-body.ts";
import { vectorOf } from "../shared/stored-vector.ts";
import { BODIES, NEWEST, VECTORS } from "./by-id.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { keyOf, namesOf, readText, textOf } from "./names.ts";
import type { Row } from "./pool.ts";
import { bytesOf, keysOf, NOBODY, PERSON, personOf, reachOf } from "./rows.ts";
import { type Statement, statement } from "./statement.ts";

/** The user's revision. */
export async function revision(database: Database, scope: Scope): Promise<number> {
  const keys = keysOf(scope);
  const [row] = await database.quick(keys[0], { sql: PERSON, values: keys });
  return Number(row?.revision ?? 0);
}

const MESSAGES = "SELECT body FROM messages WHERE person = $1 AND revision > $2 ORDER BY turn";
const MEMORIES = `SELECT newest.body FROM ${NEWEST} WHERE heads.person = $1 AND heads.revision > $2 ORDER BY heads.number`;
/** All of them: there a join is what it takes. */
const ALL_MEMORIES =
  "SELECT body FROM heads JOIN versions USING (person, id, version) " +
  "WHERE heads.person = $1 AND heads.revision > $2 ORDER BY heads.number";
const UNIT = "id, type, owner, long_names, first, last, space, terms";
const UNITS = `SELECT ${UNIT}, encode(vector, 'base64') AS vector FROM units WHERE person = $1 AND revision > $2`;
const GONE = "SELECT type, id, long_names FROM gone WHERE person = $1 AND revision > $2";
const TOMBSTONES = "SELECT hash, long_names, type, at FROM tombstones WHERE person = $1";
const LINKS = "SELECT source, type, target, long_names, strength FROM links WHERE person = $1";

/** What changed after a revision, as of one moment. */
export async function since(
  database: Database,
  scope: Scope,
  from: number,
  { units: withUnits = true }: { readonly units?: boolean } = {},
): Promise<Delta> {
  const person = await personOf(database, scope);
  if (person === NOBODY) return noDelta();
  const [users = [], messages = [], memories = [], tombstones = [], links = [], gone = [], units = []] =
    await database.ask(
      reachOf(scope),
      statement(PERSON, ...keysOf(scope)),
      statement(MESSAGES, person, from),
      statement(from === 0 ? ALL_MEMORIES : MEMORIES, person, from),
      statement(TOMBSTONES, person),
      statement(LINKS, person),
      statement(GONE, person, from),
      ...(withUnits ? [statement(UNITS, person, from)] : []),
    );
  // The database was put back to an older state, and its numbers are other people's now.
  if (Number(users[0]?.number) !== person) return again(database, scope, from, withUnits);
  // To somebody who had nothing, nothing is gone.
  const goneOf = (type: string): string[] =>
    (from === 0 ? [] : gone)
      .filter((row) => row.type === type)
      .map(nameOf)
      .sort();
  return {
    revision: Number(users[0]?.revision),
    messages: messages.map(bodyOf<Message>),
    memories: memories.map(bodyOf<Memory>),
    units: units.map(unitOf).sort((one, other) => compare(one.id, other.id)),
    gone: { units: goneOf("unit"), memories: goneOf("memory") },
    tombstones: tombstones.map(tombstoneOf).sort((one, other) => compare(one.hash, other.hash)),
    links: links.map(linkOf).sort(byEnds),
  };
}

function again(database: Database, scope: Scope, from: number, units: boolean): Promise<Delta> {
  database.people.clear();
  return since(database, scope, from, { units });
}

export function nameOf({ id, long_names }: Row): string {
  return namesOf(long_names, id)[0] ?? "";
}

export function tombstoneOf({ hash, long_names, type, at }: Row): Tombstone {
  const [name = ""] = namesOf(long_names, hash);
  return { hash: name, of: type as Tombstone["of"], at: at ?? "" };
}

export function linkOf({ source, type, target, long_names, strength }: Row): Link {
  const [from = "", to = ""] = namesOf(long_names, source, target);
  return { from, type: type as Link["type"], to, strength: Number(strength) };
}

/** A unit of a row, without its vector. */
export function bareUnit(row: Row): Omit<Unit, "vector"> {
  const [id = "", owner = ""] = namesOf(row.long_names, row.id, row.owner);
  return {
    id,
    type: row.type as Unit["type"],
    owner,
    start: Number(row.first),
    end: Number(row.last),
    terms: readText(row.terms),
    space: readText(row.space),
  };
}

export function unitOf(row: Row): Unit {
  return { ...bareUnit(row), vector: vectorOf(bytesOf(row.vector)) };
}

// Sorted here: a database orders text by its UTF-8 bytes, the record by UTF-16 code units, as JavaScript does.
function byEnds(one: Link, other: Link): number {
  return compare(one.from, other.from) || compare(one.type, other.type) || compare(one.to, other.to);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Messages and memories by id, in the order asked for. */
export async function byIds(
  database: Database,
  scope: Scope,
  ids: { readonly messages: readonly string[]; readonly memories: readonly string[] },
): Promise<{ messages: Message[]; memories: Memory[] }> {
  const person = await personOf(database, scope);
  const wanted = { messages: ids.messages.map(keyOf), memories: ids.memories.map(keyOf) };
  const asked = statement(BODIES, person, wanted.messages, wanted.memories);
  const rows = person === NOBODY ? [] : await database.quick(keysOf(scope)[0], asked);
  const of = (type: string, keys: readonly string[]): Row[] =>
    inOrder(
      rows.filter((row) => row.type === type),
      keys,
    ).filter((row) => row !== undefined);
  return {
    messages: of("message", wanted.messages).map(bodyOf<Message>),
    memories: of("memory", wanted.memories).map(bodyOf<Memory>),
  };
}

function inOrder(rows: readonly Row[], keys: readonly string[]): (Row | undefined)[] {
  const found = new Map(rows.map((row) => [row.id, row]));
  return keys.map((key) => found.get(key));
}

export async function vectors(
  database: Database,
  scope: Scope,
  ids: readonly string[],
  space: string,
): Promise<(Float32Array | undefined)[]> {
  if (ids.length === 0) return [];
  const keys = ids.map(keyOf);
  const person = await personOf(database, scope);
  const asked = statement(VECTORS, person, keys, textOf(space));
  const rows = person === NOBODY ? [] : await database.quick(keysOf(scope)[0], asked);
  return inOrder(rows, keys).map((row) => row && vectorOf(bytesOf(row.vector)));
}

/** The rows of a user: the statement's first value is the user's number. */
export async function rowsOf(
  database: Database,
  scope: Scope,
  sql: string,
  ...values: readonly unknown[]
): Promise<readonly Row[]> {
  const person = await personOf(database, scope);
  const [rows = []] = await database.ask(reachOf(scope), statement(sql, person, ...values));
  return rows;
}

export async function versions(database: Database, scope: Scope, id?: string): Promise<Memory[]> {
  const rows =
    id === undefined
      ? await rowsOf(database, scope, "SELECT body FROM versions WHERE person = $1 ORDER BY number")
      : await rowsOf(
          database,
          scope,
          "SELECT body FROM versions WHERE person = $1 AND id = $2 ORDER BY version",
          keyOf(id),
        );
  return rows.map(bodyOf<Memory>);
}

export async function log(
  database: Database,
  scope: Scope,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number },
): Promise<LogEntry[]> {
  const rows = await rowsOf(
    database,
    scope,
    "SELECT body FROM log WHERE person = $1 AND revision < $2 ORDER BY revision DESC LIMIT $3",
    before,
    limit,
  );
  return rows.map(bodyOf<LogEntry>);
}

export async function receipt(
  database: Database,
  scope: Scope,
  key: string,
): Promise<(KeptReceipt & { readonly revision: number }) | undefined> {
  const sql = "SELECT revision, body FROM receipts WHERE person = $1 AND key = $2";
  const [row] = await rowsOf(database, scope, sql, keyOf(key));
  return row && { ...bodyOf<KeptReceipt>(row), revision: Number(row.revision) };
}

export async function erasures(database: Database, scope?: Scope): Promise<ErasureReceipt[]> {
  const rows = scope
    ? await rowsOf(database, scope, "SELECT body FROM erasures WHERE person = $1 ORDER BY number")
    : await everybodys(database, statement("SELECT body FROM erasures ORDER BY number"));
  return rows.map(bodyOf<ErasureReceipt>);
}

/** The rows of all users of all projects. */
export async function everybodys(database: Database, asked: Statement): Promise<readonly Row[]> {
  const [rows = []] = await database.ask(EVERYBODY, asked);
  return rows;
}

export async function users(database: Database, project: string): Promise<string[]> {
  const sql = "SELECT project, name, long_names FROM users WHERE project = $1 AND revision > 0";
  const [rows = []] = await database.ask({ project: keyOf(project) }, statement(sql, keyOf(project)));
  return rows.map(({ long_names, project: of, name }) => namesOf(long_names, of, name)[1] ?? "").sort();
}
