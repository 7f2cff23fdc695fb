import { setImmediate } from "node:timers/promises";
import type { Fault, FaultyRow } from "../../../ports/record.ts";
import { readApart } from "../apart.ts";
import type { Database, Row } from "../database.ts";
import { DIGEST_TABLES, type DigestTable, SUMS_BYTES } from "./digest-tables.ts";
import { hasAllDigests } from "./fill-digests.ts";
import { addDigest, type DigestBytes, isSameBytes } from "./row-digest.ts";

/** So many rows of a fault are named. */
const MOST_NAMED = 100;
/** Rows checked in one go: about five milliseconds. */
const SLICE = 1000;

export const CHANGED = "changed since they were written";
export const UNBALANCED = "missing, added or put back to an older state";
const WITHOUT = "without a digest, so written by another program";

/**
 * Holds every row against its digest, and every user's rows against their sums, as of one moment. Empty where nothing can be checked;
 * rows that have no digest yet count as sound.
 */
export async function verifyDigests(database: Database): Promise<Fault[]> {
  const { guard } = database;
  if (guard?.key !== "same") return [];
  return (await readApart(database, verifyAll)) ?? verifyAll(database);
}

async function verifyAll(database: Database): Promise<Fault[]> {
  const faults = faultList();
  const sums = new Map<number, DigestBytes>();
  const isWhole = hasAllDigests(database);
  for (const table of DIGEST_TABLES) await verifyTable(database, table, { faults, sums, isWhole });
  for (const row of database.handle.prepare("SELECT * FROM users").all() as Row[]) {
    verifyUser(database, row, sums.get(Number(row.id)), faults);
  }
  return faults.all();
}

interface Verifying {
  readonly faults: FaultList;
  readonly sums: Map<number, DigestBytes>;
  readonly isWhole: boolean;
}

async function verifyTable(
  database: Database,
  table: DigestTable,
  { faults, sums, isWhole }: Verifying,
): Promise<void> {
  let read = 0;
  for (const row of database.handle.prepare(`SELECT * FROM ${table.name}`).iterate() as Iterable<Row>) {
    read += 1;
    if (read % SLICE === 0 && database.path !== ":memory:") await setImmediate();
    const { digest } = row;
    if (digest instanceof Uint8Array) {
      if (!database.guard?.isSound(table, row))
        faults.add(table.name, CHANGED, () => named(database, table, row));
      if (table.sum >= 0) addDigest(sumsIn(sums, Number(row.user)), table.sum, digest);
    } else if (isWhole) faults.add(table.name, WITHOUT, () => named(database, table, row));
  }
}

function sumsIn(sums: Map<number, DigestBytes>, user: number): DigestBytes {
  const found = sums.get(user) ?? new Uint8Array(SUMS_BYTES);
  sums.set(user, found);
  return found;
}

function verifyUser(
  database: Database,
  row: Row,
  sums: DigestBytes = new Uint8Array(SUMS_BYTES),
  faults: FaultList,
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

function named({ handle }: Database, { name }: DigestTable, row: Row): FaultyRow {
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

interface FaultList {
  add(place: string, problem: string, row: () => FaultyRow): void;
  all(): Fault[];
}

function faultList(): FaultList {
  const found = new Map<string, { place: string; problem: string; count: number; rows: FaultyRow[] }>();
  return {
    add(place, problem, row) {
      const key = `${place}: ${problem}`;
      const fault = found.get(key) ?? { place, problem, count: 0, rows: [] };
      fault.count += 1;
      if (fault.rows.length < MOST_NAMED) fault.rows.push(row());
      found.set(key, fault);
    },
    all: () => [...found.values()],
  };
}
