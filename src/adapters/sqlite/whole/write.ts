import { MemoryError } from "../../../errors.ts";
import type { DumpPart, DumpRow } from "../../../ports/whole.ts";
import { PART_TABLES } from "../../shared/whole-tables.ts";
import { saveCall } from "../calls.ts";
import type { SqliteDatabase } from "../database.ts";
import { checkNames, encodeVector, findUser } from "../rows.ts";

type SqliteColumnValue = string | number | Uint8Array | null;
type SqliteColumnValues = { readonly [column: string]: SqliteColumnValue };
type SqliteUserPart = Exclude<DumpPart, "users" | "answers" | "jobs" | "backups" | "calls" | "turns">;

/** The columns of a row beside its user. */
const USER_COLUMNS: { readonly [Part in SqliteUserPart]: (row: DumpRow<Part>) => SqliteColumnValues } = {
  messages: ({ revision, message }) => ({
    id: message.id,
    turn: message.turn,
    revision,
    body: JSON.stringify(message),
  }),
  versions: ({ memory }) => ({ id: memory.id, version: memory.version, body: JSON.stringify(memory) }),
  memories: ({ id, version, revision }) => ({ id, version, revision }),
  units: ({ revision, unit: { id, type, owner, start, end, space, terms, vector } }) => ({
    id,
    type,
    owner,
    first: start,
    last: end,
    space,
    revision,
    terms,
    vector: encodeVector(vector),
  }),
  gone: ({ type, id, revision }) => ({ type, id, revision }),
  tombstones: ({ tombstone: { hash, of, at } }) => ({ hash, type: of, at }),
  links: ({ link: { from, type, to, strength } }) => ({ source: from, type, target: to, strength }),
  log: ({ entry }) => ({ revision: entry.revision, body: JSON.stringify(entry) }),
  receipts: ({ revision, receipt }) => ({ key: receipt.key, revision, body: JSON.stringify(receipt) }),
  erasures: ({ receipt, trace }) => ({
    id: receipt.id,
    body: JSON.stringify(receipt),
    trace: trace ? JSON.stringify(trace) : null,
  }),
  recalls: ({ receipt }) => ({ id: receipt.id, body: JSON.stringify(receipt) }),
  visits: ({ job, visit: { revision, due = null, found = null, failed } }) => ({
    job,
    revision,
    due,
    found,
    failed: failed ? JSON.stringify(failed) : null,
  }),
};

const SHARED_WRITERS: {
  readonly [Part in Exclude<DumpPart, SqliteUserPart>]: (
    database: SqliteDatabase,
    row: DumpRow<Part>,
  ) => void;
} = {
  users: (database, { project, user: name, revision, turns }) => {
    checkNames(project, name);
    insertIfAbsent(database, "users", { project, name, revision, turns });
  },
  answers: (database, { project, user: name, answer: kept, erasures }) => {
    const { key, at, state, request, answer } = kept;
    insertIfAbsent(database, "answers", {
      project,
      name,
      key,
      at,
      state,
      request,
      body: answer ? JSON.stringify(answer) : null,
      erasures: JSON.stringify(erasures),
    });
  },
  jobs: (database, { note }) =>
    insertIfAbsent(database, "jobs", { name: note.name, body: JSON.stringify(note) }),
  backups: (database, { note }) =>
    insertIfAbsent(database, "backups", { name: note.name, body: JSON.stringify(note) }),
  calls: (database, { call }) => saveCall(database, call),
  turns: (database, { stored: { project, user, day, turns } }) =>
    insertIfAbsent(database, "turns", { project, user, day, turns }),
};

/** Within a transaction. A row that is there already is left alone. */
export function insertDumpRows<Part extends DumpPart>(
  database: SqliteDatabase,
  part: Part,
  rows: readonly DumpRow<Part>[],
): void {
  if (part in SHARED_WRITERS) {
    const put = SHARED_WRITERS[part as keyof typeof SHARED_WRITERS] as (
      database: SqliteDatabase,
      row: unknown,
    ) => void;
    for (const row of rows) put(database, row);
    return;
  }
  const columns = USER_COLUMNS[part as SqliteUserPart] as (row: unknown) => SqliteColumnValues;
  for (const row of rows as readonly DumpRow<SqliteUserPart>[]) {
    const user = findUser(database, row)?.id;
    if (user === undefined) throw new MemoryError("conflict", `a user with ${part} is not there.`);
    insertIfAbsent(database, PART_TABLES[part], { user, ...columns(row) });
  }
}

function insertIfAbsent(database: SqliteDatabase, table: string, row: SqliteColumnValues): void {
  const names = Object.keys(row);
  database
    .statement(
      `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map((name) => `:${name}`).join(", ")}) ON CONFLICT DO NOTHING`,
    )
    .run(row);
}
