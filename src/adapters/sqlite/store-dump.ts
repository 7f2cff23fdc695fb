import { MemoryError } from "../../errors.ts";
import {
  type CopyProgress,
  DUMP_PAGE_BYTES,
  DUMP_PARTS,
  type DumpPage,
  type DumpPart,
  type DumpRow,
  type StoreDump,
} from "../../ports/stores/store-dump.ts";
import { buildDumpPageKeys, createDumpRowReaders } from "../shared/dump-rows.ts";
import { PART_TABLES } from "../shared/stored-rows.ts";
import {
  checkNames,
  encodeVector,
  findUser,
  parseBody,
  type SqliteDatabase,
  type SqliteRow,
} from "./database.ts";
import { toLink, toTombstone, toUnit } from "./read.ts";
import { toStoredAnswer } from "./tables/answer-cache.ts";
import { toAttachment, toAttachmentColumns } from "./tables/attachments.ts";
import { saveCall, toModelCall } from "./tables/calls.ts";
import { toJobProgress } from "./tables/job-store.ts";
import { insertParties } from "./tables/sharing.ts";

type RunDumpWork = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** The dump of the database, over the store's own connection. */
export function createSqliteStoreDump(database: SqliteDatabase, run: RunDumpWork): StoreDump {
  return {
    parts: DUMP_PARTS,
    counts: () =>
      run(() => {
        refuseErasing(database);
        return countPartRows(database);
      }),
    page: (part, options) => run(() => readPage(database, part, options)),
    copyProgress: () => run(() => readFillProgress(database)),
    beginCopy: (begun) => run(() => beginFill(database, begun)),
    putRows: (part, rows) =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          insertDumpRows(database, part, rows);
        }),
      ),
    saveCopyProgress: (note) =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          saveFillProgress(database, note);
        }),
      ),
    finishCopy: () =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          database.handle.exec("DROP TABLE filling");
        }),
      ),
  };
}

function countPartRows(database: SqliteDatabase): { [Part in DumpPart]: number } {
  const entries = DUMP_PARTS.map((part) => [
    part,
    Number(database.statement(`SELECT count(*) AS found FROM ${PART_TABLES[part]}`).get()?.found),
  ]);
  return Object.fromEntries(entries) as { [Part in DumpPart]: number };
}

/** The progress is in a table that exists only during a copy. */
function readFillProgress({ handle }: SqliteDatabase): CopyProgress | undefined {
  const table = handle.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'filling'").get();
  const row = table && handle.prepare("SELECT body FROM filling").get();
  return row && (JSON.parse(String(row.body)) as CopyProgress);
}

function saveFillProgress({ handle }: SqliteDatabase, note: CopyProgress): void {
  handle.exec("DELETE FROM filling");
  handle.prepare("INSERT INTO filling (body) VALUES (:body)").run({ body: JSON.stringify(note) });
}

function beginFill(database: SqliteDatabase, begun: CopyProgress): void {
  const { handle } = database;
  database.transaction(() => {
    if (readFillProgress(database)) deleteAllRows(database);
    else if (Object.values(countPartRows(database)).some((count) => count > 0)) {
      throw new MemoryError(
        "conflict",
        `database ${database.path}: it is not empty. Name one that is empty or does not exist yet.`,
      );
    } else handle.exec("CREATE TABLE filling (body TEXT NOT NULL) STRICT");
    saveFillProgress(database, begun);
    database.statement("UPDATE identity SET id = :id").run({ id: begun.from });
  });
}

function deleteAllRows(database: SqliteDatabase): void {
  database.users.clear();
  // Rows are deleted before the rows that they reference.
  for (const part of DUMP_PARTS.toReversed()) database.handle.exec(`DELETE FROM ${PART_TABLES[part]}`);
}

/** Refuses a copy during an erasure: the copied rows would lack the instructions that complete it. */
function refuseErasing({ path, handle }: SqliteDatabase): void {
  if (!handle.prepare("SELECT 1 FROM erasing WHERE part = 0 LIMIT 1").get()) return;
  throw new MemoryError(
    "unavailable",
    `database ${path}: an erasure is in progress. Copy the database once it has finished.`,
  );
}

function refuseUnfilled(database: SqliteDatabase): void {
  if (!readFillProgress(database)) {
    throw new MemoryError("conflict", `database ${database.path}: no copy into it is in progress.`);
  }
}

const PAGE_KEYS = buildDumpPageKeys("user", "id");

/** Parts whose order within a user no index covers, so only the keys of each page are sorted. */
const PARTS_BY_NUMBER: ReadonlySet<DumpPart> = new Set<DumpPart>(["versions", "memories"]);

const ROW_READERS = createDumpRowReaders<SqliteRow>({
  id: (row) => String(row.id),
  text: String,
  unit: toUnit,
  attachment: toAttachment,
  tombstone: toTombstone,
  link: toLink,
  answer: (row) => ({ answer: toStoredAnswer(row), erasures: parseBody({ body: row.erasures }) }),
  progress: toJobProgress,
  call: toModelCall,
  turnsUser: (row) => String(row.user),
});

