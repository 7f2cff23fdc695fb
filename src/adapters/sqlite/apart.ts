import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { createSqliteDatabase, type SqliteDatabase, type SqliteRow } from "./database.ts";

/** So many rows are read and made into objects in one go: about two milliseconds. */
const SLICE_ROWS = 200;
/** The same as on opening: `patiently` waits for longer. */
const BLOCKING_MS = 50;

/**
 * Reads as of one moment, over a connection of its own: between two slices others have their turn, and what they read and
 * write over the first connection is no part of this. `undefined` for a database that no other connection would see.
 */
export async function readInSnapshot<Result>(
  { path, guard }: SqliteDatabase,
  work: (own: SqliteDatabase) => Promise<Result>,
): Promise<Result | undefined> {
  if (path === ":memory:") return undefined;
  const handle = new DatabaseSync(path, { timeout: BLOCKING_MS, readOnly: true });
  try {
    handle.exec("BEGIN");
    return await work(createSqliteDatabase(path, handle, guard));
  } finally {
    handle.close();
  }
}

/**
 * The rows with the numbers that one statement gives (`number`), read by another (`:numbers`, as `wanted.value`) in slices, in
 * the order of the first.
 */
export async function readRowsInSlices<Made>(
  database: SqliteDatabase,
  numbered: string,
  values: { readonly [name: string]: string | number },
  read: string,
  make: (row: SqliteRow) => Made,
): Promise<Made[]> {
  const numbers = database
    .statement(numbered)
    .all(values)
    .map(({ number }) => Number(number));
  const made: Made[] = [];
  const statement = database.statement(read);
  for (let from = 0; from < numbers.length; from += SLICE_ROWS) {
    await setImmediate();
    const rows = statement.all({ numbers: JSON.stringify(numbers.slice(from, from + SLICE_ROWS)) });
    for (const row of rows) made.push(make(row));
  }
  return made;
}
