import { MemoryError } from "../../../errors.ts";
import {
  type CopyProgress,
  DUMP_PAGE_BYTES,
  DUMP_PARTS,
  type DumpPage,
  type DumpPart,
  type DumpRow,
  type StoreDump,
} from "../../../ports/stores/store-dump.ts";
import type { Secret } from "../../../ports/system.ts";
import { buildDumpPageKeys, createDumpRowReaders } from "../../shared/dump-rows.ts";
import { PART_TABLES, parseBody } from "../../shared/stored-rows.ts";
import {
  createStatement,
  type PostgresTransaction,
  quoteIdentifier,
  type Row,
} from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import { signSecretMark } from "../database/open.ts";
import { decodeNames, decodeText, encodeText, parseScope } from "../database/user-rows.ts";
import { decodeId, fetchRowsOfAllProjects, parseLink, parseTombstone, parseUnit } from "../read.ts";
import { parseStoredAnswer } from "../tables/answer-cache.ts";
import { parseAttachment } from "../tables/attachments.ts";
import { parseModelCall } from "../tables/calls.ts";
import { parseJobProgress } from "../tables/job-store.ts";
import { queueDumpRows } from "./insert-rows.ts";

/** The dump of all tables, over all projects. With `secret`, a store that takes over an identity is marked with it. */
export function createPostgresStoreDump(database: PostgresDatabase, secret?: Secret): StoreDump {
  const whileCopying = (work: (transaction: PostgresTransaction) => Promise<void>): Promise<void> =>
    database.write(ALL_PROJECTS, async (transaction) => {
      // Locked, so that concurrent copies run one after the other.
      const rows = await transaction.query("SELECT 1 FROM filling FOR UPDATE");
      if (rows.length === 0) throw createNotFillingError();
      await work(transaction);
    });
  return {
    parts: DUMP_PARTS,
    counts: () => countPartRows(database),
    page: (part, options) => fetchPage(database, part, options),
    copyProgress: () => fetchFillProgress(database),
    beginCopy: (begun) => beginFill(database, begun, secret),
    putRows: (part, rows) =>
      whileCopying((transaction) => queueDumpRows(transaction, part, rows, database.settings.isDistributed)),
    saveCopyProgress: (note) =>
      whileCopying(async (transaction) => {
        transaction.queue("UPDATE filling SET body = $1", JSON.stringify(note));
      }),
    async finishCopy() {
      await database.write(
        ALL_PROJECTS,
        async (transaction) => {
          const rows = await transaction.query("DELETE FROM filling RETURNING 1");
          if (rows.length === 0) throw createNotFillingError();
        },
        // If the answer was lost: the copy is finished if no progress is recorded.
        async (transaction) =>
          (await transaction.query("SELECT 1 FROM filling")).length === 0 ? { was: undefined } : undefined,
      );
      await analyzeTables(database);
    },
  };
}

async function countPartRows(database: PostgresDatabase): Promise<{ [Part in DumpPart]: number }> {
  const found = await database.query(
    ALL_PROJECTS,
    ...DUMP_PARTS.map((part) => createStatement(`SELECT count(*) AS found FROM ${PART_TABLES[part]}`)),
  );
  const entries = DUMP_PARTS.map((part, i) => [part, Number(found[i]?.[0]?.found)]);
  return Object.fromEntries(entries) as { [Part in DumpPart]: number };
}

async function fetchFillProgress(database: PostgresDatabase): Promise<CopyProgress | undefined> {
  const [row] = await fetchRowsOfAllProjects(database, "SELECT body FROM filling");
  return row && parseBody<CopyProgress>(row);
}

async function beginFill(
  database: PostgresDatabase,
  begun: CopyProgress,
  secret: Secret | undefined,
): Promise<void> {
  const mark = secret ? signSecretMark(secret, begun.from) : null;
  await database.write(ALL_PROJECTS, async (transaction) => {
    // One at a time, even while there is no row to lock.
    await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended('keepsake filling', 0))");
    const progressRows = await transaction.query("SELECT 1 FROM filling");
    if (progressRows.length === 0) {
      if (await hasRows(transaction)) throw createNotEmptyError();
      transaction.queue("INSERT INTO filling (body) VALUES ($1)", JSON.stringify(begun));
    } else transaction.queue("UPDATE filling SET body = $1", JSON.stringify(begun));
    transaction.queue("UPDATE identity SET id = $1, secret_mark = $2", encodeText(begun.from), mark);
  });
  await deleteAllRows(database);
}

