import { type AttachmentPart, hasDigest, isStoredAs, listAttachmentParts } from "../../domain/attachment.ts";
import type { LogEntry } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, Trace } from "../../domain/receipt.ts";
import type { Fault, StorageCondition } from "../../ports/memory-store.ts";
import { buildConsistencyRules, type ConsistencyRule } from "../shared/consistency-rules.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "./database.ts";
import { toMariadbKey } from "./keys.ts";
import { buildMariadbMigrations } from "./schema.ts";

const CONSISTENCY_RULES: readonly ConsistencyRule[] = [
  ...buildConsistencyRules({ user: "person", number: "number" }),
  [
    "attachments",
    "whose bytes are not those that were stored",
    "SELECT 1 FROM attachments WHERE SHA2(bytes, 256) <> digest OR OCTET_LENGTH(bytes) <> size",
  ],
];
const CHECK_MS = 600_000;
const PAGE_ROWS = 2000;

/** Checks of bodies, which are JSON that no column exposes: they are read here, a page at a time. */
interface MariadbBodyCheck {
  readonly table: string;
  /** The columns of the primary key, after the person's number, and a value before all of each. */
  readonly keys: { readonly [column: string]: "" | -1 };
  readonly more?: string;
  /** Gives the problem of a row; undefined if it has none. */
  readonly look: (body: unknown, row: MariadbRow) => string | undefined;
}

const UNREADABLE = "whose body is not JSON";
const MISMATCHED = "whose body is another's";

/** Checks all consistency rules and the bodies of rows, in one snapshot. */
export function checkMariadbStore(database: MariadbDatabase): Promise<Fault[]> {
  return database.snapshot(async (transaction) => {
    const faults: Fault[] = [];
    for (const [place, problem, sql] of CONSISTENCY_RULES) {
      const [row] = await transaction.query(`SELECT COUNT(*) AS found FROM (${sql}) AS broken`);
      faults.push({ place, problem, count: Number(row?.found) });
    }
    faults.push(...(await findBodyFaults(transaction)));
    return faults.filter(({ count }) => count > 0);
  }, CHECK_MS);
}

const HAS_PASSAGE =
  "EXISTS (SELECT 1 FROM units WHERE units.person = t.person AND units.owner = t.id AND units.type = 'passage') AS found";

async function findBodyFaults(transaction: MariadbTransaction): Promise<Fault[]> {
  const logged = new Set<string>();
  const forgets = new Set<string>();
  const receipts = new Set<string>();
  const named = new Map<string, AttachmentPart>();
  const checks: readonly MariadbBodyCheck[] = [
    {
      table: "messages",
      keys: { id: "" },
      more: HAS_PASSAGE,
      look: (body, row) => {
        const { id, turn, content, undone, parts } = body as Message;
        for (const part of listAttachmentParts(parts ? { parts } : {}))
          if (hasDigest(part)) named.set(`${row.person} ${part.id}`, part);
        if (toMariadbKey(id) !== row.id || turn !== Number(row.turn)) return MISMATCHED;
        const isSearched = content.trim() !== "" && undone !== true;
        return isSearched && Number(row.found) !== 1 ? "searchable but without a passage" : undefined;
      },
    },
    {
      table: "versions",
      keys: { id: "", version: -1 },
      look: (body, row) => {
        const { id, version } = body as Memory;
        return toMariadbKey(id) !== row.id || version !== Number(row.version) ? MISMATCHED : undefined;
      },
    },
    {
      table: "log",
      keys: { revision: -1 },
      look: (body, row) => {
        const { cause, revision } = body as LogEntry;
        logged.add(`${row.person} ${row.revision}`);
        if (cause === "forget") forgets.add(`${row.person} ${revision}`);
        return revision !== Number(row.revision) ? MISMATCHED : undefined;
      },
    },
    { table: "receipts", keys: { key: "" }, look: () => undefined },
    {
      table: "erasures",
      keys: { id: "" },
      look: (body, row) => {
        const { id, revision } = body as ErasureReceipt;
        receipts.add(`${row.person} ${revision}`);
        if (toMariadbKey(id) !== row.id) return MISMATCHED;
        const trace = row.trace === null ? undefined : (JSON.parse(String(row.trace)) as Trace);
        return trace && trace.receipt !== id ? "whose trace is another's" : undefined;
      },
    },
  ];
  const faults: Fault[] = [];
  for (const check of checks) faults.push(...(await findTableFaults(transaction, check)));
  return [
    ...faults,
    {
      place: "erasures",
      problem: "in the log without their receipt",
      count: [...forgets].filter((place) => !receipts.has(place)).length,
    },
    {
      place: "erasures",
      problem: "without an entry in the log",
      count: [...receipts].filter((place) => !logged.has(place)).length,
    },
    {
      place: "attachments",
      problem: "missing, or not as their message says",
      count: await countUnstored(transaction, named),
    },
  ];
}

/** Counts the named attachments that are not stored, or otherwise than named. `named` is by the user's number and the digest. */
async function countUnstored(
  transaction: MariadbTransaction,
  named: ReadonlyMap<string, AttachmentPart>,
): Promise<number> {
  if (named.size === 0) return 0;
  const rows = await transaction.query("SELECT person, digest, media_type, size FROM attachments");
  const stored = new Map(
    rows.map((row) => [
      `${row.person} ${row.digest}`,
      { mediaType: String(row.media_type), size: Number(row.size) },
    ]),
  );
  return [...named].filter(([key, part]) => !isStoredAs(part, stored.get(key))).length;
}

async function findTableFaults(
  transaction: MariadbTransaction,
  { table, keys, more, look }: MariadbBodyCheck,
): Promise<Fault[]> {
  const counts = new Map<string, number>();
  const start = { person: -1, ...keys };
  const columns = Object.keys(start);
  const names = columns.map((column) => `t.\`${column}\``).join(", ");
  const sql =
    `SELECT t.*${more === undefined ? "" : `, ${more}`} FROM ${table} t WHERE t.person >= ? AND (${names}) > (?) ` +
    `ORDER BY ${names} LIMIT ${PAGE_ROWS}`;
  let after: unknown[] = Object.values(start);
  for (;;) {
    const rows = await transaction.query(sql, after[0], after);
    for (const row of rows) {
      const problem = findProblem(row, look);
      if (problem) counts.set(problem, (counts.get(problem) ?? 0) + 1);
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS) break;
    after = columns.map((column) => last[column]);
  }
  return [...counts].map(([problem, count]) => ({ place: table, problem, count }));
}

function findProblem(row: MariadbRow, look: MariadbBodyCheck["look"]): string | undefined {
  try {
    return look(JSON.parse(String(row.body)), row);
  } catch {
    return UNREADABLE;
  }
}

const NEWEST_ERASURES = 500;

/** The condition by the server's settings when the store was opened, and by its tables now. The server's disk is not visible from here. */
export async function readMariadbCondition(
  database: MariadbDatabase,
  reducedBy: readonly string[],
): Promise<StorageCondition> {
  const [row] = await database.query(
    `SELECT COUNT(*) AS found FROM (SELECT body FROM erasures ORDER BY number DESC LIMIT ${NEWEST_ERASURES}) AS newest ` +
      `WHERE body LIKE '%"complete":false%'`,
  );
  return {
    durability: reducedBy.length > 0 ? "reduced" : "full",
    reducedBy,
    format: buildMariadbMigrations("").length,
    olderCopies: 0,
    erasing: 0,
    unverified: Number(row?.found ?? 0),
    isReadOnly: false,
  };
}
