import { randomUUID } from "node:crypto";
import type { Memory } from "../../../domain/memory.ts";
import type { WholePart, WholeRow } from "../../../ports/whole.ts";
import { bodyOf } from "../../shared/stored-body.ts";
import { blobOf } from "../../shared/stored-vector.ts";
import { TABLES } from "../../shared/whole-tables.ts";
import { addCall } from "../calls.ts";
import { keyOf, longNames, textOf } from "../names.ts";
import { isWaiting } from "../put.ts";
import { keysOf } from "../rows.ts";
import type { Transaction } from "../statement.ts";

/** Column -> its type and value. */
type Columns = { readonly [column: string]: readonly [type: string, value: unknown] };
type OfPerson = Exclude<WholePart, "users" | "answers" | "jobs" | "backups" | "calls" | "turns" | "memories">;
type OfNobody = "users" | "answers" | "jobs" | "backups" | "turns";

const text = (value: string | null): readonly [string, unknown] => ["text", value];
const bigint = (value: number | null): readonly [string, unknown] => ["bigint", value];
const json = (value: unknown): readonly [string, unknown] => ["text", JSON.stringify(value)];

/** The columns of a row beside its person and project. */
const COLUMNS: { readonly [Part in OfPerson]: (row: WholeRow<Part>) => Columns } = {
  messages: ({ revision, message }) => ({
    id: text(keyOf(message.id)),
    turn: bigint(message.turn),
    revision: bigint(revision),
    is_waiting: ["boolean", isWaiting(message)],
    stored_at: text(message.storedAt),
    body: json(message),
  }),
  versions: ({ memory }) => ({
    id: text(keyOf(memory.id)),
    version: bigint(memory.version),
    body: json(memory),
  }),
  units: ({ revision, unit: { id, type, owner, start, end, space, terms, vector } }) => ({
    id: text(keyOf(id)),
    type: text(type),
    owner: text(keyOf(owner)),
    long_names: text(longNames(id, owner)),
    first: ["integer", start],
    last: ["integer", end],
    space: text(textOf(space)),
    revision: bigint(revision),
    terms: text(textOf(terms)),
    vector: ["bytea", Buffer.from(blobOf(vector))],
  }),
  gone: ({ type, id, revision }) => ({
    type: text(type),
    id: text(keyOf(id)),
    long_names: text(longNames(id)),
    revision: bigint(revision),
  }),
  tombstones: ({ tombstone: { hash, of, at } }) => ({
    hash: text(keyOf(hash)),
    long_names: text(longNames(hash)),
    type: text(of),
    at: text(at),
  }),
  links: ({ link: { from, type, to, strength } }) => ({
    source: text(keyOf(from)),
    type: text(type),
    target: text(keyOf(to)),
    long_names: text(longNames(from, to)),
    strength: ["double precision", strength],
  }),
  log: ({ entry }) => ({
    revision: bigint(entry.revision),
    mark: ["uuid", randomUUID()],
    body: json(entry),
  }),
  receipts: ({ revision, receipt }) => ({
    key: text(keyOf(receipt.key)),
    revision: bigint(revision),
    body: json(receipt),
  }),
  erasures: ({ receipt, trace }) => ({
    id: text(keyOf(receipt.id)),
    body: json(receipt),
    trace: text(trace ? JSON.stringify(trace) : null),
  }),
  recalls: ({ receipt }) => ({ id: text(keyOf(receipt.id)), body: json(receipt) }),
  visits: ({ job, visit: { revision, due, found, failed } }) => ({
    job: text(textOf(job)),
    revision: bigint(revision),
    due: text(due ?? null),
    found: bigint(found ?? null),
    failed: text(failed ? JSON.stringify(failed) : null),
  }),
};

/** All columns of rows that are no person's, or whose person they name themselves. */
const WHOLE: { readonly [Part in OfNobody]: (row: WholeRow<Part>) => Columns } = {
  users: ({ project, user, revision, turns }) => ({
    ...named({ project, user }),
    long_names: text(longNames(project, user)),
    revision: bigint(revision),
    turns: bigint(turns),
  }),
  answers: ({ project, user, answer, erasures }) => ({
    ...named({ project, user }),
    key: text(keyOf(answer.key)),
    at: text(answer.at),
    mark: ["uuid", randomUUID()],
    state: text(answer.state),
    request: text(textOf(answer.request)),
    body: text(answer.answer ? JSON.stringify(answer.answer) : null),
    erasures: ["json", JSON.stringify(erasures.map(textOf))],
    long_names: text(longNames(answer.key)),
  }),
  jobs: ({ note }) => ({ name: text(textOf(note.name)), body: json(note) }),
  backups: ({ note }) => ({ name: text(textOf(note.name)), body: json(note) }),
  turns: ({ stored: { project, user, day, turns } }) => ({
    project: text(keyOf(project)),
    person: text(keyOf(user)),
    day: text(day),
    turns: bigint(turns),
  }),
};

