import { MemoryError } from "../../../errors.ts";
import type { Secret } from "../../../ports/secret.ts";
import { type CopyProgress, DUMP_PARTS, type DumpPart, type StoreDump } from "../../../ports/whole.ts";
import { parseBody } from "../../shared/stored-body.ts";
import { PART_TABLES } from "../../shared/whole-tables.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database.ts";
import { encodeText } from "../names.ts";
import { signSecretMark } from "../open.ts";
import { fetchRowsOfAllProjects } from "../read.ts";
import { quoteIdentifier } from "../settings.ts";
import { createStatement, type PostgresTransaction } from "../statement.ts";
import { fetchPage } from "./page.ts";
import { queueDumpRows } from "./put.ts";

/** The record's tables as a whole, of all projects. With `secret`, a record that takes on another identity is marked with it. */
export function createPostgresStoreDump(database: PostgresDatabase, secret?: Secret): StoreDump {
  const inFilling = (work: (transaction: PostgresTransaction) => Promise<void>): Promise<void> =>
    database.write(ALL_PROJECTS, async (transaction) => {
      // Locked, so that of two who fill at once one follows the other.
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
    putRows: (part, rows) => inFilling((transaction) => queueDumpRows(transaction, part, rows)),
    saveCopyProgress: (note) =>
      inFilling(async (transaction) => {
        transaction.queue("UPDATE filling SET body = $1", JSON.stringify(note));
      }),
    async finishCopy() {
      await database.write(
        ALL_PROJECTS,
        async (transaction) => {
          const rows = await transaction.query("DELETE FROM filling RETURNING 1");
          if (rows.length === 0) throw createNotFillingError();
        },
        // Where the answer was lost: it is filled where nothing says that it is not.
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
  const [row] = await fetchRowsOfAllProjects(database, createStatement("SELECT body FROM filling"));
  return row && parseBody<CopyProgress>(row);
}

async function beginFill(
  database: PostgresDatabase,
  begun: CopyProgress,
  secret: Secret | undefined,
): Promise<void> {
  const mark = secret ? signSecretMark(secret, begun.from) : null;
  await database.write(ALL_PROJECTS, async (transaction) => {
    // One at a time, also where there is no row to lock yet.
    await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended('keepsake filling', 0))");
    const noted = await transaction.query("SELECT 1 FROM filling");
    if (noted.length === 0) {
      if (await hasRows(transaction)) throw createNotEmptyError();
      transaction.queue("INSERT INTO filling (body) VALUES ($1)", JSON.stringify(begun));
    } else transaction.queue("UPDATE filling SET body = $1", JSON.stringify(begun));
    transaction.queue("UPDATE identity SET id = $1, secret_mark = $2", encodeText(begun.from), mark);
  });
  await deleteAllRows(database);
}

async function hasRows(transaction: PostgresTransaction): Promise<boolean> {
  const tables = DUMP_PARTS.map((part) => `EXISTS (SELECT FROM ${PART_TABLES[part]})`);
  const [row] = await transaction.query(`SELECT ${tables.join(" OR ")} AS found`);
  return row?.found === "t";
}

/** Many users at once, and yet not all: one statement has only so long. Rows go before those that they lean on. */
const USERS_AT_ONCE = 50;
const USER_PARTS: readonly DumpPart[] = [
  "visits",
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
  "messages",
];

async function deleteAllRows(database: PostgresDatabase): Promise<void> {
  database.userNumbers.clear();
  for (;;) {
    const users = await fetchRowsOfAllProjects(
      database,
      createStatement("SELECT number FROM users ORDER BY number LIMIT $1", USERS_AT_ONCE),
    );
    if (users.length === 0) break;
    const people = users.map(({ number }) => number);
    for (const table of ["blocks", ...USER_PARTS.map((part) => PART_TABLES[part])]) {
      await database.write(ALL_PROJECTS, async (transaction) => {
        transaction.queue(`DELETE FROM ${table} WHERE person = ANY ($1::bigint[])`, people);
      });
    }
    await database.write(ALL_PROJECTS, async (transaction) => {
      transaction.queue("DELETE FROM users WHERE number = ANY ($1::bigint[])", people);
    });
  }
  for (const part of ["answers", "jobs", "backups", "calls", "turns"] as const) {
    await database.write(ALL_PROJECTS, async (transaction) => {
      transaction.queue(`DELETE FROM ${PART_TABLES[part]}`);
    });
  }
}

/** Ten minutes: tables of some ten million rows. */
const ANALYZE_MS = 600_000;

/**
 * Has the server look at the sizes of what it was given, by which it plans. It would in its own time, and until then plan as if
 * the tables were as good as empty.
 */
async function analyzeTables(database: PostgresDatabase): Promise<void> {
  const { schema } = database.settings;
  const tables = [...Object.values(PART_TABLES), "blocks"].map(
    (name) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`,
  );
  // What cannot be had now is not wrong without it.
  await database
    .runOutsideTransaction([`ANALYZE ${tables.join(", ")}`], { timeoutMs: ANALYZE_MS })
    .catch(() => undefined);
}

function createNotFillingError(): MemoryError {
  return new MemoryError("conflict", "PostgreSQL: this database is not being filled from another.");
}

function createNotEmptyError(): MemoryError {
  return new MemoryError(
    "conflict",
    "PostgreSQL: this database holds something already. Name one that is empty.",
  );
}
