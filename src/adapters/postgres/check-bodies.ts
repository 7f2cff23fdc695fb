import type { LogEntry } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Trace } from "../../domain/trace.ts";
import type { Fault } from "../../ports/record.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database.ts";
import { toIndexKey } from "./names.ts";
import type { Row } from "./pool.ts";
import { createStatement } from "./statement.ts";

const PAGE_ROWS = 2000;

/** Bodies are JSON that no column can look into: they are read here, a page at a time. */
interface BodyCheck {
  readonly table: string;
  /** Of the primary key, after the person's number. */
  readonly keys: readonly string[];
  readonly more?: string;
  /** What is wrong with a row; nothing where all is well. */
  readonly look: (body: unknown, row: Row) => string | undefined;
}

const UNREADABLE_BODY = "whose body is no JSON";
const MISMATCHED_BODY = "whose body is another's";

/** The faults of everybody's bodies, by what is wrong. */
export async function findBodyFaults(database: PostgresDatabase): Promise<Fault[]> {
  const forgotten = new Set<string>();
  const kept = new Set<string>();
  const readings: readonly BodyCheck[] = [
    {
      table: "messages",
      keys: ["id"],
      more: `turn, EXISTS (SELECT FROM units WHERE units.person = messages.person AND units.owner = messages.id AND units.type = 'passage') AS found`,
      look: (body, row) => {
        const { id, turn, content, undone } = body as Message;
        if (toIndexKey(id) !== row.id || turn !== Number(row.turn)) return MISMATCHED_BODY;
        const isSearched = content.trim() !== "" && undone !== true;
        return isSearched && row.found !== "t" ? "searchable but without a passage" : undefined;
      },
    },
    {
      table: "versions",
      keys: ["id", "version"],
      look: (body, row) => {
        const { id, version } = body as Memory;
        return toIndexKey(id) !== row.id || version !== Number(row.version) ? MISMATCHED_BODY : undefined;
      },
    },
    {
      table: "log",
      keys: ["revision"],
      look: (body, row) => {
        const { cause, revision } = body as LogEntry;
        if (cause === "forget") forgotten.add(`${row.person} ${revision}`);
        return revision !== Number(row.revision) ? MISMATCHED_BODY : undefined;
      },
    },
    { table: "receipts", keys: ["key"], look: () => undefined },
    {
      table: "erasures",
      keys: ["id"],
      more: "trace",
      look: (body, row) => {
        const { id, revision } = body as ErasureReceipt;
        kept.add(`${row.person} ${revision}`);
        if (toIndexKey(id) !== row.id) return MISMATCHED_BODY;
        const trace = row.trace == null ? undefined : (JSON.parse(row.trace) as Trace);
        return trace && trace.receipt !== id ? "whose trace is another's" : undefined;
      },
    },
  ];
  const faults: Fault[] = [];
  for (const reading of readings) faults.push(...(await findTableFaults(database, reading)));
  const lost = [...forgotten].filter((place) => !kept.has(place)).length;
  return [
    ...faults,
    { place: "erasures", problem: "in the log without their receipt", count: lost },
    {
      place: "erasures",
      problem: "without an entry in the log",
      count: await countUnlogged(database, [...kept]),
    },
  ];
}

const UNLOGGED =
  "SELECT count(*) AS found FROM unnest($1::bigint[], $2::bigint[]) AS kept (person, revision) " +
  "WHERE NOT EXISTS (SELECT FROM log WHERE log.person = kept.person AND log.revision = kept.revision)";

/** How many of some places, each a number and a revision, the log has no entry for. */
async function countUnlogged(database: PostgresDatabase, places: readonly string[]): Promise<number> {
  const parts = places.map((place) => place.split(" ").map(Number));
  const [people, revisions] = [parts.map(([person]) => person), parts.map(([, revision]) => revision)];
  const [rows] = await database.query(ALL_PROJECTS, createStatement(UNLOGGED, people, revisions));
  return Number(rows?.[0]?.found);
}

async function findTableFaults(
  database: PostgresDatabase,
  { table, keys, more, look }: BodyCheck,
): Promise<Fault[]> {
  const counts = new Map<string, number>();
  const columns = ["person", ...keys];
  const sql =
    `SELECT ${columns.join(", ")}, body${more === undefined ? "" : `, ${more}`} FROM ${table} ` +
    `WHERE (${columns.join(", ")}) > (${columns.map((_column, i) => `$${i + 1}`).join(", ")}) ` +
    `ORDER BY ${columns.join(", ")} LIMIT ${PAGE_ROWS}`;
  let after: unknown[] = columns.map((column) => (NUMERIC_COLUMNS.has(column) ? -1 : ""));
  for (;;) {
    const [rows = []] = await database.query(ALL_PROJECTS, createStatement(sql, ...after));
    for (const row of rows) {
      const problem = findProblem(row, look);
      if (problem) counts.set(problem, (counts.get(problem) ?? 0) + 1);
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS) break;
    after = columns.map((column) => (NUMERIC_COLUMNS.has(column) ? Number(last[column]) : last[column]));
  }
  return [...counts].map(([problem, count]) => ({ place: table, problem, count }));
}

const NUMERIC_COLUMNS: ReadonlySet<string> = new Set(["person", "version", "revision"]);

function findProblem(row: Row, look: BodyCheck["look"]): string | undefined {
  try {
    return look(JSON.parse(row.body ?? ""), row);
  } catch {
    return UNREADABLE_BODY;
  }
}
