import type { SqliteDatabase } from "./database.ts";
import type { RawSearch } from "./raw-search.ts";

/**
 * Adds to `counts` how often each text stands in what the database rightly holds, of anybody, as often as the file
 * holds it: an indexed column stands in its table and again in each index.
 */
export function countInLiveRows(database: SqliteDatabase, search: RawSearch, counts: number[]): void {
  const { handle } = database;
  const tables = handle
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    .all();
  for (const { name, wr } of tables) {
    const copies = countColumnCopies(database, String(name), Number(wr) === 1);
    const columns = [...copies.keys()].map(quoteName).join(", ");
    for (const row of handle.prepare(`SELECT ${columns} FROM ${quoteName(String(name))}`).iterate()) {
      for (const [column, times] of copies) countValue(row[column], times, search, counts);
    }
  }
}

/** Column -> how often the file holds each of its values. */
function countColumnCopies(
  { handle }: SqliteDatabase,
  table: string,
  isItsOwnIndex: boolean,
): Map<string, number> {
  const copies = new Map<string, number>();
  const add = ({ name }: { [column: string]: unknown }): void => {
    if (name !== null) copies.set(String(name), (copies.get(String(name)) ?? 0) + 1);
  };
  handle.prepare("SELECT name FROM pragma_table_xinfo(:table)").all({ table }).forEach(add);
  for (const index of handle.prepare("SELECT name, origin FROM pragma_index_list(:table)").all({ table })) {
    // The primary key of such a table is the table itself.
    if (isItsOwnIndex && index.origin === "pk") continue;
    handle
      .prepare("SELECT name FROM pragma_index_xinfo(:index)")
      .all({ index: index.name ?? "" })
      .forEach(add);
  }
  return copies;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function countValue(value: unknown, times: number, search: RawSearch, counts: number[]): void {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  if (!(bytes instanceof Uint8Array)) return;
  for (let i = 0; i < times; i += 1) search.count(bytes, counts);
}
