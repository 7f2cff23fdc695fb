import { PAGE_BYTES, type WholePage, type WholePart, type WholeRow } from "../../../ports/whole.ts";
import { TABLES } from "../../shared/whole-tables.ts";
import { callOf } from "../calls.ts";
import type { Database, Row } from "../database.ts";
import { visitOf } from "../house-keeping.ts";
import { keptOf } from "../kept-answers.ts";
import { linkOf, tombstoneOf, unitOf } from "../read.ts";
import { bodyOf } from "../rows.ts";

/**
 * By which columns each part is paged: those of an index, so that a page costs what it holds. Versions and memories come in
 * the order of their numbers, which no index has for one user: of each page the keys alone are put in order. With each
 * column stands what comes before all its values.
 */
const KEYS: { readonly [Part in WholePart]: { readonly [column: string]: "" | -1 } } = {
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
const BY_NUMBER: ReadonlySet<WholePart> = new Set<WholePart>(["versions", "memories"]);

const READERS: { readonly [Part in WholePart]: (row: Row) => Omit<WholeRow<Part>, "project" | "user"> } = {
  users: (row) => ({ revision: Number(row.revision), turns: Number(row.turns) }),
  messages: (row) => ({ revision: Number(row.revision), message: bodyOf(row) }),
  versions: (row) => ({ memory: bodyOf(row) }),
  memories: (row) => ({
    id: String(row.id),
    version: Number(row.version),
    revision: Number(row.revision),
  }),
  units: (row) => ({ revision: Number(row.revision), unit: unitOf(row) }),
  gone: (row) => ({
    type: row.type === "unit" ? "unit" : "memory",
    id: String(row.id),
    revision: Number(row.revision),
  }),
  tombstones: (row) => ({ tombstone: tombstoneOf(row) }),
  links: (row) => ({ link: linkOf(row) }),
  log: (row) => ({ entry: bodyOf(row) }),
  receipts: (row) => ({ revision: Number(row.revision), receipt: bodyOf(row) }),
  erasures: (row) => ({
    receipt: bodyOf(row),
    ...(row.trace === null ? {} : { trace: bodyOf({ body: row.trace }) }),
  }),
  recalls: (row) => ({ receipt: bodyOf(row) }),
  answers: (row) => ({ answer: keptOf(row), erasures: bodyOf({ body: row.erasures }) }),
  visits: (row) => ({
    job: String(row.job) as WholeRow<"visits">["job"],
    visit: visitOf({ ...row, seen: row.revision ?? null }),
  }),
  jobs: (row) => ({ note: bodyOf(row) }),
  backups: (row) => ({ note: bodyOf(row) }),
  calls: (row) => ({ call: callOf(row) }),
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
export function pageOf<Part extends WholePart>(
  database: Database,
  part: Part,
  { after, limit }: { readonly after?: string; readonly limit: number },
): WholePage<Part> {
  const keys = Object.keys(KEYS[part]);
  const last = after === undefined ? Object.values(KEYS[part]) : (JSON.parse(after) as (string | number)[]);
  const values = Object.fromEntries(last.map((value, i) => [`k${i}`, value]));
  const { rows, isLast } = pageRows(database, part, { ...values, limit });
  const names = namesIn(database);
  const end = rows.at(-1);
  const read = READERS[part];
  return {
    rows: rows.map((row) => ({ ...ownerOf(part, row, names), ...read(row) }) as unknown as WholeRow<Part>),
    ...(!isLast && end ? { cursor: JSON.stringify(keys.map((key) => end[key])) } : {}),
  };
}

function pageRows(
  database: Database,
  part: WholePart,
  values: { readonly [name: string]: string | number; readonly limit: number },
): { readonly rows: Row[]; readonly isLast: boolean } {
  const rows: Row[] = [];
  let bytes = 0;
  for (const row of database.statement(sqlOf(part)).iterate(values) as Iterable<Row>) {
    rows.push(row);
    bytes += typeof row.body === "string" ? row.body.length : 0;
    if (bytes >= PAGE_BYTES) return { rows, isLast: false };
  }
  return { rows, isLast: rows.length < values.limit };
}

function sqlOf(part: WholePart): string {
  const columns = Object.keys(KEYS[part]);
  const keys = columns.join(", ");
  const table = TABLES[part];
  const bound = `(${keys}) > (${columns.map((_column, i) => `:k${i}`).join(", ")})`;
  if (!BY_NUMBER.has(part)) return `SELECT * FROM ${table} WHERE ${bound} ORDER BY ${keys} LIMIT :limit`;
  const page = `SELECT number FROM ${table} WHERE ${bound} ORDER BY ${keys} LIMIT :limit`;
  return `SELECT * FROM ${table} WHERE number IN (${page}) ORDER BY ${keys}`;
}

type Names = (user: number) => { readonly project: string; readonly user: string };

/** Names of users by their numbers; rows of one user come together. */
function namesIn(database: Database): Names {
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

const OF_NOBODY: ReadonlySet<WholePart> = new Set<WholePart>(["jobs", "backups", "calls", "turns"]);

function ownerOf(part: WholePart, row: Row, names: Names): { project?: string; user?: string } {
  if (OF_NOBODY.has(part)) return {};
  if (part === "users" || part === "answers") return { project: String(row.project), user: String(row.name) };
  return names(Number(row.user));
}
