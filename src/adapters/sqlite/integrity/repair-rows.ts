import { existsSync } from "node:fs";
import type { SQLInputValue } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { MemoryError } from "../../../errors.ts";
import type { Integrity } from "../../../ports/memory-store.ts";
import { findUser, readPragma, type SqliteDatabase, type SqliteRow } from "../database.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { APPLICATION_ID } from "../open.ts";
import {
  addDigest,
  DIGEST_TABLES,
  type DigestBytes,
  type DigestTable,
  isSameBytes,
  SUM_BYTES,
  SUMS_BYTES,
} from "./row-digest.ts";
import { repairAttachmentLabels, repairAttachments } from "./verify-attachments.ts";
import {
  countWithoutDigest,
  dropDigests,
  fillDigests,
  saveUserSums,
  withSumsPaused,
} from "./verify-digests.ts";

/** A repair of one table of a user. */
interface TableRepair {
  readonly table: DigestTable;
  /** Rows to delete. */
  readonly drop: readonly SqliteRow[];
  /** Rows to insert, with their digests. */
  readonly put: readonly SqliteRow[];
}

/** Repairs what can be repaired, or only counts it; see `Integrity`. */
function repairRows(database: SqliteDatabase, file: string | undefined, isDryRun: boolean): number {
  if (database.guard?.key !== "same") return 0;
  const copy = file === undefined ? undefined : openCopy(file);
  try {
    let count = repairUsers(database, copy, isDryRun);
    for (const user of readUsers(database)) {
      const repairs = DIGEST_TABLES.flatMap((table) => {
        const repair = table.sum < 0 ? undefined : planRepair(database, copy, user, table);
        return repair ? [repair] : [];
      });
      if (!isDryRun && repairs.length > 0) applyRepairs(database, repairs, Number(user.id));
      count += repairs.reduce((sum, { drop, put }) => sum + Math.max(drop.length, put.length), 0);
    }
    for (const table of DIGEST_TABLES)
      if (table.sum < 0) count += repairUnsummedTable(database, copy, table, isDryRun);
    count += repairAttachmentLabels(database, isDryRun);
    return count + (copy ? repairAttachments(database, copy, isDryRun) : 0);
  } finally {
    copy?.close();
  }
}

function openCopy(file: string): DatabaseSync {
  if (!existsSync(file)) {
    throw new MemoryError("unavailable", `backup ${file}: the file does not exist. Check its name.`);
  }
  const url = pathToFileURL(file);
  url.search = "immutable=1";
  const handle = new DatabaseSync(url, { readOnly: true });
  try {
    if (readPragma(handle, "application_id") === APPLICATION_ID && hasDigests(handle)) return handle;
  } catch {
    // A damaged file is refused like one of another program.
  }
  handle.close();
  throw new MemoryError(
    "unsupported",
    `backup ${file}: the file is not a backup of this program, or it is older than row digests. Restore the whole backup instead.`,
  );
}

function hasDigests(handle: DatabaseSync): boolean {
  return (
    handle.prepare("SELECT 1 FROM pragma_table_info('messages') WHERE name = 'digest'").get() !== undefined
  );
}

function readUsers({ handle }: SqliteDatabase): SqliteRow[] {
  return handle.prepare("SELECT * FROM users").all() as SqliteRow[];
}

/** Repairs changed rows of users, if the copy has them with the same digest. */
function repairUsers(database: SqliteDatabase, copy: DatabaseSync | undefined, isDryRun: boolean): number {
  let count = 0;
  for (const row of readUsers(database)) {
    const { sums, digest } = row;
    if (!(digest instanceof Uint8Array) || isSoundUser(database, row)) continue;
    const other = copy?.prepare("SELECT * FROM users WHERE id = :id").get({ id: Number(row.id) }) as
      | SqliteRow
      | undefined;
    // The sums themselves may have been changed; then recomputed sums match the digest.
    const resummed: SqliteRow = {
      ...row,
      sums: sums instanceof Uint8Array ? sumUserDigests(database, Number(row.id)) : null,
    };
    const sound = [resummed, other].find(
      (one) => one && isSoundUser(database, one) && isSameBytes(one.digest, digest),
    );
    if (!sound) continue;
    count += 1;
    if (isDryRun) continue;
    withSumsPaused(database, () => {
      const { project, name, revision, turns, sums: kept, id } = sound;
      database.handle
        .prepare(
          "UPDATE users SET project = :project, name = :name, revision = :revision, turns = :turns, sums = :kept WHERE id = :id",
        )
        .run({ project, name, revision, turns, kept, id } as { [name: string]: SQLInputValue });
      database.users.clear();
    });
  }
  return count;
}

