import { MemoryError } from "../../../errors.ts";
import type { Secret } from "../../../ports/secret.ts";
import { type Filling, WHOLE_PARTS, type Whole, type WholePart } from "../../../ports/whole.ts";
import { bodyOf } from "../../shared/stored-body.ts";
import { TABLES } from "../../shared/whole-tables.ts";
import { type Database, EVERYBODY } from "../database.ts";
import { textOf } from "../names.ts";
import { secretMark } from "../open.ts";
import { everybodys } from "../read.ts";
import { quoted } from "../settings.ts";
import { statement, type Transaction } from "../statement.ts";
import { pageOf } from "./page.ts";
import { putRows } from "./put.ts";

/** The record's tables as a whole, of all projects. With `secret`, a record that takes on another identity is marked with it. */
export function postgresWhole(database: Database, secret?: Secret): Whole {
  const inFilling = (work: (transaction: Transaction) => Promise<void>): Promise<void> =>
    database.write(EVERYBODY, async (transaction) => {
      // Locked, so that of two who fill at once one follows the other.
      const rows = await transaction.rows("SELECT 1 FROM filling FOR UPDATE");
      if (rows.length === 0) throw notFilled();
      await work(transaction);
    });
  return {
    parts: WHOLE_PARTS,
    counts: () => counts(database),
    page: (part, options) => pageOf(database, part, options),
    filling: () => filling(database),
    fill: (begun) => fill(database, begun, secret),
    put: (part, rows) => inFilling((transaction) => putRows(transaction, part, rows)),
    noteFilling: (note) =>
      inFilling(async (transaction) => {
        transaction.later("UPDATE filling SET body = $1", JSON.stringify(note));
      }),
    async filled() {
      await database.write(
        EVERYBODY,
        async (transaction) => {
          const rows = await transaction.rows("DELETE FROM filling RETURNING 1");
          if (rows.length === 0) throw notFilled();
        },
        // Where the answer was lost: it is filled where nothing says that it is not.
        async (transaction) =>
          (await transaction.rows("SELECT 1 FROM filling")).length === 0 ? { was: undefined } : undefined,
      );
      await learnSizes(database);
    },
  };
}

async function counts(database: Database): Promise<{ [Part in WholePart]: number }> {
  const found = await database.ask(
    EVERYBODY,
    ...WHOLE_PARTS.map((part) => statement(`SELECT count(*) AS found FROM ${TABLES[part]}`)),
  );
  const entries = WHOLE_PARTS.map((part, i) => [part, Number(found[i]?.[0]?.found)]);
  return Object.fromEntries(entries) as { [Part in WholePart]: number };
}

async function filling(database: Database): Promise<Filling | undefined> {
  const [row] = await everybodys(database, statement("SELECT body FROM filling"));
  return row && bodyOf<Filling>(row);
}

async function fill(database: Database, begun: Filling, secret: Secret | undefined): Promise<void> {
  const mark = secret ? secretMark(secret, begun.from) : null;
  await database.write(EVERYBODY, async (transaction) => {
    // One at a time, also where there is no row to lock yet.
    await transaction.rows("SELECT pg_advisory_xact_lock(hashtextextended('keepsake filling', 0))");
    const noted = await transaction.rows("SELECT 1 FROM filling");
    if (noted.length === 0) {
      if (await holdsSomething(transaction)) throw notEmpty();
      transaction.later("INSERT INTO filling (body) VALUES ($1)", JSON.stringify(begun));
    } else transaction.later("UPDATE filling SET body = $1", JSON.stringify(begun));
    transaction.later("UPDATE identity SET id = $1, secret_mark = $2", textOf(begun.from), mark);
  });
  await clear(database);
}

async function holdsSomething(transaction: Transaction): Promise<boolean> {
  const tables = WHOLE_PARTS.map((part) => `EXISTS (SELECT FROM ${TABLES[part]})`);
  const [row] = await transaction.rows(`SELECT ${tables.join(" OR ")} AS found`);
  return row?.found === "t";
}

/** Many users at once, and yet not all: one statement has only so long. Rows go before those that they lean on. */
const AT_ONCE = 50;
const OF_PERSON: readonly WholePart[] = [
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

async function clear(database: Database): Promise<void> {
  database.people.clear();
  for (;;) {
    const users = await everybodys(
      database,
      statement("SELECT number FROM users ORDER BY number LIMIT $1", AT_ONCE),
    );
    if (users.length === 0) break;
    const people = users.map(({ number }) => number);
    for (const table of ["blocks", ...OF_PERSON.map((part) => TABLES[part])]) {
      await database.write(EVERYBODY, async (transaction) => {
        transaction.later(`DELETE FROM ${table} WHERE person = ANY ($1::bigint[])`, people);
      });
    }
    await database.write(EVERYBODY, async (transaction) => {
      transaction.later("DELETE FROM users WHERE number = ANY ($1::bigint[])", people);
    });
  }
  for (const part of ["answers", "jobs", "backups", "calls", "turns"] as const) {
    await database.write(EVERYBODY, async (transaction) => {
      transaction.later(`DELETE FROM ${TABLES[part]}`);
    });
  }
}

/** Ten minutes: tables of some ten million rows. */
const SIZES_MS = 600_000;

/**
 * Has the server look at the sizes of what it was given, by which it plans. It would in its own time, and until then plan as if
 * the tables were as good as empty.
 */
async function learnSizes(database: Database): Promise<void> {
  const { schema } = database.settings;
  const tables = [...Object.values(TABLES), "blocks"].map((name) => `${quoted(schema)}.${quoted(name)}`);
  // What cannot be had now is not wrong without it.
  await database.alone([`ANALYZE ${tables.join(", ")}`], { timeoutMs: SIZES_MS }).catch(() => undefined);
}

function notFilled(): MemoryError {
  return new MemoryError("conflict", "PostgreSQL: this database is not being filled from another.");
}

function notEmpty(): MemoryError {
  return new MemoryError(
    "conflict",
    "PostgreSQL: this database holds something already. Name one that is empty.",
  );
}
