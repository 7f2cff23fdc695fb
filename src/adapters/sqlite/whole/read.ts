import { DUMP_PAGE_BYTES, type DumpPage, type DumpPart, type DumpRow } from "../../../ports/whole.ts";
import { PART_TABLES } from "../../shared/whole-tables.ts";
import { toModelCall } from "../calls.ts";
import type { SqliteDatabase, SqliteRow } from "../database.ts";
import { toJobProgress } from "../house-keeping.ts";
import { toStoredAnswer } from "../kept-answers.ts";
import { toLink, toTombstone, toUnit } from "../read.ts";
import { parseBody } from "../rows.ts";

/**
 * By which columns each part is paged: those of an index, so that a page costs what it holds. Versions and memories come in
 * the order of their numbers, which no index has for one user: of each page the keys alone are put in order. With each
 * column stands what comes before all its values.
 */
const PAGE_KEYS: { readonly [Part in DumpPart]: { readonly [column: string]: "" | -1 } } = {
  users: { id: -1 },
  messages: { user: -1, id: "" },
  versions: { user: -1, number: -1 },
  memories: { user: -1, number: -1 },
  units: { user: -1, id: "" },
  gone: { user: -1, type: "", id: "" },
  tombstones: { user: -1, hash: "" },
  links: { user: -1, source: "", type: "", target: "" },
  log: { user: -1, revision: -1 },
  receipts: { user: -1, key: "" },
  erasures: { number: -1 },
  recalls: { user: -1, number: -1 },
  answers: { project: "", name: "", key: "" },
  visits: { user: -1, job: "" },
  jobs: { name: "" },
  backups: { number: -1 },
  calls: { number: -1 },
  turns: { project: "", user: "", day: "" },
};

/** Those whose order within a user no index has. */
const PARTS_BY_NUMBER: ReadonlySet<DumpPart> = new Set<DumpPart>(["versions", "memories"]);

const ROW_READERS: {
  readonly [Part in DumpPart]: (row: SqliteRow) => Omit<DumpRow<Part>, "project" | "user">;
} = {
  users: (row) => ({ revision: Number(row.revision), turns: Number(row.turns) }),
  messages: (row) => ({ revision: Number(row.revision), message: parseBody(row) }),
  versions: (row) => ({ memory: parseBody(row) }),
  memories: (row) => ({
    id: String(row.id),
    version: Number(row.version),
    revision: Number(row.revision),
  }),
  units: (row) => ({ revision: Number(row.revision), unit: toUnit(row) }),
  gone: (row) => ({
    type: row.type === "unit" ? "unit" : "memory",
    id: String(row.id),
    revision: Number(row.revision),
  }),
  tombstones: (row) => ({ tombstone: toTombstone(row) }),
  links: (row) => ({ link: toLink(row) }),
  log: (row) => ({ entry: parseBody(row) }),
  receipts: (row) => ({ revision: Number(row.revision), receipt: parseBody(row) }),
  erasures: (row) => ({
    receipt: parseBody(row),
    ...(row.trace === null ? {} : { trace: parseBody({ body: row.trace }) }),
  }),
  recalls: (row) => ({ receipt: parseBody(row) }),
  answers: (row) => ({ answer: toStoredAnswer(row), erasures: parseBody({ body: row.erasures }) }),
  visits: (row) => ({
    job: String(row.job) as DumpRow<"visits">["job"],
    visit: toJobProgress({ ...row, seen: row.revision ?? null }),
  }),
  jobs: (row) => ({ note: parseBody(row) }),
  backups: (row) => ({ note: parseBody(row) }),
  calls: (row) => ({ call: toModelCall(row) }),
  turns: (row) => ({
    stored: {
      project: String(row.project),
      user: String(row.user),
      day: String(row.day),
      turns: Number(row.turns),
    },
  }),
};

/** A page of a part, and the key of its last row as the cursor. */
export function readPage<Part extends DumpPart>(
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

/** Names of users by their numbers; rows of one user come together. */
function createNameLookup(database: SqliteDatabase): UserNameLookup {
  let known = -1;
  let names = { project: "", user: "" };
  return (user) => {
    if (user === known) return names;
    const row = database.statement("SELECT project, name FROM users WHERE id = :user").get({ user });
    names = { project: String(row?.project), user: String(row?.name) };
    known = user;
    return names;
  };
}

const PARTS_WITHOUT_USER: ReadonlySet<DumpPart> = new Set<DumpPart>(["jobs", "backups", "calls", "turns"]);

function toRowOwner(
  part: DumpPart,
  row: SqliteRow,
  names: UserNameLookup,
): { project?: string; user?: string } {
  if (PARTS_WITHOUT_USER.has(part)) return {};
  if (part === "users" || part === "answers") return { project: String(row.project), user: String(row.name) };
  return names(Number(row.user));
}
