import { randomUUID } from "node:crypto";
import type { Memory } from "../../../domain/memory.ts";
import type { DumpPart, DumpRow } from "../../../ports/stores/store-dump.ts";
import { isAwaitingExtraction } from "../../shared/change-rules.ts";
import { encodeVector, PART_TABLES, parseBody } from "../../shared/stored-rows.ts";
import type { PostgresTransaction } from "../database/connection.ts";
import { encodeLongNames, encodeText, toIndexKey, toScopeKeys } from "../database/user-rows.ts";
import { queueCall } from "../tables/calls.ts";
import { toChoiceKeys } from "../tables/embedder-choices.ts";
import { queueParties } from "../tables/sharing.ts";

/** Column -> its type and value. */
type TypedColumns = { readonly [column: string]: readonly [type: string, value: unknown] };
type PostgresUserPart = Exclude<
  DumpPart,
  "users" | "shares" | "embedders" | "answers" | "jobs" | "backups" | "calls" | "turns" | "memories"
>;
type PostgresSharedPart = "users" | "shares" | "embedders" | "answers" | "jobs" | "backups" | "turns";

const toTextCell = (value: string | null): readonly [string, unknown] => ["text", value];
const toBigintCell = (value: number | null): readonly [string, unknown] => ["bigint", value];
const toJsonCell = (value: unknown): readonly [string, unknown] => ["text", JSON.stringify(value)];

