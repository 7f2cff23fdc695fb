import { setImmediate } from "node:timers/promises";
import type { LogEntry, MemoryLink, SearchUnit, Tombstone } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta } from "../../ports/memory-store.ts";
import { compareLinks, compareStrings } from "../shared/change-rules.ts";
import { createEmptyDelta } from "../shared/stored-rows.ts";
import {
  decodeVector,
  findUser,
  findUserId,
  parseBody,
  readInSnapshot,
  readRowsInSlices,
  type SqliteDatabase,
  type SqliteRow,
} from "./database.ts";
import { type DigestTable, getDigestTable } from "./integrity/row-digest.ts";

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

/** Messages and memories by id, in the requested order. Rows changed outside of this program are left out. */
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
 * One row for each id, in order. One statement for all takes a third of the time of one for each. The ids come first, because
 * otherwise SQLite may scan another index.
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
      (await readInSnapshot(database, (snapshot) => readAllVersions(snapshot, user))) ??
      readAllVersions(database, user)
    );
  }
  return database
    .statement("SELECT body FROM versions WHERE user = :user AND id = :id ORDER BY version")
    .all({ user, id })
    .map(parseBody<Memory>);
}

/** Reads in slices, because a user may have many versions. */
function readAllVersions(database: SqliteDatabase, user: number): Promise<Memory[]> {
  return readRowsInSlices(
    database,
    "SELECT number FROM versions WHERE user = :user ORDER BY number",
    { user },
    "SELECT body FROM json_each(:numbers) AS wanted CROSS JOIN versions ON versions.number = wanted.value",
    parseBody<Memory>,
  );
}

/** Entries that are parsed in one slice: one entry may contain thousands of ids. */
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

/**
 * The changes after a revision, from one read transaction and so from one snapshot. The rows are parsed in slices: parsing all
 * messages of a user at once would block other requests for a tenth of a second or more.
 */
export async function readChangesSince(
  database: SqliteDatabase,
  scope: Scope,
  revision: number,
  { units = true }: { readonly units?: boolean } = {},
): Promise<Delta> {
  if (isLargeDelta(database, scope, revision)) {
    const delta = await readInSnapshot(database, (snapshot) =>
      readLargeDelta(snapshot, scope, revision, units),
    );
    if (delta) return delta;
  }
  const rows = readDeltaRows(database, scope, revision, units);
  if (!rows) return createEmptyDelta();
  const bodies = createBodyReader(database);
  return {
    revision: rows.revision,
    messages: await mapInSlices(rows.messages, bodies.message),
    memories: await mapInSlices(rows.memories, bodies.memory),
    ...bodies.damaged(),
    units: (await mapInSlices(rows.units, toUnit)).sort(compareById),
    gone: { units: toGoneIds("unit", rows.gone), memories: toGoneIds("memory", rows.gone) },
    tombstones: rows.tombstones.map(toTombstone).sort((one, other) => compareStrings(one.hash, other.hash)),
    links: rows.links.map(toLink).sort(compareLinks),
  };
}

const CHANGED_MESSAGES_TABLE = getDigestTable("messages");
const CHANGED_VERSIONS_TABLE = getDigestTable("versions");

/** Parses bodies of rows, and collects the ids of rows that were changed outside of this program. */
function createBodyReader({ guard }: SqliteDatabase) {
  const messages: string[] = [];
  const memories: string[] = [];
  const check = (table: DigestTable, row: SqliteRow, damaged: string[]): void => {
    if (guard && !guard.verifyOnRead(table, row)) damaged.push(String(row.id));
  };
  return {
    message(row: SqliteRow): Message {
      check(CHANGED_MESSAGES_TABLE, row, messages);
      return parseBody<Message>(row);
    },
    memory(row: SqliteRow): Memory {
      check(CHANGED_VERSIONS_TABLE, row, memories);
      return parseBody<Memory>(row);
    },
    damaged: (): Pick<Delta, "damaged"> =>
      messages.length + memories.length > 0 ? { damaged: { messages, memories } } : {},
  };
}

