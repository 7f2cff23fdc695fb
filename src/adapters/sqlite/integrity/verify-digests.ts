import { setImmediate } from "node:timers/promises";
import type { Fault, FaultyRow } from "../../../ports/memory-store.ts";
import { readInSnapshot, type SqliteDatabase, type SqliteRow } from "../database.ts";
import {
  addDigest,
  DIGEST_TABLES,
  type DigestBytes,
  type DigestTable,
  isSameBytes,
  SUMS_BYTES,
} from "./row-digest.ts";

/** The most rows that a fault names. */
const MAX_NAMED_ROWS = 100;
/** Rows checked per slice: about five milliseconds. */
const VERIFY_SLICE_ROWS = 1000;

const CHANGED = "changed since they were written";
const UNBALANCED = "missing, added or put back to an older state";
const WITHOUT_DIGEST = "without a digest, so written by another program";

/** Whether a fault of a check says that another program changed, added or removed rows. */
export function isAlteration({ problem }: Pick<Fault, "problem">): boolean {
  return problem === CHANGED || problem === UNBALANCED || problem === WITHOUT_DIGEST;
}

/**
 * Checks every row against its digest, and every user's rows against their sums, in one snapshot. Empty if nothing can be checked.
 * Rows without a digest count as sound.
 */
export async function verifyDigests(database: SqliteDatabase): Promise<Fault[]> {
  const { guard } = database;
  if (guard?.key !== "same") return [];
  return (await readInSnapshot(database, verifyAll)) ?? verifyAll(database);
}

async function verifyAll(database: SqliteDatabase): Promise<Fault[]> {
  const faults = createFaultList();
  const sums = new Map<number, DigestBytes>();
  const isComplete = hasAllDigests(database);
  for (const table of DIGEST_TABLES) await verifyTable(database, table, { faults, sums, isComplete });
  for (const row of database.handle.prepare("SELECT * FROM users").all() as SqliteRow[]) {
    verifyUser(database, row, sums.get(Number(row.id)), faults);
  }
  return faults.all();
}

interface VerificationState {
  readonly faults: DigestFaultList;
  readonly sums: Map<number, DigestBytes>;
  readonly isComplete: boolean;
}

async function verifyTable(
  database: SqliteDatabase,
  table: DigestTable,
  { faults, sums, isComplete }: VerificationState,
): Promise<void> {
  let read = 0;
  for (const row of database.handle.prepare(`SELECT * FROM ${table.name}`).iterate() as Iterable<SqliteRow>) {
    read += 1;
    if (read % VERIFY_SLICE_ROWS === 0 && database.path !== ":memory:") await setImmediate();
    const { digest } = row;
    if (digest instanceof Uint8Array) {
      if (!database.guard?.isSound(table, row))
        faults.add(table.name, CHANGED, () => toFaultyRow(database, table, row));
      if (table.sum >= 0) addDigest(getUserSums(sums, Number(row.user)), table.sum, digest);
    } else if (isComplete) faults.add(table.name, WITHOUT_DIGEST, () => toFaultyRow(database, table, row));
  }
}

function getUserSums(sums: Map<number, DigestBytes>, user: number): DigestBytes {
  const found = sums.get(user) ?? new Uint8Array(SUMS_BYTES);
  sums.set(user, found);
  return found;
}

function verifyUser(
  database: SqliteDatabase,
  row: SqliteRow,
  sums: DigestBytes = new Uint8Array(SUMS_BYTES),
  faults: DigestFaultList,
): void {
  const storedSums = row.sums;
  if (!(storedSums instanceof Uint8Array)) return;
  const whose = { user: String(row.name), project: String(row.project) };
  if (!isSameBytes(row.digest, database.guard?.userDigest(row, storedSums) ?? new Uint8Array())) {
    faults.add("users", CHANGED, () => ({ table: "users", ...whose }));
  }
  for (const { name, sum } of DIGEST_TABLES) {
    if (
      sum < 0 ||
      isSameBytes(storedSums.subarray(sum * 16, sum * 16 + 16), sums.subarray(sum * 16, sum * 16 + 16))
    )
      continue;
    faults.add(name, UNBALANCED, () => ({ table: name, ...whose }));
  }
}

