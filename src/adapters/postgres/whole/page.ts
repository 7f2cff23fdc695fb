import { PAGE_BYTES, type WholePage, type WholePart, type WholeRow } from "../../../ports/whole.ts";
import { bodyOf } from "../../shared/stored-body.ts";
import { TABLES } from "../../shared/whole-tables.ts";
import { callOf } from "../calls.ts";
import { type Database, EVERYBODY } from "../database.ts";
import { visitOf } from "../house-keeping.ts";
import { keptOf } from "../kept-answers.ts";
import { namesOf, readText } from "../names.ts";
import type { Row } from "../pool.ts";
import { linkOf, nameOf, tombstoneOf, unitOf } from "../read.ts";
import { scopeOf } from "../rows.ts";
import { statement } from "../statement.ts";

/**
 * By which columns each part is paged: those of an index, so that a page costs what it holds. With each column stands what comes
 * before all its values.
 */
const KEYS: { readonly [Part in WholePart]: { readonly [column: string]: "" | -1 } } = {
  users: { number: -1 },
  messages: { person: -1, id: "" },
  versions: { person: -1, number: -1 },
  memories: { person: -1, number: -1 },
  units: { person: -1, id: "" },
  gone: { person: -1, type: "", id: "" },
  tombstones: { person: -1, hash: "" },
  links: { person: -1, source: "", type: "", target: "" },
  log: { person: -1, revision: -1 },
  receipts: { person: -1, key: "" },
  erasures: { number: -1 },
  recalls: { person: -1, number: -1 },
  answers: { project: "", name: "", key: "" },
  visits: { person: -1, job: "" },
  jobs: { name: "" },
  backups: { number: -1 },
  calls: { number: -1 },
  turns: { project: "", person: "", day: "" },
};

const READERS: { readonly [Part in WholePart]: (row: Row) => Omit<WholeRow<Part>, "project" | "user"> } = {
  users: (row) => ({ revision: Number(row.revision), turns: Number(row.turns) }),
  messages: (row) => ({ revision: Number(row.revision), message: bodyOf(row) }),
  versions: (row) => ({ memory: bodyOf(row) }),
  // An id that is too long for its column stands in the body of the version alone.
  memories: (row) => ({
    id: bodyOf<{ id: string }>(row).id,
    version: Number(row.version),
    revision: Number(row.revision),
  }),
  units: (row) => ({ revision: Number(row.revision), unit: unitOf(row) }),
  gone: (row) => ({
    type: row.type === "unit" ? "unit" : "memory",
    id: nameOf(row),
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
  answers: (row) => ({ answer: keptOf(row), erasures: erasuresOf(row) }),
  visits: (row) => ({
    job: readText(row.job) as WholeRow<"visits">["job"],
    visit: visitOf({ ...row, seen: row.revision ?? null }),
  }),
  jobs: (row) => ({ note: bodyOf(row) }),
  backups: (row) => ({ note: bodyOf(row) }),
  calls: (row) => ({ call: callOf(row) }),
  turns: (row) => ({
    stored: {
      project: readText(row.project),
      user: readText(row.person),
      day: row.day ?? "",
      turns: Number(row.turns),
    },
  }),
};

function erasuresOf(row: Row): string[] {
  return bodyOf<string[]>({ body: row.erased }).map(readText);
}

/** What else a row needs. */
const ALSO: { readonly [Part in WholePart]?: string } = {
  memories:
    ", (SELECT body FROM versions v WHERE v.person = t.person AND v.id = t.id AND v.version = t.version) AS body",
  answers: ", array_to_json(erasures) AS erased",
};

/** A page of a part, and the key of its last row as the cursor. */
export async function pageOf<Part extends WholePart>(
  database: Database,
  part: Part,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<WholePage<Part>> {
  const keys = Object.keys(KEYS[part]);
  const last = after === undefined ? Object.values(KEYS[part]) : (JSON.parse(after) as unknown[]);
  const asked = statement(sqlOf(part), ...last, limit);
  return database.read(EVERYBODY, async (transaction) => {
    const [rows = []] = await transaction.all(asked);
    const people = [...new Set(rows.flatMap(({ person }) => person ?? []))];
    const isOfPerson = part !== "calls" && part !== "turns" && people.length > 0;
    const names = isOfPerson ? await transaction.rows(NAMES, people) : [];
    const scopes = new Map(names.map((row) => [row.number, scopeOf(row)]));
    const end = rows.at(-1);
    const read = READERS[part];
    return {
      rows: rows.map((row) => ({ ...ownerOf(part, row, scopes), ...read(row) }) as unknown as WholeRow<Part>),
      ...(end && isMore(rows.length, end, limit)
        ? { cursor: JSON.stringify(keys.map((key) => end[key])) }
        : {}),
    };
  });
}

const NAMES = "SELECT number, project, name, long_names FROM users WHERE number = ANY ($1::bigint[])";

/** Those whose rows can be long. */
const WITH_BODY: ReadonlySet<WholePart> = new Set<WholePart>([
  "messages",
  "versions",
  "log",
  "receipts",
  "erasures",
  "recalls",
  "answers",
]);

function sqlOf(part: WholePart): string {
  const entries = Object.entries(KEYS[part]);
  const columns = entries.map(([column]) => `t.${column}`).join(", ");
  const first = entries.map(([, before], i) => `$${i + 1}::${before === "" ? "text" : "bigint"}`).join(", ");
  const page = `FROM ${TABLES[part]} t WHERE (${columns}) > (${first}) ORDER BY ${columns} LIMIT $${entries.length + 1}`;
  if (!WITH_BODY.has(part)) return `SELECT t.*${ALSO[part] ?? ""} ${page}`;
  // Whole rows up to so many bytes: those before which there are fewer.
  const bytes = "coalesce(octet_length(t.body), 0)";
  const sum = `sum(${bytes}) OVER (ORDER BY ${columns} ROWS UNBOUNDED PRECEDING) - ${bytes}`;
  return (
    `SELECT t.*${ALSO[part] ?? ""} FROM (` +
    `SELECT t.*, count(*) OVER () AS page_rows, ${sum} AS page_bytes FROM (SELECT t.* ${page}) t` +
    `) t WHERE page_bytes < ${PAGE_BYTES} ORDER BY ${columns}`
  );
}

/** Whether rows follow: there are as many as were asked for, or the rest of these would have been too long. */
function isMore(given: number, last: Row, limit: number): boolean {
  return given === limit || (typeof last.page_rows === "string" && given < Number(last.page_rows));
}

type Scopes = ReadonlyMap<string | null | undefined, { readonly project: string; readonly user: string }>;

function ownerOf(part: WholePart, row: Row, scopes: Scopes): { project?: string; user?: string } {
  if (part === "users") return walls(scopeOf(row));
  if (part === "answers") {
    const [project = "", user = ""] = namesOf(null, row.project, row.name);
    return { project, user };
  }
  const scope = scopes.get(row.person);
  return scope && row.person !== undefined ? walls(scope) : {};
}

function walls({ project, user }: { readonly project: string; readonly user: string }): {
  project: string;
  user: string;
} {
  return { project, user };
}