/** From this many messages or memories on, reading the rows at once would block other requests. */
const LARGE_DELTA_ROWS = 1000;

const PAGE_ROWS = 1000;
const SELECT_GONE =
  "SELECT type, id FROM gone WHERE user = :user AND revision > :revision AND (type, id) > (:type, :id) " +
  `ORDER BY type, id LIMIT ${PAGE_ROWS}`;
const SELECT_TOMBSTONES = `SELECT hash, type, at FROM tombstones WHERE user = :user AND hash > :hash ORDER BY hash LIMIT ${PAGE_ROWS}`;

/** All rows of a statement, page by page; each page continues after the last row of the previous one. */
async function readPages(
  database: SqliteDatabase,
  sql: string,
  start: { readonly [name: string]: string | number },
): Promise<SqliteRow[]> {
  const statement = database.statement(sql);
  const rows: SqliteRow[] = [];
  let values = start;
  for (;;) {
    const page = statement.all(values) as SqliteRow[];
    for (const row of page) rows.push(row);
    const last = page.at(-1);
    if (page.length < PAGE_ROWS || !last) return rows;
    values = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        last[name] === undefined ? value : String(last[name]),
      ]),
    );
    await setImmediate();
  }
}

function isLargeDelta(database: SqliteDatabase, scope: Scope, revision: number): boolean {
  const user = findUser(database, scope);
  if (!user || user.revision === revision) return false;
  const values = { user: user.id, revision };
  return ["messages", "heads", "units", "gone"].some((table) => {
    const limited = `SELECT 1 FROM ${table} WHERE user = :user AND revision > :revision LIMIT ${LARGE_DELTA_ROWS}`;
    return (
      database.statement(`SELECT count(*) AS found FROM (${limited})`).get(values)?.found === LARGE_DELTA_ROWS
    );
  });
}

async function readLargeDelta(
  snapshot: SqliteDatabase,
  scope: Scope,
  revision: number,
  withUnits: boolean,
): Promise<Delta> {
  const user = findUser(snapshot, scope);
  if (!user) return createEmptyDelta();
  const values = { user: user.id, revision };
  const changed = "user = :user AND revision > :revision";
  const wanted = "FROM json_each(:numbers) AS wanted CROSS JOIN";
  const gone = revision === 0 ? [] : await readPages(snapshot, SELECT_GONE, { ...values, type: "", id: "" });
  const tombstones = await readPages(snapshot, SELECT_TOMBSTONES, { user: user.id, hash: "" });
  const bodies = createBodyReader(snapshot);
  const messages = await readRowsInSlices(
    snapshot,
    `SELECT number FROM messages WHERE ${changed} ORDER BY number`,
    values,
    `SELECT messages.* ${wanted} messages ON messages.number = wanted.value`,
    bodies.message,
  );
  const memories = await readRowsInSlices(
    snapshot,
    `SELECT number FROM heads WHERE ${changed} ORDER BY number`,
    values,
    `SELECT versions.* ${wanted} heads ON heads.number = wanted.value CROSS JOIN versions ` +
      "ON versions.user = heads.user AND versions.id = heads.id AND versions.version = heads.version",
    bodies.memory,
  );
  // From revision 0, an index gives the units in order: sorting all of them at once would take long.
  const numbered = revision === 0 ? "user = :user AND :revision = 0 ORDER BY id" : changed;
  const units = withUnits
    ? await readRowsInSlices(
        snapshot,
        `SELECT number FROM units WHERE ${numbered}`,
        values,
        `SELECT units.* ${wanted} units ON units.number = wanted.value`,
        toUnit,
      )
    : [];
  return {
    revision: user.revision,
    messages: messages.sort((one, other) => one.turn - other.turn),
    memories,
    ...bodies.damaged(),
    units: units.sort(compareById),
    gone: await toGoneIdsInSlices(gone),
    tombstones: (await mapInSlices(tombstones, toTombstone)).sort((one, other) =>
      compareStrings(one.hash, other.hash),
    ),
    links: (await mapInSlices(readLinkRows(snapshot, user.id), toLink)).sort(compareLinks),
  };
}

