import { setImmediate } from "node:timers/promises";
import type { Link, Unit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta } from "../../ports/record.ts";
import { noDelta } from "../shared/no-delta.ts";
import { readApart, rowsInSlices } from "./apart.ts";
import type { Database, Row } from "./database.ts";
import { type DigestTable, digestTable } from "./integrity/digest-tables.ts";
import { linkOf, tombstoneOf, unitOf } from "./read.ts";
import { bodyOf, userOf } from "./rows.ts";

/**
 * What changed after a revision, in one read transaction, so that it is of one moment. What was read is made into objects in
 * slices: all that a user ever said would hold up everybody else for a tenth of a second and more.
 */
export async function since(
  database: Database,
  scope: Scope,
  revision: number,
  { units = true }: { readonly units?: boolean } = {},
): Promise<Delta> {
  if (isMuch(database, scope, revision)) {
    const delta = await readApart(database, (own) => muchSince(own, scope, revision, units));
    if (delta) return delta;
  }
  const rows = rowsSince(database, scope, revision, units);
  if (!rows) return noDelta();
  const bodies = checkedBodies(database);
  return {
    revision: rows.revision,
    messages: await inSlices(rows.messages, bodies.message),
    memories: await inSlices(rows.memories, bodies.memory),
    ...bodies.damaged(),
    units: (await inSlices(rows.units, unitOf)).sort(byId),
    gone: { units: goneOf("unit", rows.gone), memories: goneOf("memory", rows.gone) },
    tombstones: rows.tombstones.map(tombstoneOf).sort((one, other) => compare(one.hash, other.hash)),
    links: rows.links.map(linkOf).sort(byEnds),
  };
}

const MESSAGES = digestTable("messages");
const VERSIONS = digestTable("versions");

/** Bodies of rows; and the ids of those that were changed since they were written. */
function checkedBodies({ guard }: Database) {
  const messages: string[] = [];
  const memories: string[] = [];
  const check = (table: DigestTable, row: Row, damaged: string[]): void => {
    if (guard && !guard.mayGive(table, row)) damaged.push(String(row.id));
  };
  return {
    message(row: Row): Message {
      check(MESSAGES, row, messages);
      return bodyOf<Message>(row);
    },
    memory(row: Row): Memory {
      check(VERSIONS, row, memories);
      return bodyOf<Memory>(row);
    },
    damaged: (): Pick<Delta, "damaged"> =>
      messages.length + memories.length > 0 ? { damaged: { messages, memories } } : {},
  };
}

/** From so many messages or memories on, reading the rows in one go would hold up everybody else. */
const MUCH = 1000;

const PAGE = 1000;
const GONE =
  "SELECT type, id FROM gone WHERE user = :user AND revision > :revision AND (type, id) > (:type, :id) " +
  `ORDER BY type, id LIMIT ${PAGE}`;
const TOMBSTONES = `SELECT hash, type, at FROM tombstones WHERE user = :user AND hash > :hash ORDER BY hash LIMIT ${PAGE}`;

/** All rows of a statement that goes on behind the row that it is given, page by page. */
async function pagesOf(
  database: Database,
  sql: string,
  start: { readonly [name: string]: string | number },
): Promise<Row[]> {
  const statement = database.statement(sql);
  const rows: Row[] = [];
  let values = start;
  for (;;) {
    const page = statement.all(values) as Row[];
    for (const row of page) rows.push(row);
    const last = page.at(-1);
    if (page.length < PAGE || !last) return rows;
    values = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        last[name] === undefined ? value : String(last[name]),
      ]),
    );
    await setImmediate();
  }
}

function isMuch(database: Database, scope: Scope, revision: number): boolean {
  const user = userOf(database, scope);
  if (!user || user.revision === revision) return false;
  const values = { user: user.id, revision };
  return ["messages", "heads", "units", "gone"].some((table) => {
    const some = `SELECT 1 FROM ${table} WHERE user = :user AND revision > :revision LIMIT ${MUCH}`;
    return database.statement(`SELECT count(*) AS found FROM (${some})`).get(values)?.found === MUCH;
  });
}