function named(scope: { readonly project: string; readonly user: string }): Columns {
  const [project, name] = keysOf(scope);
  return { project: text(project), name: text(name) };
}

/** Sends rows with the next statement, or with the end. A row that is there already is left alone. */
export async function putRows<Part extends WholePart>(
  transaction: Transaction,
  part: Part,
  rows: readonly WholeRow<Part>[],
): Promise<void> {
  if (rows.length === 0) return;
  if (part === "calls") {
    for (const { call } of rows as readonly WholeRow<"calls">[]) addCall(transaction, call);
  } else if (part === "memories") {
    await putMemories(transaction, rows as unknown as readonly WholeRow<"memories">[]);
  } else if (part in WHOLE) {
    const columns = WHOLE[part as OfNobody] as (row: unknown) => Columns;
    insert(transaction, part, rows.map(columns));
  } else {
    const columns = COLUMNS[part as OfPerson] as (row: unknown) => Columns;
    insertOfPerson(transaction, part, rows as readonly WholeRow<OfPerson>[], columns);
  }
}

const HELD =
  "SELECT v.body FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS row (project, name, id, version, place) " +
  "JOIN users u ON u.project = row.project AND u.name = row.name " +
  "JOIN versions v ON v.person = u.number AND v.id = row.id AND v.version = row.version ORDER BY place";

/** Whether a memory is current stands in its newest version. */
async function putMemories(transaction: Transaction, rows: readonly WholeRow<"memories">[]): Promise<void> {
  const keys = rows.map(keysOf);
  const held = await transaction.rows(
    HELD,
    keys.map(([project]) => project),
    keys.map(([, name]) => name),
    rows.map(({ id }) => keyOf(id)),
    rows.map(({ version }) => version),
  );
  const bodies = held.map(bodyOf<Memory>);
  const places = new Map(rows.map((row, i) => [row, i]));
  insertOfPerson(transaction, "memories", rows, (row) => {
    const { id, version, revision } = row as WholeRow<"memories">;
    return {
      id: text(keyOf(id)),
      version: bigint(version),
      revision: bigint(revision),
      is_current: ["boolean", bodies[places.get(row as WholeRow<"memories">) ?? -1]?.status === "current"],
    };
  });
}

function insertOfPerson(
  transaction: Transaction,
  part: WholePart,
  rows: readonly { readonly project: string; readonly user: string }[],
  columns: (row: unknown) => Columns,
): void {
  const owners = rows.map(keysOf);
  const cells = rows.map(columns);
  const names = Object.keys(cells[0] ?? {});
  const types = Object.values(cells[0] ?? {}).map(([type]) => type);
  const given = ["text", "text", ...types].map((type, i) => `$${i + 1}::${type}[]`).join(", ");
  transaction.later(
    `INSERT INTO ${TABLES[part]} (person, project, ${names.join(", ")}) ` +
      `SELECT u.number, u.project, ${names.map((name) => `r.${name}`).join(", ")} ` +
      `FROM unnest(${given}) WITH ORDINALITY AS r (of_project, of_name, ${names.join(", ")}, place) ` +
      "JOIN users u ON u.project = r.of_project AND u.name = r.of_name ORDER BY place ON CONFLICT DO NOTHING",
    owners.map(([project]) => project),
    owners.map(([, name]) => name),
    ...valuesOf(cells),
  );
}

function insert(transaction: Transaction, part: WholePart, cells: readonly Columns[]): void {
  const names = Object.keys(cells[0] ?? {});
  const types = Object.values(cells[0] ?? {}).map(([type]) => type);
  const given = types.map((type, i) => `$${i + 1}::${type}[]`).join(", ");
  // A list in a column goes as JSON: lists of lists are something else there.
  const selected = names.map((name, i) =>
    types[i] === "json" ? `ARRAY(SELECT json_array_elements_text(r.${name}))` : `r.${name}`,
  );
  transaction.later(
    `INSERT INTO ${TABLES[part]} (${names.join(", ")}) SELECT ${selected.join(", ")} ` +
      `FROM unnest(${given}) WITH ORDINALITY AS r (${names.join(", ")}, place) ORDER BY place ON CONFLICT DO NOTHING`,
    ...valuesOf(cells),
  );
}

/** One array for each column. */
function valuesOf(cells: readonly Columns[]): unknown[][] {
  const names = Object.keys(cells[0] ?? {});
  return names.map((name) => cells.map((row) => row[name]?.[1] ?? null));
}