function isSoundUser({ guard }: SqliteDatabase, row: SqliteRow): boolean {
  const digest = row.sums instanceof Uint8Array ? guard?.userDigest(row, row.sums) : undefined;
  return digest !== undefined && isSameBytes(row.digest, digest);
}

/** The sums over the current digests of a user's rows. */
function sumUserDigests({ handle }: SqliteDatabase, user: number): DigestBytes {
  const sums = new Uint8Array(SUMS_BYTES);
  for (const { name, sum } of DIGEST_TABLES) {
    if (sum < 0) continue;
    for (const { digest } of handle
      .prepare(`SELECT digest FROM ${name} WHERE user = :user`)
      .iterate({ user })) {
      if (digest instanceof Uint8Array) addDigest(sums, sum, digest);
    }
  }
  return sums;
}

function readUserRows(handle: DatabaseSync, { name }: DigestTable, user: number): SqliteRow[] {
  return handle.prepare(`SELECT * FROM ${name} WHERE user = :user`).all({ user }) as SqliteRow[];
}

/** The repair that makes the sum of a table match; undefined if it already matches, or nothing makes it match. */
function planRepair(
  database: SqliteDatabase,
  copy: DatabaseSync | undefined,
  user: SqliteRow,
  table: DigestTable,
): TableRepair | undefined {
  if (!isSoundUser(database, user)) return undefined;
  const wanted = (user.sums as Uint8Array).subarray(table.sum * SUM_BYTES, (table.sum + 1) * SUM_BYTES);
  const rows = readUserRows(database.handle, table, Number(user.id));
  const isSound = (row: SqliteRow): boolean =>
    row.digest instanceof Uint8Array && (database.guard?.isSound(table, row) ?? false);
  const sound = rows.filter(isSound);
  const unsound = rows.filter((row) => !isSound(row));
  const missing = xorDigests([wanted, ...sound.map(getRowDigest)]);
  if (unsound.length === 0 && isZero(missing)) return undefined;
  const keyOf = (row: SqliteRow): string => JSON.stringify(table.key.map((column) => row[column]));
  const here = new Map(sound.map((row) => [keyOf(row), row]));
  const lost = new Set(unsound.map(keyOf));
  const others = copy ? readUserRows(copy, table, Number(user.id)).filter(isSound) : [];
  const absent = others.filter((row) => !here.has(keyOf(row)));
  const changed = absent.filter((row) => lost.has(keyOf(row)));
  const redone = unsound.map(
    (row): SqliteRow => ({ ...row, digest: database.guard?.digestOf(table, row) ?? null }),
  );
  const candidates: (readonly SqliteRow[])[] = [
    [],
    redone,
    changed,
    absent,
    absent.filter((row) => !lost.has(keyOf(row))),
  ];
  for (const row of [...redone, ...absent]) candidates.push([row]);
  const put = candidates.find((candidate) => isSameBytes(xorDigests(candidate.map(getRowDigest)), missing));
  if (put) return { table, drop: unsound, put };
  // The remaining case is a row with a valid digest that is outdated, or should not exist.
  if (unsound.length > 0) return undefined;
  const orphan = sound.find((row) => isSameBytes(missing, getRowDigest(row)));
  if (orphan) return { table, drop: [orphan], put: [] };
  const newer = others.find((row) => {
    const current = here.get(keyOf(row));
    return current && isSameBytes(xorDigests([getRowDigest(current), getRowDigest(row)]), missing);
  });
  const older = newer && here.get(keyOf(newer));
  return newer && older ? { table, drop: [older], put: [newer] } : undefined;
}

function getRowDigest({ digest }: SqliteRow): DigestBytes {
  return digest instanceof Uint8Array ? Uint8Array.from(digest) : new Uint8Array(SUM_BYTES);
}

function xorDigests(digests: readonly Uint8Array[]): DigestBytes {
  const sum = new Uint8Array(SUM_BYTES);
  for (const digest of digests) addDigest(sum, 0, digest);
  return sum;
}

function isZero(sum: Uint8Array): boolean {
  return sum.every((byte) => byte === 0);
}