/** The columns of a row, besides its person and project. */
const USER_COLUMNS: { readonly [Part in PostgresUserPart]: (row: DumpRow<Part>) => TypedColumns } = {
  messages: ({ revision, message }) => ({
    id: toTextCell(toIndexKey(message.id)),
    turn: toBigintCell(message.turn),
    revision: toBigintCell(revision),
    is_waiting: ["boolean", isAwaitingExtraction(message)],
    stored_at: toTextCell(message.storedAt),
    body: toJsonCell(message),
  }),
  attachments: ({ attachment: { digest, mediaType, at, bytes } }) => ({
    digest: toTextCell(digest),
    media_type: toTextCell(mediaType),
    at: toTextCell(at),
    size: toBigintCell(bytes.length),
    bytes: ["bytea", Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
  }),
  versions: ({ memory }) => ({
    id: toTextCell(toIndexKey(memory.id)),
    version: toBigintCell(memory.version),
    body: toJsonCell(memory),
  }),
  units: ({ revision, unit: { id, type, owner, start, end, space, terms, vector } }) => ({
    id: toTextCell(toIndexKey(id)),
    type: toTextCell(type),
    owner: toTextCell(toIndexKey(owner)),
    long_names: toTextCell(encodeLongNames(id, owner)),
    first: ["integer", start],
    last: ["integer", end],
    space: toTextCell(encodeText(space)),
    revision: toBigintCell(revision),
    terms: toTextCell(encodeText(terms)),
    vector: ["bytea", Buffer.from(encodeVector(vector))],
  }),
  gone: ({ type, id, revision }) => ({
    type: toTextCell(type),
    id: toTextCell(toIndexKey(id)),
    long_names: toTextCell(encodeLongNames(id)),
    revision: toBigintCell(revision),
  }),
  tombstones: ({ tombstone: { hash, of, at } }) => ({
    hash: toTextCell(toIndexKey(hash)),
    long_names: toTextCell(encodeLongNames(hash)),
    type: toTextCell(of),
    at: toTextCell(at),
  }),
  links: ({ link: { from, type, to, strength } }) => ({
    source: toTextCell(toIndexKey(from)),
    type: toTextCell(type),
    target: toTextCell(toIndexKey(to)),
    long_names: toTextCell(encodeLongNames(from, to)),
    strength: ["double precision", strength],
  }),
  log: ({ entry }) => ({
    revision: toBigintCell(entry.revision),
    mark: ["uuid", randomUUID()],
    body: toJsonCell(entry),
  }),
  receipts: ({ revision, receipt }) => ({
    key: toTextCell(toIndexKey(receipt.key)),
    revision: toBigintCell(revision),
    body: toJsonCell(receipt),
  }),
  erasures: ({ receipt, trace }) => ({
    id: toTextCell(toIndexKey(receipt.id)),
    body: toJsonCell(receipt),
    trace: toTextCell(trace ? JSON.stringify(trace) : null),
  }),
  recalls: ({ receipt }) => ({ id: toTextCell(toIndexKey(receipt.id)), body: toJsonCell(receipt) }),
  uses: ({ use: { id, count, lastAt } }) => ({
    id: toTextCell(toIndexKey(id)),
    long_names: toTextCell(encodeLongNames(id)),
    count: toBigintCell(count),
    last_at: toTextCell(lastAt),
  }),
  visits: ({ job, visit: { revision, due, found, failed } }) => ({
    job: toTextCell(encodeText(job)),
    revision: toBigintCell(revision),
    due: toTextCell(due ?? null),
    found: toBigintCell(found ?? null),
    failed: toTextCell(failed ? JSON.stringify(failed) : null),
  }),
};

/** All columns of rows without a person, or with names of their own. */
const SHARED_COLUMNS: { readonly [Part in PostgresSharedPart]: (row: DumpRow<Part>) => TypedColumns } = {
  users: ({ project, user, revision, turns }) => ({
    ...toNameColumns({ project, user }),
    long_names: toTextCell(encodeLongNames(project, user)),
    revision: toBigintCell(revision),
    turns: toBigintCell(turns),
  }),
  shares: ({ share }) => ({
    project: toTextCell(toIndexKey(share.project)),
    id: toTextCell(toIndexKey(share.id)),
    version: toBigintCell(share.version),
    body: toJsonCell(share),
  }),
  embedders: ({ choice }) => {
    const [project, name] = toChoiceKeys(choice);
    return {
      project: toTextCell(project),
      name: toTextCell(name),
      embedder: toTextCell(toIndexKey(choice.embedder)),
      body: toJsonCell(choice),
    };
  },
  answers: ({ project, user, answer, erasures }) => ({
    ...toNameColumns({ project, user }),
    key: toTextCell(toIndexKey(answer.key)),
    at: toTextCell(answer.at),
    mark: ["uuid", randomUUID()],
    state: toTextCell(answer.state),
    request: toTextCell(encodeText(answer.request)),
    body: toTextCell(answer.answer ? JSON.stringify(answer.answer) : null),
    erasures: ["json", JSON.stringify(erasures.map(encodeText))],
    long_names: toTextCell(encodeLongNames(answer.key)),
  }),
  jobs: ({ note }) => ({ name: toTextCell(encodeText(note.name)), body: toJsonCell(note) }),
  backups: ({ note }) => ({ name: toTextCell(encodeText(note.name)), body: toJsonCell(note) }),
  turns: ({ stored: { project, user, day, turns } }) => ({
    project: toTextCell(toIndexKey(project)),
    person: toTextCell(toIndexKey(user)),
    day: toTextCell(day),
    turns: toBigintCell(turns),
  }),
};

function toNameColumns(scope: { readonly project: string; readonly user: string }): TypedColumns {
  const [project, name] = toScopeKeys(scope);
  return { project: toTextCell(project), name: toTextCell(name) };
}

/** Queues rows for the next statement or the COMMIT. Existing rows are kept. */
export async function queueDumpRows<Part extends DumpPart>(
  transaction: PostgresTransaction,
  part: Part,
  rows: readonly DumpRow<Part>[],
  isDistributed: boolean,
): Promise<void> {
  if (rows.length === 0) return;
  if (part === "calls") {
    for (const { call } of rows as readonly DumpRow<"calls">[]) queueCall(transaction, call);
  } else if (part === "memories") {
    await queueDumpMemories(transaction, rows as unknown as readonly DumpRow<"memories">[], isDistributed);
  } else if (part in SHARED_COLUMNS) {
    await queueSharedRows({ transaction, part, isDistributed }, rows);
  } else {
    const columns = USER_COLUMNS[part as PostgresUserPart] as (row: unknown) => TypedColumns;
    await queueUserRows(
      { transaction, part, isDistributed },
      rows as readonly DumpRow<PostgresUserPart>[],
      columns,
    );
  }
}

async function queueSharedRows<Part extends DumpPart>(
  { transaction, part, isDistributed }: DumpTarget,
  rows: readonly DumpRow<Part>[],
): Promise<void> {
  const columns = SHARED_COLUMNS[part as PostgresSharedPart] as (row: unknown) => TypedColumns;
  const cells = rows.map(columns);
  const column = part === "users" ? "number" : "person";
  const hasNumber = isDistributed && (part === "users" || part === "answers");
  queueInsert(transaction, part, hasNumber ? await addNumbers(transaction, column, cells) : cells);
  if (part !== "shares") return;
  for (const { share } of rows as readonly DumpRow<"shares">[]) {
    queueParties(transaction, toIndexKey(share.project), share);
  }
}

const SELECT_VERSION_BODIES =
  "SELECT v.body FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS row (project, name, id, version, place) " +
  "JOIN users u ON u.project = row.project AND u.name = row.name " +
  "JOIN versions v ON v.person = u.number AND v.id = row.id AND v.version = row.version ORDER BY place";

/** Whether a memory is current is in the body of its newest version. */
async function queueDumpMemories(
  transaction: PostgresTransaction,
  rows: readonly DumpRow<"memories">[],
  isDistributed: boolean,
): Promise<void> {
  const keys = rows.map(toScopeKeys);
  const versionRows = await transaction.query(
    SELECT_VERSION_BODIES,
    keys.map(([project]) => project),
    keys.map(([, name]) => name),
    rows.map(({ id }) => toIndexKey(id)),
    rows.map(({ version }) => version),
  );
  const bodies = versionRows.map(parseBody<Memory>);
  const places = new Map(rows.map((row, i) => [row, i]));
  await queueUserRows({ transaction, part: "memories", isDistributed }, rows, (row) => {
    const { id, version, revision } = row as DumpRow<"memories">;
    return {
      id: toTextCell(toIndexKey(id)),
      version: toBigintCell(version),
      revision: toBigintCell(revision),
      is_current: ["boolean", bodies[places.get(row as DumpRow<"memories">) ?? -1]?.status === "current"],
    };
  });
}

/** On Citus, users get their numbers from the table of names, also those who have stored answers only. */
async function addNumbers(
  transaction: PostgresTransaction,
  column: "number" | "person",
  cells: readonly TypedColumns[],
): Promise<TypedColumns[]> {
  const owners = cells.map((row) => [row.project?.[1], row.name?.[1]] as [string, string]);
  transaction.queue(
    "INSERT INTO names (project, name) SELECT project, name FROM unnest($1::text[], $2::text[]) " +
      "WITH ORDINALITY AS row (project, name, place) ORDER BY place ON CONFLICT DO NOTHING",
    owners.map(([project]) => project),
    owners.map(([, name]) => name),
  );
  const numbers = await fetchNumbers(transaction, owners);
  return cells.map((row, i) => ({ [column]: toBigintCell(numbers[i] ?? null), ...row }));
}

const SELECT_NUMBERS =
  "SELECT names.number FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS row (project, name, place) " +
  "LEFT JOIN names ON names.project = row.project AND names.name = row.name ORDER BY place";

async function fetchNumbers(
  transaction: PostgresTransaction,
  owners: readonly (readonly [project: string, name: string])[],
): Promise<number[]> {
  const [projects, names] = [owners.map(([project]) => project), owners.map(([, name]) => name)];
  return (await transaction.query(SELECT_NUMBERS, projects, names)).map(({ number }) => Number(number));
}

interface DumpTarget {
  readonly transaction: PostgresTransaction;
  readonly part: DumpPart;
  readonly isDistributed: boolean;
}

async function queueUserRows(
  { transaction, part, isDistributed }: DumpTarget,
  rows: readonly { readonly project: string; readonly user: string }[],
  columns: (row: unknown) => TypedColumns,
): Promise<void> {
  const owners = rows.map(toScopeKeys);
  const cells = rows.map(columns);
  if (isDistributed) {
    const numbers = await fetchNumbers(transaction, owners);
    const owned = cells.map((row, i) => ({
      person: toBigintCell(numbers[i] ?? null),
      project: toTextCell(owners[i]?.[0] ?? null),
      ...row,
    }));
    queueInsert(transaction, part, owned);
    return;
  }
  const names = Object.keys(cells[0] ?? {});
  const types = Object.values(cells[0] ?? {}).map(([type]) => type);
  const given = ["text", "text", ...types].map((type, i) => `$${i + 1}::${type}[]`).join(", ");
  transaction.queue(
    `INSERT INTO ${PART_TABLES[part]} (person, project, ${names.join(", ")}) ` +
      `SELECT u.number, u.project, ${names.map((name) => `r.${name}`).join(", ")} ` +
      `FROM unnest(${given}) WITH ORDINALITY AS r (of_project, of_name, ${names.join(", ")}, place) ` +
      "JOIN users u ON u.project = r.of_project AND u.name = r.of_name ORDER BY place ON CONFLICT DO NOTHING",
    owners.map(([project]) => project),
    owners.map(([, name]) => name),
    ...toColumnArrays(cells),
  );
}

function queueInsert(transaction: PostgresTransaction, part: DumpPart, cells: readonly TypedColumns[]): void {
  const names = Object.keys(cells[0] ?? {});
  const types = Object.values(cells[0] ?? {}).map(([type]) => type);
  const given = types.map((type, i) => `$${i + 1}::${type}[]`).join(", ");
  // An array column is sent as JSON, because arrays of arrays are multidimensional in PostgreSQL.
  const selected = names.map((name, i) =>
    types[i] === "json" ? `ARRAY(SELECT json_array_elements_text(row.${name}))` : `row.${name}`,
  );
  transaction.queue(
    `INSERT INTO ${PART_TABLES[part]} (${names.join(", ")}) SELECT ${selected.join(", ")} ` +
      `FROM unnest(${given}) WITH ORDINALITY AS row (${names.join(", ")}, place) ORDER BY place ON CONFLICT DO NOTHING`,
    ...toColumnArrays(cells),
  );
}

/** One array for each column. */
function toColumnArrays(cells: readonly TypedColumns[]): unknown[][] {
  const names = Object.keys(cells[0] ?? {});
  return names.map((name) => cells.map((row) => row[name]?.[1] ?? null));
}
