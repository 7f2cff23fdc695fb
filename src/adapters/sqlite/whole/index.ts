import { MemoryError } from "../../../errors.ts";
import { type CopyProgress, DUMP_PARTS, type DumpPart, type StoreDump } from "../../../ports/whole.ts";
import { PART_TABLES } from "../../shared/whole-tables.ts";
import type { SqliteDatabase } from "../database.ts";
import { readPage } from "./read.ts";
import { insertDumpRows } from "./write.ts";

type RunDumpWork = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** The database as a whole, over the record's own connection. */
export function createSqliteStoreDump(database: SqliteDatabase, run: RunDumpWork): StoreDump {
  return {
    parts: DUMP_PARTS,
    counts: () =>
      run(() => {
        refuseErasing(database);
        return countPartRows(database);
      }),
    page: (part, options) => run(() => readPage(database, part, options)),
    copyProgress: () => run(() => readFillProgress(database)),
    beginCopy: (begun) => run(() => beginFill(database, begun)),
    putRows: (part, rows) =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          insertDumpRows(database, part, rows);
        }),
      ),
    saveCopyProgress: (note) =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          saveFillProgress(database, note);
        }),
      ),
    finishCopy: () =>
      run(() =>
        database.transaction(() => {
          refuseUnfilled(database);
          database.handle.exec("DROP TABLE filling");
        }),
      ),
  };
}

function countPartRows(database: SqliteDatabase): { [Part in DumpPart]: number } {
  const entries = DUMP_PARTS.map((part) => [
    part,
    Number(database.statement(`SELECT count(*) AS found FROM ${PART_TABLES[part]}`).get()?.found),
  ]);
  return Object.fromEntries(entries) as { [Part in DumpPart]: number };
}

/** The note stands in a table that is there only while the database is being filled. */
function readFillProgress({ handle }: SqliteDatabase): CopyProgress | undefined {
  const table = handle.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'filling'").get();
  const row = table && handle.prepare("SELECT body FROM filling").get();
  return row && (JSON.parse(String(row.body)) as CopyProgress);
}

function saveFillProgress({ handle }: SqliteDatabase, note: CopyProgress): void {
  handle.exec("DELETE FROM filling");
  handle.prepare("INSERT INTO filling (body) VALUES (:body)").run({ body: JSON.stringify(note) });
}

function beginFill(database: SqliteDatabase, begun: CopyProgress): void {
  const { handle } = database;
  database.transaction(() => {
    if (readFillProgress(database)) deleteAllRows(database);
    else if (Object.values(countPartRows(database)).some((count) => count > 0)) {
      throw new MemoryError(
        "conflict",
        `database ${database.path}: it holds something already. Name one that is empty, or not there yet.`,
      );
    } else handle.exec("CREATE TABLE filling (body TEXT NOT NULL) STRICT");
    saveFillProgress(database, begun);
    database.statement("UPDATE identity SET id = :id").run({ id: begun.from });
  });
}

function deleteAllRows(database: SqliteDatabase): void {
  database.users.clear();
  // Rows go before those that they lean on.
  for (const part of DUMP_PARTS.toReversed()) database.handle.exec(`DELETE FROM ${PART_TABLES[part]}`);
}

/** Rows of a half-done erasure would arrive without the note that brings it to its end. */
function refuseErasing({ path, handle }: SqliteDatabase): void {
  if (!handle.prepare("SELECT 1 FROM erasing WHERE part = 0 LIMIT 1").get()) return;
  throw new MemoryError(
    "unavailable",
    `database ${path}: an erasure is under way. Copy the database once it has ended.`,
  );
}

function refuseUnfilled(database: SqliteDatabase): void {
  if (!readFillProgress(database)) {
    throw new MemoryError("conflict", `database ${database.path}: it is not being filled from another.`);
  }
}