async function muchSince(own: Database, scope: Scope, revision: number, withUnits: boolean): Promise<Delta> {
  const user = userOf(own, scope);
  if (!user) return noDelta();
  const values = { user: user.id, revision };
  const changed = "user = :user AND revision > :revision";
  const wanted = "FROM json_each(:numbers) AS wanted CROSS JOIN";
  const gone = revision === 0 ? [] : await pagesOf(own, GONE, { ...values, type: "", id: "" });
  const tombstones = await pagesOf(own, TOMBSTONES, { user: user.id, hash: "" });
  const bodies = checkedBodies(own);
  const messages = await rowsInSlices(
    own,
    `SELECT number FROM messages WHERE ${changed} ORDER BY number`,
    values,
    `SELECT messages.* ${wanted} messages ON messages.number = wanted.value`,
    bodies.message,
  );
  const memories = await rowsInSlices(
    own,
    `SELECT number FROM heads WHERE ${changed} ORDER BY number`,
    values,
    `SELECT versions.* ${wanted} heads ON heads.number = wanted.value CROSS JOIN versions ` +
      "ON versions.user = heads.user AND versions.id = heads.id AND versions.version = heads.version",
    bodies.memory,
  );
  // From the beginning they come in their order: sorting so many that are in none would take long in one go.
  const numbered = revision === 0 ? "user = :user AND :revision = 0 ORDER BY id" : changed;
  const units = withUnits
    ? await rowsInSlices(
        own,
        `SELECT number FROM units WHERE ${numbered}`,
        values,
        `SELECT units.* ${wanted} units ON units.number = wanted.value`,
        unitOf,
      )
    : [];
  return {
    revision: user.revision,
    messages: messages.sort((one, other) => one.turn - other.turn),
    memories,
    ...bodies.damaged(),
    units: units.sort(byId),
    gone: await goneInSlices(gone),
    tombstones: (await inSlices(tombstones, tombstoneOf)).sort((one, other) => compare(one.hash, other.hash)),
    links: (await inSlices(linksOf(own, user.id), linkOf)).sort(byEnds),
  };
}

type Rows = { readonly [what in Exclude<keyof Delta, "revision" | "damaged">]: readonly Row[] } & {
  readonly revision: number;
};

function rowsSince(database: Database, scope: Scope, revision: number, withUnits: boolean): Rows | undefined {
  const { handle } = database;
  handle.exec("BEGIN");
  try {
    const user = userOf(database, scope);
    return user && { revision: user.revision, ...changed(database, user.id, revision, withUnits) };
  } finally {
    handle.exec("COMMIT");
  }
}

function changed(
  database: Database,
  user: number,
  revision: number,
  withUnits: boolean,
): Omit<Rows, "revision"> {
  const all = (sql: string): Row[] => database.statement(sql).all({ user, revision }) as Row[];
  return {
    ...ofUser(database, user, revision),
    messages: all("SELECT * FROM messages WHERE user = :user AND revision > :revision ORDER BY turn"),
    memories: all(
      "SELECT versions.* FROM heads JOIN versions USING (user, id, version) " +
        "WHERE heads.user = :user AND heads.revision > :revision ORDER BY heads.number",
    ),
    units: withUnits ? all("SELECT * FROM units WHERE user = :user AND revision > :revision") : [],
  };
}

function ofUser(
  database: Database,
  user: number,
  revision: number,
): Pick<Rows, "gone" | "tombstones" | "links"> {
  const own = (sql: string): Row[] => database.statement(sql).all({ user }) as Row[];
  const gone = "SELECT type, id FROM gone WHERE user = :user AND revision > :revision";
  return {
    // To somebody who had nothing, nothing is gone.
    gone: revision === 0 ? [] : (database.statement(gone).all({ user, revision }) as Row[]),
    tombstones: own("SELECT hash, type, at FROM tombstones WHERE user = :user"),
    links: linksOf(database, user),
  };
}

function linksOf(database: Database, user: number): Row[] {
  const sql = "SELECT source, type, target, strength FROM links WHERE user = :user";
  return database.statement(sql).all({ user }) as Row[];
}

/** After so many rows others have their turn: about every five milliseconds. */
const SLICE = 500;

async function inSlices<Made>(rows: readonly Row[], make: (row: Row) => Made): Promise<Made[]> {
  const made: Made[] = [];
  for (let from = 0; from < rows.length; from += SLICE) {
    if (from > 0) await setImmediate();
    for (const row of rows.slice(from, from + SLICE)) made.push(make(row));
  }
  return made;
}

/** The primary key gives them in their order; only other letters than those of ASCII can be out of it. */
async function goneInSlices(rows: readonly Row[]): Promise<Delta["gone"]> {
  const ids: { [type: string]: string[] } = { unit: [], memory: [] };
  await inSlices(rows, ({ type, id }) => ids[String(type)]?.push(String(id)));
  return { units: ids.unit?.sort() ?? [], memories: ids.memory?.sort() ?? [] };
}

function goneOf(type: string, rows: readonly Row[]): string[] {
  return rows
    .filter((row) => row.type === type)
    .map(({ id }) => String(id))
    .sort();
}

// Sorted here: SQLite orders text by its UTF-8 bytes, the record by UTF-16 code units, as JavaScript does.
function byId(one: Unit, other: Unit): number {
  return one.id < other.id ? -1 : 1;
}

function byEnds(one: Link, other: Link): number {
  return compare(one.from, other.from) || compare(one.type, other.type) || compare(one.to, other.to);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
