import { type AttachmentPart, hasDigest, isStoredAs, listAttachmentParts } from "../../domain/attachment.ts";
import type { LogEntry } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, Trace } from "../../domain/receipt.ts";
import type { Fault, StorageCondition } from "../../ports/memory-store.ts";
import { buildConsistencyRules, type ConsistencyRule } from "../shared/consistency-rules.ts";
import { createStatement, type Row } from "./database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database/database.ts";
import { toIndexKey } from "./database/user-rows.ts";
import { POSTGRES_MIGRATIONS } from "./migrations/index.ts";
import { fetchRowsOfAllProjects } from "./read.ts";
import { REWRITE_WITHIN_MS } from "./scrub.ts";

const CONSISTENCY_RULES: readonly ConsistencyRule[] = [
  ...buildConsistencyRules({ user: "person", number: "number" }),
  [
    "attachments",
    "whose bytes are not those that were stored",
    "SELECT 1 FROM attachments WHERE encode(sha256(bytes), 'hex') <> digest OR length(bytes) <> size",
  ],
  // The database enforces this as it writes; the check covers what a restore inserted.
  [
    "rows",
    "of another project than their user's, or of nobody",
    [
      ...["messages", "versions", "heads", "units", "gone", "tombstones", "links", "log", "receipts"],
      ...["erasures", "blocks", "recalls", "uses", "visits", "attachments"],
    ]
      .map(
        (table) =>
          `SELECT 1 FROM ${table} LEFT JOIN users ON users.number = ${table}.person AND users.project = ${table}.project ` +
          "WHERE users.number IS NULL",
      )
      .join(" UNION ALL "),
  ],
  [
    "freed space",
    "of tables that were not rewritten within the time that receipts of erasures state",
    `SELECT 1 FROM freed WHERE name <> '' AND since < now() - interval '${REWRITE_WITHIN_MS} milliseconds'`,
  ],
];

const CHECK_MS = 600_000;

/** Checks all consistency rules in one snapshot, then the bodies of rows. */
export async function checkPostgresStore(database: PostgresDatabase): Promise<Fault[]> {
  const counts = await database.read(
    ALL_PROJECTS,
    (transaction) =>
      transaction.queryAll(
        ...CONSISTENCY_RULES.map(([, , sql]) =>
          createStatement(`SELECT count(*) AS found FROM (${sql}) AS broken`),
        ),
      ),
    CHECK_MS,
  );
  const faults = CONSISTENCY_RULES.map(
    ([place, problem], i): Fault => ({ place, problem, count: Number(counts[i]?.[0]?.found) }),
  );
  return [...faults, ...(await findBodyFaults(database))].filter(({ count }) => count > 0);
}

const PAGE_ROWS = 2000;

/** Checks of bodies, which are JSON that no column exposes: they are read here, a page at a time. */
interface BodyCheck {
  readonly table: string;
  /** The columns of the primary key, after the person's number. */
  readonly keys: readonly string[];
  readonly more?: string;
  /** Gives the problem of a row; undefined if it has none. */
  readonly look: (body: unknown, row: Row) => string | undefined;
}

const UNREADABLE_BODY = "whose body is not JSON";
const MISMATCHED_BODY = "whose body is another's";

/** Faults in the bodies of all users, counted by problem. */
async function findBodyFaults(database: PostgresDatabase): Promise<Fault[]> {
  const forgetRevisions = new Set<string>();
  const receiptRevisions = new Set<string>();
  const named = new Map<string, NamedAttachment>();
  const bodyChecks: readonly BodyCheck[] = [
    {
      table: "messages",
      keys: ["id"],
      more: `turn, EXISTS (SELECT FROM units WHERE units.person = messages.person AND units.owner = messages.id AND units.type = 'passage') AS found`,
      look: (body, row) => {
        const { id, turn, content, undone, parts } = body as Message;
        for (const part of listAttachmentParts(parts ? { parts } : {}))
          if (hasDigest(part)) named.set(`${row.person} ${part.id}`, { person: Number(row.person), part });
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
        if (cause === "forget") forgetRevisions.add(`${row.person} ${revision}`);
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
        receiptRevisions.add(`${row.person} ${revision}`);
        if (toIndexKey(id) !== row.id) return MISMATCHED_BODY;
        const trace = row.trace == null ? undefined : (JSON.parse(row.trace) as Trace);
        return trace && trace.receipt !== id ? "whose trace is another's" : undefined;
      },
    },
  ];
  const faults: Fault[] = [];
  for (const check of bodyChecks) faults.push(...(await findTableFaults(database, check)));
  const missingReceipts = [...forgetRevisions].filter((place) => !receiptRevisions.has(place)).length;
  return [
    ...faults,
    { place: "erasures", problem: "in the log without their receipt", count: missingReceipts },
    {
      place: "erasures",
      problem: "without an entry in the log",
      count: await countUnlogged(database, [...receiptRevisions]),
    },
    {
      place: "attachments",
      problem: "missing, or not as their message says",
      count: await countUnstored(database, named),
    },
  ];
}