function toFaultyRow({ handle }: SqliteDatabase, { name }: DigestTable, row: SqliteRow): FaultyRow {
  const user = handle
    .prepare("SELECT project, name FROM users WHERE id = :id")
    .get({ id: Number(row.user ?? -1) });
  const { id, version, revision } = row;
  return {
    table: name,
    ...(user ? { project: String(user.project), user: String(user.name) } : {}),
    ...(id === undefined ? {} : { id: String(id) }),
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(name === "log" ? { revision: Number(revision) } : {}),
  };
}

interface DigestFaultList {
  add(place: string, problem: string, row: () => FaultyRow): void;
  all(): Fault[];
}

function createFaultList(): DigestFaultList {
  const found = new Map<string, { place: string; problem: string; count: number; rows: FaultyRow[] }>();
  return {
    add(place, problem, row) {
      const key = `${place}: ${problem}`;
      const fault = found.get(key) ?? { place, problem, count: 0, rows: [] };
      fault.count += 1;
      if (fault.rows.length < MAX_NAMED_ROWS) fault.rows.push(row());
      found.set(key, fault);
    },
    all: () => [...found.values()],
  };
}

/** Rows per transaction: about five milliseconds. */
const FILL_SLICE_ROWS = 500;
const MAX_ATTEMPTS = 20;

/** Whether all rows have digests: one key lookup. */
export function hasAllDigests({ handle }: SqliteDatabase): boolean {
  return handle.prepare("SELECT is_whole FROM integrity").get()?.is_whole === 1;
}

/**
 * Adds digests to rows without one: rows of an earlier version, or of a program without the secret. It trusts their current
 * content. It works in slices, ends after about `forMs` milliseconds, and gives the number of rows.
 */
export async function fillDigests(
  database: SqliteDatabase,
  forMs: number = Number.POSITIVE_INFINITY,
): Promise<number> {
  const { guard } = database;
  if (guard?.key !== "same" || hasAllDigests(database)) return 0;
  const until = performance.now() + forMs;
  const isLate = (): boolean => performance.now() > until;
  let done = 0;
  const fill = async (table: DigestTable, user?: number): Promise<void> => {
    for (let put = FILL_SLICE_ROWS; put === FILL_SLICE_ROWS && !isLate(); done += put) {
      put = fillSlice(database, table, user);
      await setImmediate();
    }
  };
  for (const table of DIGEST_TABLES) if (table.sum < 0) await fill(table);
  for (const user of usersWithoutSums(database)) {
    for (const table of DIGEST_TABLES) if (table.sum >= 0) await fill(table, user);
    if (isLate()) return done;
    await updateUserSums(database, user);
  }
  if (!isLate()) markAllFilled(database);
  return done;
}

/** The number of rows without a digest; 0 at once if all are recorded to have one. */
export function countWithoutDigest(database: SqliteDatabase): number {
  if (hasAllDigests(database)) return 0;
  return DIGEST_TABLES.reduce((sum, { name }) => {
    const sql = `SELECT count(*) AS found FROM ${name} WHERE digest IS NULL`;
    return sum + Number(database.handle.prepare(sql).get()?.found);
  }, 0);
}

function usersWithoutSums({ handle }: SqliteDatabase): number[] {
  const rows = handle.prepare("SELECT id FROM users WHERE sums IS NULL ORDER BY id").all();
  return rows.map(({ id }) => Number(id));
}

/** Adds digests to some rows. The user's sums stay unknown, so nothing is added to them. */
function fillSlice(database: SqliteDatabase, { name, columns, key }: DigestTable, user?: number): number {
  const place = DIGEST_TABLES.findIndex((table) => table.name === name);
  const keyColumns = key.join(", ");
  const whose = user === undefined ? "" : "user = :user AND ";
  return withSumsPaused(database, () =>
    Number(
      database
        .statement(
          `UPDATE ${name} SET digest = row_digest(${place}, NULL, ${columns.join(", ")}) WHERE (${keyColumns}) IN ` +
            `(SELECT ${keyColumns} FROM ${name} WHERE ${whose}digest IS NULL LIMIT ${FILL_SLICE_ROWS})`,
        )
        .run(user === undefined ? {} : { user }).changes,
    ),
  );
}

