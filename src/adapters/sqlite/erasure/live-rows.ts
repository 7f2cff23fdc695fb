import type { SqliteDatabase } from "../database.ts";
import { type RawSearch, SEPARATOR } from "./raw-search.ts";

/**
 * Adds to `counts` how often the file contains each text because of live rows, of all users. Rows are searched in the form in which
 * SQLite stores them, once in their table and once in each index. So a text that is in a row only by chance, from the end of one
 * column into the beginning of the next, is explained too.
 */
export function countInLiveRows({ handle }: SqliteDatabase, search: RawSearch, counts: number[]): void {
  const records = createRecordSearch(search, counts);
  const tables = handle
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    .all();
  for (const { name, wr } of tables) {
    const { columns, layouts } = readLayouts(handle, String(name), Number(wr) === 1);
    const rows = handle.prepare(`SELECT ${columns.join(", ")} FROM ${quoteName(String(name))}`);
    for (const row of rows.iterate()) {
      for (const layout of layouts)
        records.add(layout.map((column) => (column === undefined ? null : row[column])));
    }
  }
  records.flush();
}

type Handle = SqliteDatabase["handle"];
/** The columns of a record in the order in which they are stored; undefined where NULL is stored instead. */
type RecordLayout = readonly (string | undefined)[];

/** The name under which a row's number is read. */
const ROW_NUMBER = "number of the row";

/** The columns to read, as SQL, and the records that each row is stored in: one of its table, and one of each index. */
function readLayouts(
  handle: Handle,
  table: string,
  isItsOwnIndex: boolean,
): { readonly columns: readonly string[]; readonly layouts: readonly RecordLayout[] } {
  const indexes = handle.prepare("SELECT name, origin FROM pragma_index_list(:table)").all({ table });
  const all = handle
    .prepare("SELECT name, type, pk FROM pragma_table_xinfo(:table) WHERE hidden IN (0, 3) ORDER BY cid")
    .all({ table });
  const isAlias = ({ type, pk }: (typeof all)[number]): boolean =>
    pk === 1 && type === "INTEGER" && all.filter((one) => Number(one.pk) > 0).length === 1;
  const columns = all.map(({ name }) => quoteName(String(name)));
  const ofIndexes = indexes.map(({ name }) =>
    handle
      .prepare("SELECT cid, name FROM pragma_index_xinfo(:index) ORDER BY seqno")
      .all({ index: name ?? "" })
      .map((one) => (one.cid === -1 ? ROW_NUMBER : one.name === null ? undefined : String(one.name))),
  );
  // The primary key of a WITHOUT ROWID table is the table itself.
  if (isItsOwnIndex) return { columns, layouts: ofIndexes };
  // The primary key that is the row's number is stored as such, and as NULL in its column.
  const ofTable = all.map((column) => (isAlias(column) ? undefined : String(column.name)));
  return {
    columns: [...columns, `rowid AS ${quoteName(ROW_NUMBER)}`],
    layouts: [ofTable, ...ofIndexes],
  };
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

interface RecordSearch {
  add(values: readonly unknown[]): void;
  flush(): void;
}

/** Bytes of records that are searched at once. */
const BATCH_BYTES = 1024 * 1024;

/** Collects records and searches many at once, which takes a fraction of the time of one search for each value. */
function createRecordSearch(search: RawSearch, counts: number[]): RecordSearch {
  const buffer = Buffer.alloc(BATCH_BYTES);
  let filled = 0;
  const flush = (): void => {
    search.count(buffer.subarray(0, filled), counts);
    filled = 0;
  };
  return {
    add(values) {
      const needed = values.reduce<number>((sum, value) => sum + measureValue(value), 1);
      if (needed > BATCH_BYTES) {
        const large = Buffer.alloc(needed);
        search.count(large.subarray(0, writeRecord(large, 0, values)), counts);
        return;
      }
      if (needed > BATCH_BYTES - filled) flush();
      filled = writeRecord(buffer, filled, values);
      buffer[filled++] = SEPARATOR;
      // A text with such a byte could reach into the next record.
      if (search.isBinary) flush();
    },
    flush,
  };
}

/** The most bytes that UTF-8 needs for one unit of a string. */
const MAX_UTF8_BYTES = 3;
/** The most bytes of a number, and of the type of a value. */
const MAX_NUMBER_BYTES = 8;
const MAX_TYPE_BYTES = 9;

function measureValue(value: unknown): number {
  if (typeof value === "string") return value.length * MAX_UTF8_BYTES + MAX_TYPE_BYTES;
  return (value instanceof Uint8Array ? value.length : MAX_NUMBER_BYTES) + MAX_TYPE_BYTES;
}

/** Writes the types and then the values, as in a record of SQLite (sqlite.org/fileformat2.html, 2.1). Gives its end. */
function writeRecord(buffer: Buffer, start: number, values: readonly unknown[]): number {
  let at = start;
  for (const value of values) at = writeVarint(buffer, at, toSerialType(value));
  for (const value of values) at = writeValue(buffer, at, value);
  return at;
}

const REAL = 7;
const FIRST_BLOB = 12;
const FIRST_TEXT = 13;
/** Bytes of an integer by its type. */
const INTEGER_BYTES: readonly number[] = [0, 1, 2, 3, 4, 6, 8];

function toSerialType(value: unknown): number {
  if (typeof value === "string") return FIRST_TEXT + 2 * Buffer.byteLength(value);
  if (value instanceof Uint8Array) return FIRST_BLOB + 2 * value.length;
  if (typeof value !== "number") return 0;
  if (!Number.isInteger(value)) return REAL;
  if (value === 0 || value === 1) return 8 + value;
  return INTEGER_BYTES.findIndex(
    (bytes) => bytes > 0 && value >= -(2 ** (8 * bytes - 1)) && value < 2 ** (8 * bytes - 1),
  );
}

function writeValue(buffer: Buffer, at: number, value: unknown): number {
  if (typeof value === "string") return at + buffer.write(value, at, "utf8");
  if (value instanceof Uint8Array) {
    buffer.set(value, at);
    return at + value.length;
  }
  const type = toSerialType(value);
  if (typeof value !== "number" || type > REAL) return at;
  if (type === REAL) return buffer.writeDoubleBE(value, at);
  const bytes = INTEGER_BYTES[type] ?? 0;
  if (bytes === MAX_NUMBER_BYTES) return buffer.writeBigInt64BE(BigInt(value), at);
  return buffer.writeIntBE(value, at, bytes);
}

/** Seven bits a byte, the highest first; all but the last have the top bit. */
function writeVarint(buffer: Buffer, start: number, value: number): number {
  const groups = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    groups.unshift((rest % 128) + 128);
  let at = start;
  for (const group of groups) buffer[at++] = group;
  return at;
}
