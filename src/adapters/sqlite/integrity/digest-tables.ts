/** A table whose rows bear digests. */
export interface DigestTable {
  readonly name: string;
  /** What a digest binds: all columns but its own and SQLite's row number, in this order. */
  readonly columns: readonly string[];
  /** Whether rows have a number of SQLite's; it comes along where a row is put back. */
  readonly isNumbered: boolean;
  /** The columns that name a row. */
  readonly key: readonly string[];
  /** Where the user's number stands among the columns; -1 for none. */
  readonly user: number;
  /** The place of its sum in `users.sums`; -1 where none is kept, because rows come and go beside the user's revision. */
  readonly sum: number;
}

const NUMBER_KEY = ["number"];

/** Summed first, in the order of their sums: it is stored, so only add at the end. */
const SUMMED_TABLES: readonly (readonly [name: string, columns: string, key: readonly string[]])[] = [
  ["messages", "user id turn revision body", NUMBER_KEY],
  ["versions", "user id version body", NUMBER_KEY],
  ["heads", "user id version revision", NUMBER_KEY],
  ["units", "user id type owner first last space revision terms vector", NUMBER_KEY],
  ["gone", "user type id revision", ["user", "type", "id"]],
  ["tombstones", "user hash type at", ["user", "hash"]],
  ["links", "user source type target strength", ["user", "source", "type", "target"]],
  ["log", "user revision body", ["user", "revision"]],
  ["receipts", "user key revision body", ["user", "key"]],
  ["erasures", "user id body trace", NUMBER_KEY],
];

const UNSUMMED_TABLES: typeof SUMMED_TABLES = [
  ["recalls", "user id body", NUMBER_KEY],
  ["answers", "project name key at state request body erasures", ["project", "name", "key"]],
  ["erasing", "user receipt part body", NUMBER_KEY],
  ["backups", "name body", NUMBER_KEY],
  ["blocks", "user revision bytes", ["user"]],
  ["identity", "id", ["id"]],
];

export const SUM_BYTES = 16;
export const SUMS_BYTES: number = SUMMED_TABLES.length * SUM_BYTES;

/** All of them, the summed ones first. */
export const DIGEST_TABLES: readonly DigestTable[] = [...SUMMED_TABLES, ...UNSUMMED_TABLES].map(
  ([name, all, key], i) => {
    const columns = all.split(" ");
    return {
      name,
      columns,
      isNumbered: key === NUMBER_KEY,
      key,
      user: columns.indexOf("user"),
      sum: i < SUMMED_TABLES.length ? i : -1,
    };
  },
);

/** The table of a name. */
export function getDigestTable(name: string): DigestTable {
  const found = DIGEST_TABLES.find((table) => table.name === name);
  if (!found) throw new TypeError(`no digests are kept for the table ${name}`);
  return found;
}
