import { MemoryError } from "../../../errors.ts";
import type { WholePart, WholeRow } from "../../../ports/whole.ts";
import { TABLES } from "../../shared/whole-tables.ts";
import { noteCall } from "../calls.ts";
import type { Database } from "../database.ts";
import { blobOf, checkNames, userOf } from "../rows.ts";

type Value = string | number | Uint8Array | null;
type Columns = { readonly [column: string]: Value };
type OfUser = Exclude<WholePart, "users" | "answers" | "jobs" | "backups" | "calls" | "turns">;

/** The columns of a row beside its user. */
const COLUMNS: { readonly [Part in OfUser]: (row: WholeRow<Part>) => Columns } = {
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
    vector: blobOf(vector),
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

const OTHERS: {
  readonly [Part in Exclude<WholePart, OfUser>]: (database: Database, row: WholeRow<Part>) => void;
} = {
  users: (database, { project, user: name, revision, turns }) => {
    checkNames(project, name);
    insert(database, "users", { project, name, revision, turns });
  },
  answers: (database, { project, user: name, answer: kept, erasures }) => {
    const { key, at, state, request, answer } = kept;
    insert(database, "answers", {
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
  jobs: (database, { note }) => insert(database, "jobs", { name: note.name, body: JSON.stringify(note) }),
  backups: (database, { note }) =>
    insert(database, "backups", { name: note.name, body: JSON.stringify(note) }),
  calls: (database, { call }) => noteCall(database, call),
  turns: (database, { stored: { project, user, day, turns } }) =>
    insert(database, "turns", { project, user, day, turns }),
};

/** Within a transaction. A row that is there already is left alone. */
export function putRows<Part extends WholePart>(
  database: Database,
  part: Part,
  rows: readonly WholeRow<Part>[],
): void {
  if (part in OTHERS) {
    const put = OTHERS[part as keyof typeof OTHERS] as (database: Database, row: unknown) => void;
    for (const row of rows) put(database, row);
    return;
  }
  const columns = COLUMNS[part as OfUser] as (row: unknown) => Columns;
  for (const row of rows as readonly WholeRow<OfUser>[]) {
    const user = userOf(database, row)?.id;
    if (user === undefined) throw new MemoryError("conflict", `a user with ${part} is not there.`);
    insert(database, TABLES[part], { user, ...columns(row) });
  }
}

function insert(database: Database, table: string, row: Columns): void {
  const names = Object.keys(row);
  database
    .statement(
      `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map((name) => `:${name}`).join(", ")}) ON CONFLICT DO NOTHING`,
    )
    .run(row);
}