/** A page of a part, and the key of its last row as the cursor. */
function readPage<Part extends DumpPart>(
  database: SqliteDatabase,
  part: Part,
  { after, limit }: { readonly after?: string; readonly limit: number },
): DumpPage<Part> {
  const keys = Object.keys(PAGE_KEYS[part]);
  const last =
    after === undefined ? Object.values(PAGE_KEYS[part]) : (JSON.parse(after) as (string | number)[]);
  const values = Object.fromEntries(last.map((value, i) => [`k${i}`, value]));
  const { rows, isLast } = readPageRows(database, part, { ...values, limit });
  const names = createNameLookup(database);
  const end = rows.at(-1);
  const read = ROW_READERS[part];
  return {
    rows: rows.map((row) => ({ ...toRowOwner(part, row, names), ...read(row) }) as unknown as DumpRow<Part>),
    ...(!isLast && end ? { cursor: JSON.stringify(keys.map((key) => end[key])) } : {}),
  };
}

function readPageRows(
  database: SqliteDatabase,
  part: DumpPart,
  values: { readonly [name: string]: string | number; readonly limit: number },
): { readonly rows: SqliteRow[]; readonly isLast: boolean } {
  const rows: SqliteRow[] = [];
  let bytes = 0;
  for (const row of database.statement(buildPageSql(part)).iterate(values) as Iterable<SqliteRow>) {
    rows.push(row);
    bytes += typeof row.body === "string" ? row.body.length : 0;
    bytes += row.bytes instanceof Uint8Array ? row.bytes.length : 0;
    if (bytes >= DUMP_PAGE_BYTES) return { rows, isLast: false };
  }
  return { rows, isLast: rows.length < values.limit };
}

function buildPageSql(part: DumpPart): string {
  const columns = Object.keys(PAGE_KEYS[part]);
  const keys = columns.join(", ");
  const table = PART_TABLES[part];
  const bound = `(${keys}) > (${columns.map((_column, i) => `:k${i}`).join(", ")})`;
  if (!PARTS_BY_NUMBER.has(part))
    return `SELECT * FROM ${table} WHERE ${bound} ORDER BY ${keys} LIMIT :limit`;
  const page = `SELECT number FROM ${table} WHERE ${bound} ORDER BY ${keys} LIMIT :limit`;
  return `SELECT * FROM ${table} WHERE number IN (${page}) ORDER BY ${keys}`;
}

type UserNameLookup = (user: number) => { readonly project: string; readonly user: string };

/** Names of users by their numbers. It remembers the last one, because rows of a user are adjacent. */
function createNameLookup(database: SqliteDatabase): UserNameLookup {
  let lastUser = -1;
  let names = { project: "", user: "" };
  return (user) => {
    if (user === lastUser) return names;
    const row = database.statement("SELECT project, name FROM users WHERE id = :user").get({ user });
    names = { project: String(row?.project), user: String(row?.name) };
    lastUser = user;
    return names;
  };
}

const PARTS_WITHOUT_USER: ReadonlySet<DumpPart> = new Set<DumpPart>([
  "shares",
  "embedders",
  "jobs",
  "backups",
  "calls",
  "turns",
]);

function toRowOwner(
  part: DumpPart,
  row: SqliteRow,
  names: UserNameLookup,
): { project?: string; user?: string } {
  if (PARTS_WITHOUT_USER.has(part)) return {};
  if (part === "users" || part === "answers") return { project: String(row.project), user: String(row.name) };
  return names(Number(row.user));
}

type SqliteColumnValue = string | number | Uint8Array | null;
type SqliteColumnValues = { readonly [column: string]: SqliteColumnValue };
type SqliteUserPart = Exclude<
  DumpPart,
  "users" | "shares" | "embedders" | "answers" | "jobs" | "backups" | "calls" | "turns"
>;

/** The columns of a row, besides its user. */
const USER_COLUMNS: { readonly [Part in SqliteUserPart]: (row: DumpRow<Part>) => SqliteColumnValues } = {
  messages: ({ revision, message }) => ({
    id: message.id,
    turn: message.turn,
    revision,
    body: JSON.stringify(message),
  }),
  attachments: ({ attachment }) => toAttachmentColumns(attachment),
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
  uses: ({ use: { id, count, lastAt } }) => ({ id, count, last_at: lastAt }),
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
  shares: (database, { share }) => {
    const { project, id, version } = share;
    checkNames(project);
    insertIfAbsent(database, "shares", { project, id, version, body: JSON.stringify(share) });
    insertParties(database, project, share);
  },
  embedders: (database, { choice }) => {
    const { project, user: name = "", embedder } = choice;
    checkNames(project, name);
    insertIfAbsent(database, "embedder_choices", { project, name, embedder, body: JSON.stringify(choice) });
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

/** Runs within a transaction. Existing rows are kept. */
function insertDumpRows<Part extends DumpPart>(
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
    if (user === undefined) throw new MemoryError("conflict", `a user with ${part} does not exist.`);
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