type DeltaRows = { readonly [what in Exclude<keyof Delta, "revision" | "damaged">]: readonly SqliteRow[] } & {
  readonly revision: number;
};

function readDeltaRows(
  database: SqliteDatabase,
  scope: Scope,
  revision: number,
  withUnits: boolean,
): DeltaRows | undefined {
  const { handle } = database;
  handle.exec("BEGIN");
  try {
    const user = findUser(database, scope);
    return user && { revision: user.revision, ...readChangedRows(database, user.id, revision, withUnits) };
  } finally {
    handle.exec("COMMIT");
  }
}

function readChangedRows(
  database: SqliteDatabase,
  user: number,
  revision: number,
  withUnits: boolean,
): Omit<DeltaRows, "revision"> {
  const selectRows = (sql: string): SqliteRow[] =>
    database.statement(sql).all({ user, revision }) as SqliteRow[];
  return {
    ...readMarkRows(database, user, revision),
    messages: selectRows("SELECT * FROM messages WHERE user = :user AND revision > :revision ORDER BY turn"),
    memories: selectRows(
      "SELECT versions.* FROM heads JOIN versions USING (user, id, version) " +
        "WHERE heads.user = :user AND heads.revision > :revision ORDER BY heads.number",
    ),
    units: withUnits ? selectRows("SELECT * FROM units WHERE user = :user AND revision > :revision") : [],
  };
}

function readMarkRows(
  database: SqliteDatabase,
  user: number,
  revision: number,
): Pick<DeltaRows, "gone" | "tombstones" | "links"> {
  const selectRows = (sql: string): SqliteRow[] => database.statement(sql).all({ user }) as SqliteRow[];
  const gone = "SELECT type, id FROM gone WHERE user = :user AND revision > :revision";
  return {
    // A user who had nothing before has nothing removed.
    gone: revision === 0 ? [] : (database.statement(gone).all({ user, revision }) as SqliteRow[]),
    tombstones: selectRows("SELECT hash, type, at FROM tombstones WHERE user = :user"),
    links: readLinkRows(database, user),
  };
}

function readLinkRows(database: SqliteDatabase, user: number): SqliteRow[] {
  const sql = "SELECT source, type, target, strength FROM links WHERE user = :user";
  return database.statement(sql).all({ user }) as SqliteRow[];
}

/** Rows per slice, after which other work runs: about every five milliseconds. */
const SLICE_ROWS = 500;

async function mapInSlices<Made>(
  rows: readonly SqliteRow[],
  make: (row: SqliteRow) => Made,
): Promise<Made[]> {
  const made: Made[] = [];
  for (let from = 0; from < rows.length; from += SLICE_ROWS) {
    if (from > 0) await setImmediate();
    for (const row of rows.slice(from, from + SLICE_ROWS)) made.push(make(row));
  }
  return made;
}

/** The primary key already orders the ids; only non-ASCII characters can be out of order. */
async function toGoneIdsInSlices(rows: readonly SqliteRow[]): Promise<Delta["gone"]> {
  const ids: { [type: string]: string[] } = { unit: [], memory: [] };
  await mapInSlices(rows, ({ type, id }) => ids[String(type)]?.push(String(id)));
  return { units: ids.unit?.sort() ?? [], memories: ids.memory?.sort() ?? [] };
}

function toGoneIds(type: string, rows: readonly SqliteRow[]): string[] {
  return rows
    .filter((row) => row.type === type)
    .map(({ id }) => String(id))
    .sort();
}

// Sorted here: SQLite orders texts by UTF-8 bytes, the store by UTF-16 code units, like JavaScript.
function compareById(one: SearchUnit, other: SearchUnit): number {
  return one.id < other.id ? -1 : 1;
}
