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

const NUMBER = ["number"];

/** Summed first, in the order of their sums: it is stored, so only add at the end. */
const SUMMED: readonly (readonly [name: string, columns: string, key: readonly string[]])[] = [
  ["messages", "user id turn revision body", NUMBER],
  ["versions", "user id version body", NUMBER],
  ["heads", "user id version revision", NUMBER],
  ["units", "user id type owner first last space revision terms vector", NUMBER],
  ["gone", "user type id revision", ["user", "type", "id"]],
  ["tombstones", "user hash type at", ["user", "hash"]],
  ["links", "user source type target strength", ["user", "source", "type", "target"]],
  ["log", "user revision body", ["user", "revision"]],
  ["receipts", "user key revision body", ["user", "key"]],
  ["erasures", "user id body trace", NUMBER],
];

const OTHERS: typeof SUMMED = [
  ["recalls", "user id body", NUMBER],
  ["answers", "project name key at state request body erasures", ["project", "name", "key"]],
  ["erasing", "user receipt part body", NUMBER],
  ["backups", "name body", NUMBER],
  ["blocks", "user revision bytes", ["user"]],
  ["identity", "id", ["id"]],
];

export const SUM_BYTES = 16;
export const SUMS_BYTES: number = SUMMED.length * SUM_BYTES;

/** All of them, the summed ones first. */
export const DIGEST_TABLES: readonly DigestTable[] = [...SUMMED, ...OTHERS].map(([name, all, key], i) => {
  const columns = all.split(" ");
  return {
    name,
    columns,
    isNumbered: key === NUMBER,
    key,
    user: columns.indexOf("user"),
    sum: i < SUMMED.length ? i : -1,
  };
});

/** The table of a name. */
export function digestTable(name: string): DigestTable {
  const found = DIGEST_TABLES.find((table) => table.name === name);
  if (!found) throw new TypeError(`no digests are kept for the table ${name}`);
  return found;
}