async function hasRows(transaction: PostgresTransaction): Promise<boolean> {
  const tables = DUMP_PARTS.map((part) => `EXISTS (SELECT 1 FROM ${PART_TABLES[part]})`);
  const [row] = await transaction.query(`SELECT ${tables.join(" OR ")} AS found`);
  return row?.found === "t";
}

/** Users per statement, which has a time limit. Rows are deleted before the rows that they reference. */
const USERS_AT_ONCE = 50;
const USER_PARTS: readonly DumpPart[] = [
  "visits",
  "uses",
  "recalls",
  "erasures",
  "receipts",
  "log",
  "links",
  "tombstones",
  "gone",
  "units",
  "memories",
  "versions",
  "attachments",
  "messages",
];

async function deleteAllRows(database: PostgresDatabase): Promise<void> {
  database.userNumbers.clear();
  for (;;) {
    const users = await fetchRowsOfAllProjects(
      database,
      "SELECT number FROM users ORDER BY number LIMIT $1",
      USERS_AT_ONCE,
    );
    if (users.length === 0) break;
    const people = users.map(({ number }) => number);
    for (const table of ["blocks", ...USER_PARTS.map((part) => PART_TABLES[part])]) {
      await database.execute(ALL_PROJECTS, `DELETE FROM ${table} WHERE person = ANY ($1::bigint[])`, people);
    }
    await database.execute(ALL_PROJECTS, "DELETE FROM users WHERE number = ANY ($1::bigint[])", people);
  }
  for (const part of ["shares", "embedders", "answers", "jobs", "backups", "calls", "turns"] as const) {
    await database.execute(ALL_PROJECTS, `DELETE FROM ${PART_TABLES[part]}`);
  }
  if (database.settings.isDistributed) await database.execute(ALL_PROJECTS, "DELETE FROM names");
}

/** Ten minutes: enough for tables of some ten million rows. */
const ANALYZE_MS = 600_000;

/**
 * Updates the server's statistics on the copied tables. The server would do so later by itself, but until then it would plan as if
 * the tables were nearly empty.
 */