/** An attachment that a message names. */
interface NamedAttachment {
  /** The user's number. */
  readonly person: number;
  readonly part: AttachmentPart;
}

const STILL_MISSING =
  "SELECT count(*) AS found FROM messages WHERE person = $1 AND position($2 in body) > 0 " +
  "AND NOT EXISTS (SELECT FROM attachments WHERE attachments.person = messages.person AND attachments.digest = $2)";

/** Counts the named attachments that are not stored, or otherwise than named. `named` is by the user's number and the digest. */
async function countUnstored(
  database: PostgresDatabase,
  named: ReadonlyMap<string, NamedAttachment>,
): Promise<number> {
  if (named.size === 0) return 0;
  const sql = "SELECT person, digest, media_type, size FROM attachments";
  const [rows = []] = await database.query(ALL_PROJECTS, createStatement(sql));
  const stored = new Map(rows.map((row) => [`${row.person} ${row.digest}`, row]));
  let count = 0;
  for (const [key, { person, part }] of named) {
    const row = stored.get(key);
    if (row) {
      const entry = { mediaType: String(row.media_type), size: Number(row.size) };
      count += Number(!isStoredAs(part, entry));
      continue;
    }
    // Asked again in one statement: its message may have been erased since it was read.
    const [found] = await database.query(ALL_PROJECTS, createStatement(STILL_MISSING, person, part.id));
    count += Number(Number(found?.[0]?.found) > 0);
  }
  return count;
}

const UNLOGGED =
  "SELECT count(*) AS found FROM unnest($1::bigint[], $2::bigint[]) AS kept (person, revision) " +
  "WHERE NOT EXISTS (SELECT FROM log WHERE log.person = kept.person AND log.revision = kept.revision)";

/** The same for Citus, which looks up rows of the coordinator in a table by a join only. */
const DISTRIBUTED_UNLOGGED =
  "SELECT cardinality($1::bigint[]) - count(*) AS found FROM unnest($1::bigint[], $2::bigint[]) AS kept (person, revision) " +
  "JOIN log ON log.person = kept.person AND log.revision = kept.revision";

/** Counts the places (a user's number and a revision) without an entry in the log. */
async function countUnlogged(database: PostgresDatabase, places: readonly string[]): Promise<number> {
  const parts = places.map((place) => place.split(" ").map(Number));
  const [people, revisions] = [parts.map(([person]) => person), parts.map(([, revision]) => revision)];
  const sql = database.settings.isDistributed ? DISTRIBUTED_UNLOGGED : UNLOGGED;
  const [rows] = await database.query(ALL_PROJECTS, createStatement(sql, people, revisions));
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

const NEWEST_ERASURES = 500;

/**
 * The condition by the server's settings when the store was opened, and by its tables now. The server's disk is not visible from
 * here. `reducedBy` never contains `synchronous_commit`, because transactions turn it on.
 */
export async function fetchStorageCondition(
  database: PostgresDatabase,
  reducedBy: readonly string[],
): Promise<StorageCondition> {
  const [row] = await fetchRowsOfAllProjects(
    database,
    `SELECT count(*) AS found FROM (SELECT body FROM erasures ORDER BY number DESC LIMIT ${NEWEST_ERASURES}) AS newest ` +
      `WHERE body LIKE '%"complete":false%'`,
  );
  return {
    durability: reducedBy.length > 0 ? "reduced" : "full",
    reducedBy,
    format: POSTGRES_MIGRATIONS.length,
    olderCopies: 0,
    erasing: 0,
    unverified: Number(row?.found ?? 0),
    isReadOnly: false,
  };
}
