import { setImmediate } from "node:timers/promises";
import type { Fault, FaultyRow } from "../../../ports/record.ts";
import { readInSnapshot } from "../apart.ts";
import type { SqliteDatabase, SqliteRow } from "../database.ts";
import { DIGEST_TABLES, type DigestTable, SUMS_BYTES } from "./digest-tables.ts";
import { hasAllDigests } from "./fill-digests.ts";
import { addDigest, type DigestBytes, isSameBytes } from "./row-digest.ts";

/** So many rows of a fault are named. */
const MAX_NAMED_ROWS = 100;
/** Rows checked in one go: about five milliseconds. */
const VERIFY_SLICE_ROWS = 1000;

export const CHANGED = "changed since they were written";
export const UNBALANCED = "missing, added or put back to an older state";
const WITHOUT_DIGEST = "without a digest, so written by another program";

/**
 * Holds every row against its digest, and every user's rows against their sums, as of one moment. Empty where nothing can be checked;
 * rows that have no digest yet count as sound.
 */
export async function verifyDigests(database: SqliteDatabase): Promise<Fault[]> {
  const { guard } = database;
  if (guard?.key !== "same") return [];
  return (await readInSnapshot(database, verifyAll)) ?? verifyAll(database);
}

async function verifyAll(database: SqliteDatabase): Promise<Fault[]> {
  const faults = createFaultList();
  const sums = new Map<number, DigestBytes>();
  const isWhole = hasAllDigests(database);
  for (const table of DIGEST_TABLES) await verifyTable(database, table, { faults, sums, isWhole });
  for (const row of database.handle.prepare("SELECT * FROM users").all() as SqliteRow[]) {
    verifyUser(database, row, sums.get(Number(row.id)), faults);
  }
  return faults.all();
}

interface VerificationState {
  readonly faults: DigestFaultList;
  readonly sums: Map<number, DigestBytes>;
  readonly isWhole: boolean;
}

async function verifyTable(
  database: SqliteDatabase,
  table: DigestTable,
  { faults, sums, isWhole }: VerificationState,
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
    } else if (isWhole) faults.add(table.name, WITHOUT_DIGEST, () => toFaultyRow(database, table, row));
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
  const held = row.sums;
  if (!(held instanceof Uint8Array)) return;
  const whose = { user: String(row.name), project: String(row.project) };
  if (!isSameBytes(row.digest, database.guard?.userDigest(row, held) ?? new Uint8Array())) {
    faults.add("users", CHANGED, () => ({ table: "users", ...whose }));
  }
  for (const { name, sum } of DIGEST_TABLES) {
    if (
      sum < 0 ||
      isSameBytes(held.subarray(sum * 16, sum * 16 + 16), sums.subarray(sum * 16, sum * 16 + 16))
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