async function analyzeTables(database: PostgresDatabase): Promise<void> {
  const { schema } = database.settings;
  const tables = [...Object.values(PART_TABLES), "blocks"].map(
    (name) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`,
  );
  // Optional: without statistics, everything is slower but correct.
  await database
    .runOutsideTransaction([`ANALYZE ${tables.join(", ")}`], { timeoutMs: ANALYZE_MS })
    .catch(() => undefined);
}

function createNotFillingError(): MemoryError {
  return new MemoryError("conflict", "PostgreSQL: no copy into this database is in progress.");
}

function createNotEmptyError(): MemoryError {
  return new MemoryError("conflict", "PostgreSQL: this database is not empty. Use an empty one.");
}

const PAGE_KEYS = buildDumpPageKeys("person", "number");

const ROW_PARSERS = createDumpRowReaders<Row>({
  // Only the body of the version contains an id that is too long for its column.
  id: (row, part) => (part === "memories" ? parseBody<{ id: string }>(row).id : decodeId(row)),
  text: decodeText,
  unit: parseUnit,
  attachment: parseAttachment,
  tombstone: parseTombstone,
  link: parseLink,
  answer: (row) => ({
    answer: parseStoredAnswer(row),
    erasures: parseBody<string[]>({ body: row.erased }).map(decodeText),
  }),
  progress: parseJobProgress,
  call: parseModelCall,
  turnsUser: (row) => decodeText(row.person),
});

/** Further columns that a row needs. */
const EXTRA_COLUMNS: { readonly [Part in DumpPart]?: string } = {
  memories:
    ", (SELECT body FROM versions v WHERE v.person = t.person AND v.id = t.id AND v.version = t.version) AS body",
  answers: ", array_to_json(erasures) AS erased",
};

/** A page of a part, and the key of its last row as the cursor. */
async function fetchPage<Part extends DumpPart>(
  database: PostgresDatabase,
  part: Part,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<DumpPage<Part>> {
  const keys = Object.keys(PAGE_KEYS[part]);
  const last = after === undefined ? Object.values(PAGE_KEYS[part]) : (JSON.parse(after) as unknown[]);
  const statement = createStatement(buildPageSql(part), ...last, limit);
  return database.read(ALL_PROJECTS, async (transaction) => {
    const [rows = []] = await transaction.queryAll(statement);
    const people = [...new Set(rows.flatMap(({ person }) => person ?? []))];
    const hasPerson = part !== "calls" && part !== "turns" && people.length > 0;
    const names = hasPerson ? await transaction.query(SELECT_USER_NAMES, people) : [];
    const scopes = new Map(names.map((row) => [row.number, parseScope(row)]));
    const end = rows.at(-1);
    const read = ROW_PARSERS[part];
    return {
      rows: rows.map(
        (row) => ({ ...toRowOwner(part, row, scopes), ...read(row) }) as unknown as DumpRow<Part>,
      ),
      ...(end && hasMoreRows(rows.length, end, limit)
        ? { cursor: JSON.stringify(keys.map((key) => end[key])) }
        : {}),
    };
  });
}

const SELECT_USER_NAMES =
  "SELECT number, project, name, long_names FROM users WHERE number = ANY ($1::bigint[])";

/** Parts whose rows can be large. */
const PARTS_WITH_BODY: ReadonlySet<DumpPart> = new Set<DumpPart>([
  "messages",
  "attachments",
  "versions",
  "log",
  "receipts",
  "erasures",
  "recalls",
  "shares",
  "answers",
]);

function buildPageSql(part: DumpPart): string {
  const entries = Object.entries(PAGE_KEYS[part]);
  const columns = entries.map(([column]) => `t.${column}`).join(", ");
  const first = entries.map(([, before], i) => `$${i + 1}::${before === "" ? "text" : "bigint"}`).join(", ");
  const page = `FROM ${PART_TABLES[part]} t WHERE (${columns}) > (${first}) ORDER BY ${columns} LIMIT $${entries.length + 1}`;
  if (!PARTS_WITH_BODY.has(part)) return `SELECT t.*${EXTRA_COLUMNS[part] ?? ""} ${page}`;
  // Rows up to the size limit: those with fewer bytes before them.
  const bytes = `coalesce(octet_length(t.${part === "attachments" ? "bytes" : "body"}), 0)`;
  const sum = `sum(${bytes}) OVER (ORDER BY ${columns} ROWS UNBOUNDED PRECEDING) - ${bytes}`;
  return (
    `SELECT t.*${EXTRA_COLUMNS[part] ?? ""} FROM (` +
    `SELECT t.*, count(*) OVER () AS page_rows, ${sum} AS page_bytes FROM (SELECT t.* ${page}) t` +
    `) t WHERE page_bytes < ${DUMP_PAGE_BYTES} ORDER BY ${columns}`
  );
}

/** Whether more rows follow: the page has the requested number of rows, or it was cut because of its size. */
function hasMoreRows(given: number, last: Row, limit: number): boolean {
  return given === limit || (typeof last.page_rows === "string" && given < Number(last.page_rows));
}

type ScopesByNumber = ReadonlyMap<
  string | null | undefined,
  { readonly project: string; readonly user: string }
>;

function toRowOwner(part: DumpPart, row: Row, scopes: ScopesByNumber): { project?: string; user?: string } {
  if (part === "users") return toOwner(parseScope(row));
  if (part === "answers") {
    const [project = "", user = ""] = decodeNames(null, row.project, row.name);
    return { project, user };
  }
  const scope = scopes.get(row.person);
  return scope && row.person !== undefined ? toOwner(scope) : {};
}

function toOwner({ project, user }: { readonly project: string; readonly user: string }): {
  project: string;
  user: string;
} {
  return { project, user };
}
