import type { LogEntry } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Trace } from "../../domain/trace.ts";
import type { Fault } from "../../ports/record.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { keyOf } from "./names.ts";
import type { Row } from "./pool.ts";
import { statement } from "./statement.ts";

const PAGE = 2000;

/** Bodies are JSON that no column can look into: they are read here, a page at a time. */
interface Reading {
  readonly table: string;
  /** Of the primary key, after the person's number. */
  readonly keys: readonly string[];
  readonly more?: string;
  /** What is wrong with a row; nothing where all is well. */
  readonly look: (body: unknown, row: Row) => string | undefined;
}

const UNREADABLE = "whose body is no JSON";
const ANOTHERS = "whose body is another's";

/** The faults of everybody's bodies, by what is wrong. */
export async function bodyFaults(database: Database): Promise<Fault[]> {
  const forgotten = new Set<string>();
  const kept = new Set<string>();
  const readings: readonly Reading[] = [
    {
      table: "messages",
      keys: ["id"],
      more: `turn, EXISTS (SELECT FROM units WHERE units.person = messages.person AND units.owner = messages.id AND units.type = 'passage') AS found`,
      look: (body, row) => {
        const { id, turn, content, undone } = body as Message;
        if (keyOf(id) !== row.id || turn !== Number(row.turn)) return ANOTHERS;
        const isSearched = content.trim() !== "" && undone !== true;
        return isSearched && row.found !== "t" ? "searchable but without a passage" : undefined;
      },
    },
    {
      table: "versions",
      keys: ["id", "version"],
      look: (body, row) => {
        const { id, version } = body as Memory;
        return keyOf(id) !== row.id || version !== Number(row.version) ? ANOTHERS : undefined;
      },
    },
    {
      table: "log",
      keys: ["revision"],
      look: (body, row) => {
        const { cause, revision } = body as LogEntry;
        if (cause === "forget") forgotten.add(`${row.person} ${revision}`);
        return revision !== Number(row.revision) ? ANOTHERS : undefined;
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
        if (keyOf(id) !== row.id) return ANOTHERS;
        const trace = row.trace == null ? undefined : (JSON.parse(row.trace) as Trace);
        return trace && trace.receipt !== id ? "whose trace is another's" : undefined;
      },
    },
  ];
  const faults: Fault[] = [];
  for (const reading of readings) faults.push(...(await faultsOf(database, reading)));
  const lost = [...forgotten].filter((place) => !kept.has(place)).length;
  return [
    ...faults,
    { place: "erasures", problem: "in the log without their receipt", count: lost },
    { place: "erasures", problem: "without an entry in the log", count: await unlogged(database, [...kept]) },
  ];
}

const UNLOGGED =
  "SELECT count(*) AS found FROM unnest($1::bigint[], $2::bigint[]) AS kept (person, revision) " +
  "WHERE NOT EXISTS (SELECT FROM log WHERE log.person = kept.person AND log.revision = kept.revision)";

/** How many of some places, each a number and a revision, the log has no entry for. */
async function unlogged(database: Database, places: readonly string[]): Promise<number> {
  const parts = places.map((place) => place.split(" ").map(Number));
  const [people, revisions] = [parts.map(([person]) => person), parts.map(([, revision]) => revision)];
  const [rows] = await database.ask(EVERYBODY, statement(UNLOGGED, people, revisions));
  return Number(rows?.[0]?.found);
}

async function faultsOf(database: Database, { table, keys, more, look }: Reading): Promise<Fault[]> {
  const counts = new Map<string, number>();
  const columns = ["person", ...keys];
  const sql =
    `SELECT ${columns.join(", ")}, body${more === undefined ? "" : `, ${more}`} FROM ${table} ` +
    `WHERE (${columns.join(", ")}) > (${columns.map((_column, i) => `$${i + 1}`).join(", ")}) ` +
    `ORDER BY ${columns.join(", ")} LIMIT ${PAGE}`;
  let after: unknown[] = columns.map((column) => (NUMBERS.has(column) ? -1 : ""));
  for (;;) {
    const [rows = []] = await database.ask(EVERYBODY, statement(sql, ...after));
    for (const row of rows) {
      const problem = problemOf(row, look);
      if (problem) counts.set(problem, (counts.get(problem) ?? 0) + 1);
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) break;
    after = columns.map((column) => (NUMBERS.has(column) ? Number(last[column]) : last[column]));
  }
  return [...counts].map(([problem, count]) => ({ place: table, problem, count }));
}

const NUMBERS: ReadonlySet<string> = new Set(["person", "version", "revision"]);

function problemOf(row: Row, look: Reading["look"]): string | undefined {
  try {
    return look(JSON.parse(row.body ?? ""), row);
  } catch {
    return UNREADABLE;
  }
}