/** Writes in one transaction without updating the sums. */
export function withSumsPaused<Result>(database: SqliteDatabase, work: () => Result): Result {
  const { guard } = database;
  return database.transaction(() => {
    if (!guard) return work();
    guard.isPaused = true;
    try {
      return work();
    } finally {
      guard.isPaused = false;
    }
  });
}

/** Computes and stores the sums of a user's digests. Tries again if the user was written to meanwhile. */
async function updateUserSums(database: SqliteDatabase, id: number): Promise<void> {
  for (let tried = 0; tried < MAX_ATTEMPTS; tried += 1) {
    const found =
      (await readInSnapshot(database, (snapshot) => readUserSums(snapshot, id))) ??
      (await readUserSums(database, id));
    if (!found) return;
    if (saveUserSums(database, id, found.sums, found.touched)) return;
    await setImmediate();
  }
}

interface UserSums {
  readonly sums: DigestBytes;
  readonly touched: number;
}

async function readUserSums(database: SqliteDatabase, id: number): Promise<UserSums | undefined> {
  const row = database.handle.prepare("SELECT touched FROM users WHERE id = :id").get({ id });
  if (!row) return undefined;
  const sums = new Uint8Array(SUMS_BYTES);
  let read = 0;
  for (const { name, sum } of DIGEST_TABLES) {
    if (sum < 0) continue;
    const rows = database.handle.prepare(`SELECT digest FROM ${name} WHERE user = :id`).iterate({ id });
    for (const { digest } of rows as Iterable<SqliteRow>) {
      if (!(digest instanceof Uint8Array)) return undefined;
      addDigest(sums, sum, digest);
      read += 1;
      // An in-memory database has one connection, on which other statements would run during this one.
      if (read % (FILL_SLICE_ROWS * 4) === 0 && database.path !== ":memory:") await setImmediate();
    }
  }
  return { sums, touched: Number(row.touched) };
}

/** Stores a user's sums, unless the user was written to since; replaces earlier sums. */
export function saveUserSums(
  database: SqliteDatabase,
  id: number,
  sums: DigestBytes,
  touched?: number,
): boolean {
  const { guard } = database;
  return database.transaction(() => {
    const row = database.handle
      .prepare("SELECT id, project, name, revision, turns, touched FROM users WHERE id = :id")
      .get({ id });
    if (!row || (touched !== undefined && row.touched !== touched)) return false;
    database.handle
      .prepare("UPDATE users SET sums = :sums, digest = :digest WHERE id = :id")
      .run({ id, sums, digest: guard?.userDigest(row, sums) ?? null });
    return true;
  });
}

function markAllFilled(database: SqliteDatabase): void {
  database.transaction(() => {
    const isLeft =
      usersWithoutSums(database).length > 0 ||
      DIGEST_TABLES.some(
        ({ name, sum }) =>
          sum < 0 && database.handle.prepare(`SELECT 1 FROM ${name} WHERE digest IS NULL LIMIT 1`).get(),
      );
    if (!isLeft) database.handle.exec("UPDATE integrity SET is_whole = 1");
  });
}

/** Drops all digests and adopts this connection's secret for the file, so that the digests can be recomputed. */
export function dropDigests(database: SqliteDatabase): void {
  const mark = database.guard?.mark;
  if (!mark) return;
  withSumsPaused(database, () => {
    for (const { name } of DIGEST_TABLES) database.handle.exec(`UPDATE ${name} SET digest = NULL`);
    database.handle.exec("UPDATE users SET sums = NULL, digest = NULL, touched = touched + 1");
    database.handle.prepare("UPDATE integrity SET mark = :mark, is_whole = 0").run({ mark });
  });
}