/** The sums stay unchanged, because the rows were verified against them. */
function applyRepairs(database: SqliteDatabase, repairs: readonly TableRepair[], user: number): void {
  const { handle } = database;
  withSumsPaused(database, () => {
    handle.exec("PRAGMA defer_foreign_keys = ON");
    for (const { table, drop } of repairs.toReversed())
      for (const row of drop) deleteRow(database, table, row);
    for (const { table, put } of repairs) for (const row of put) insertRepairedRow(database, table, row);
    handle.prepare("DELETE FROM blocks WHERE user = :user").run({ user });
  });
}

function deleteRow({ handle }: SqliteDatabase, { name, key }: DigestTable, row: SqliteRow): void {
  const condition = key.map((column) => `${column} = :${column}`).join(" AND ");
  handle.prepare(`DELETE FROM ${name} WHERE ${condition}`).run(toParameters(row, key));
}

function insertRepairedRow(
  { handle }: SqliteDatabase,
  { name, columns: bound, isNumbered }: DigestTable,
  row: SqliteRow,
): void {
  const columns = isNumbered ? ["number", ...bound] : bound;
  const values = columns.map((column) => `:${column}`).join(", ");
  handle
    .prepare(`INSERT INTO ${name} (${columns.join(", ")}) VALUES (${values})`)
    .run(toParameters(row, columns));
}

function toParameters(row: SqliteRow, columns: readonly string[]): { [column: string]: SQLInputValue } {
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? null]));
}

/** Repairs tables without sums: a changed row if the copy has the row of its digest, and search indexes, which are rebuilt on demand. */
function repairUnsummedTable(
  database: SqliteDatabase,
  copy: DatabaseSync | undefined,
  table: DigestTable,
  isDryRun: boolean,
): number {
  const rows = database.handle.prepare(`SELECT * FROM ${table.name}`).all() as SqliteRow[];
  const condition = table.key.map((column) => `${column} = :${column}`).join(" AND ");
  let count = 0;
  for (const row of rows) {
    if (!(row.digest instanceof Uint8Array) || database.guard?.isSound(table, row)) continue;
    const other =
      table.name === "identity"
        ? copy?.prepare("SELECT * FROM identity").get()
        : copy?.prepare(`SELECT * FROM ${table.name} WHERE ${condition}`).get(toParameters(row, table.key));
    const isProven =
      other &&
      isSameBytes(other.digest, row.digest) &&
      (database.guard?.isSound(table, other as SqliteRow) ?? false);
    if (!isProven && table.name !== "blocks") continue;
    count += 1;
    if (isDryRun) continue;
    withSumsPaused(database, () => {
      deleteRow(database, table, row);
      if (isProven) insertRepairedRow(database, table, other as SqliteRow);
    });
  }
  return count;
}

/** See `Integrity.acceptUnits`. */
function acceptUnits(database: SqliteDatabase, user: number): boolean {
  const { guard, handle } = database;
  const row = handle.prepare("SELECT * FROM users WHERE id = :user").get({ user }) as SqliteRow | undefined;
  if (!row || guard?.key !== "same" || !(row.sums instanceof Uint8Array)) return false;
  const derived = DIGEST_TABLES.filter(({ name }) => name === "units" || name === "gone");
  if (!derived.every((table) => readUserRows(handle, table, user).every((one) => guard.isSound(table, one))))
    return false;
  const now = sumUserDigests(database, user);
  const sums = Uint8Array.from(row.sums);
  for (const { sum } of derived) {
    sums.set(now.subarray(sum * SUM_BYTES, (sum + 1) * SUM_BYTES), sum * SUM_BYTES);
  }
  return isSoundUser(database, row) && saveUserSums(database, user, sums);
}

type RunIntegrityWork = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** Operations on the row digests of a database, over the store's own connection. */
export function createSqliteIntegrity(database: SqliteDatabase, run: RunIntegrityWork): Integrity {
  return {
    state: ({ counts = false } = {}) =>
      run(() => ({
        secret: database.guard?.key ?? "none",
        withoutDigest: counts ? countWithoutDigest(database) : 0,
        damageSeen: database.guard?.damageSeen ?? 0,
      })),
    addMissingDigests: () => run(() => fillDigests(database)),
    adoptSecret: () =>
      run(() => {
        if (database.guard?.adoptKey()) dropDigests(database);
      }),
    repairRows: (file) => run(() => repairRows(database, file, false)),
    countRepairable: (file) => run(() => repairRows(database, file, true)),
    acceptUnits: (scope) => run(() => acceptUnits(database, findUser(database, scope)?.id ?? -1)),
  };
}
