import { MemoryError } from "../../../errors.ts";
import { type Filling, WHOLE_PARTS, type Whole, type WholePart } from "../../../ports/whole.ts";
import { TABLES } from "../../shared/whole-tables.ts";
import type { Database } from "../database.ts";
import { pageOf } from "./read.ts";
import { putRows } from "./write.ts";

type Run = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** The database as a whole, over the record's own connection. */
export function sqliteWhole(database: Database, run: Run): Whole {
  return {
    parts: WHOLE_PARTS,
    counts: () =>
      run(() => {
        refuseErasing(database);
        return counts(database);
      }),
    page: (part, options) => run(() => pageOf(database, part, options)),
    filling: () => run(() => filling(database)),
    fill: (begun) => run(() => fill(database, begun)),
    put: (part, rows) =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          putRows(database, part, rows);
        }),
      ),
    noteFilling: (note) =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          noteFilling(database, note);
        }),
      ),
    filled: () =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          database.handle.exec("DROP TABLE filling");
        }),
      ),
  };
}

function counts(database: Database): { [Part in WholePart]: number } {
  const entries = WHOLE_PARTS.map((part) => [
    part,
    Number(database.statement(`SELECT count(*) AS found FROM ${TABLES[part]}`).get()?.found),
  ]);
  return Object.fromEntries(entries) as { [Part in WholePart]: number };
}

/** The note stands in a table that is there only while the database is being filled. */
function filling({ handle }: Database): Filling | undefined {
  const table = handle.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'filling'").get();
  const row = table && handle.prepare("SELECT body FROM filling").get();
  return row && (JSON.parse(String(row.body)) as Filling);
}

function noteFilling({ handle }: Database, note: Filling): void {
  handle.exec("DELETE FROM filling");
  handle.prepare("INSERT INTO filling (body) VALUES (:body)").run({ body: JSON.stringify(note) });
}

function fill(database: Database, begun: Filling): void {
  const { handle } = database;
  database.transaction(() => {
    if (filling(database)) clear(database);
    else if (Object.values(counts(database)).some((count) => count > 0)) {
      throw new MemoryError(
        "conflict",
        `database ${database.path}: it holds something already. Name one that is empty, or not there yet.`,
      );
    } else handle.exec("CREATE TABLE filling (body TEXT NOT NULL) STRICT");
    noteFilling(database, begun);
    database.statement("UPDATE identity SET id = :id").run({ id: begun.from });
  });
}

function clear(database: Database): void {
  database.users.clear();
  // Rows go before those that they lean on.
  for (const part of WHOLE_PARTS.toReversed()) database.handle.exec(`DELETE FROM ${TABLES[part]}`);
}

/** Rows of a half-done erasure would arrive without the note that brings it to its end. */
function refuseErasing({ path, handle }: Database): void {
  if (!handle.prepare("SELECT 1 FROM erasing WHERE part = 0 LIMIT 1").get()) return;
  throw new MemoryError(
    "unavailable",
    `database ${path}: an erasure is under way. Copy the database once it has ended.`,
  );
}

function refuseUnfilled(database: Database): void {
  if (!filling(database)) {
    throw new MemoryError("conflict", `database ${database.path}: it is not being filled from another.`);
  }
}
