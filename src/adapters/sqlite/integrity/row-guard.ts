import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { DigestKeyState, RowGuard, SqliteRow } from "../database.ts";
import {
  addDigest,
  createRowDigester,
  DIGEST_TABLES,
  type DigestBytes,
  type DigestTable,
  isSameBytes,
  type RowDigester,
  SUM_BYTES,
  SUMS_BYTES,
} from "./row-digest.ts";

/** The digest of a damaged row that was then changed by this program: it never matches. */
const DAMAGED_DIGEST: DigestBytes = new Uint8Array(SUM_BYTES);

interface TouchedUser {
  /** Created in this transaction: the guard has seen all its rows. */
  isNew: boolean;
  /** Whether its own row was sound; undefined while the row is unchanged. */
  wasSound?: boolean;
  readonly sums: DigestBytes;
}

/**
 * Installs the guard on a connection. It uses TEMP triggers, so that no statement can bypass it, and other programs can write to
 * the file without it. A row that another program changes keeps its old digest, which reveals the change.
 */
export function guardRows(handle: DatabaseSync, key: string | undefined): RowGuard {
  const digester = key === undefined ? undefined : createRowDigester(key);
  return createRowGuard(handle, digester, readKeyState(handle, digester));
}

function computeKeyMark(digester: RowDigester): DigestBytes {
  return digester.digest("integrity", ["mark"]);
}

function readKeyState(handle: DatabaseSync, digester: RowDigester | undefined): DigestKeyState {
  if (!digester) return "none";
  const mark = computeKeyMark(digester);
  const stored = handle.prepare("SELECT mark FROM integrity").get();
  if (stored) return isSameBytes(stored.mark, mark) ? "same" : "another";
  // The first process stores the mark of its secret; of two at once, one succeeds.
  handle
    .prepare("INSERT INTO integrity (id, mark, is_whole) VALUES (1, :mark, 0) ON CONFLICT DO NOTHING")
    .run({ mark });
  return readKeyState(handle, digester);
}

function createRowGuard(handle: DatabaseSync, given: RowDigester | undefined, key: DigestKeyState): RowGuard {
  let digester = key === "same" ? given : undefined;
  const touched = new Map<number, TouchedUser>();
  const statements = {
    read: handle.prepare("SELECT id, project, name, revision, turns, sums, digest FROM users WHERE id = :id"),
    keep: handle.prepare("UPDATE users SET sums = :sums, digest = :digest WHERE id = :id"),
  };
  let isWriting = false;
  const of = (user: SQLOutputValue): TouchedUser => {
    if (!isWriting) throw new Error("rows with digests must be written within a transaction");
    const found = touched.get(Number(user)) ?? { isNew: false, sums: new Uint8Array(SUMS_BYTES) };
    touched.set(Number(user), found);
    return found;
  };
  const note = (table: DigestTable, user: SQLOutputValue, ...digests: readonly unknown[]): void => {
    if (table.sum < 0 || guard.isPaused) return;
    const { sums } = of(user);
    for (const digest of digests) if (digest instanceof Uint8Array) addDigest(sums, table.sum, digest);
  };
  const guard: RowGuard = {
    key,
    mark: given && computeKeyMark(given),
    adoptKey() {
      if (guard.key !== "another") return false;
      digester = given;
      guard.key = "same";
      return true;
    },
    damageSeen: 0,
    isPaused: false,
    begin() {
      isWriting = true;
    },
    settle() {
      if (touched.size > 0) updateTouchedUsers(handle, touched, guard, statements);
      touched.clear();
      isWriting = false;
    },
    rollBack() {
      touched.clear();
      isWriting = false;
    },
    digestInserted(table, row) {
      const digest = guard.digestOf(table, row);
      if (digest) note(table, row.user ?? null, digest);
      return digest;
    },
    undoInserted: (table, row, digest) => note(table, row.user ?? null, digest),
    digestOf: (table, row) =>
      digester?.digest(
        table.name,
        table.columns.map((column) => row[column] ?? null),
      ),
    isSound(table, row) {
      if (!digester || row.digest === null || row.digest === undefined) return true;
      return isSameBytes(row.digest, guard.digestOf(table, row) ?? new Uint8Array());
    },
    verifyOnRead(table, row) {
      if (guard.isSound(table, row)) return true;
      guard.damageSeen += 1;
      guard.onDamage?.();
      return false;
    },
    userDigest: ({ id, project, name, revision, turns }, sums) =>
      digester?.digest("users", [
        id ?? null,
        project ?? null,
        name ?? null,
        revision ?? null,
        turns ?? null,
        sums,
      ]),
  };
  handle.function("row_digest", { varargs: true }, (...given: SQLOutputValue[]) => {
    const [place, before, ...values] = given;
    const table = DIGEST_TABLES[Number(place)] as DigestTable;
    const digest = digester?.digest(table.name, values) ?? null;
    note(table, values[table.user] ?? null, before, digest);
    return digest;
  });
  handle.function("row_changed", { varargs: true }, (...given: SQLOutputValue[]) => {
    const [place, before, ...values] = given;
    const table = DIGEST_TABLES[Number(place)] as DigestTable;
    const old = values.slice(0, table.columns.length);
    const isSound =
      !digester || !(before instanceof Uint8Array) || isSameBytes(before, digester.digest(table.name, old));
    // A change must not make an unsound row sound.
    const digest = isSound
      ? digester?.digest(table.name, values.slice(table.columns.length))
      : DAMAGED_DIGEST;
    note(table, values[table.columns.length + table.user] ?? null, before, digest);
    return digest ?? null;
  });
  handle.function("user_changed", { varargs: true }, (...given: SQLOutputValue[]) => {
    if (guard.isPaused) return null;
    const [id, project, name, revision, turns, sums, before] = given;
    const user = of(id ?? null);
    const row = { id, project, name, revision, turns } as SqliteRow;
    const digest = sums instanceof Uint8Array ? guard.userDigest(row, new Uint8Array(sums)) : undefined;
    if (digest && !user.isNew) user.wasSound ??= isSameBytes(before, digest);
    return null;
  });
  handle.function("row_dropped", (place: SQLOutputValue, user: SQLOutputValue, before: SQLOutputValue) => {
    note(DIGEST_TABLES[Number(place)] as DigestTable, user, before);
    return null;
  });
  handle.function("user_made", (user: SQLOutputValue) => {
    of(user).isNew = true;
    return null;
  });
  handle.exec(DIGEST_TABLES.map(buildTriggers).join("\n"));
  handle.exec("CREATE TEMP TRIGGER user_made AFTER INSERT ON main.users BEGIN SELECT user_made(NEW.id); END");
  handle.exec(
    "CREATE TEMP TRIGGER user_changed BEFORE UPDATE OF project, name, revision, turns ON main.users BEGIN " +
      "SELECT user_changed(OLD.id, OLD.project, OLD.name, OLD.revision, OLD.turns, OLD.sums, OLD.digest); END",
  );
  return guard;
}

function buildTriggers({ name, columns, key, user }: DigestTable, place: number): string {
  const values = columns.map((column) => `NEW.${column}`).join(", ");
  const before = columns.map((column) => `OLD.${column}`).join(", ");
  const condition = key.map((column) => `${column} = NEW.${column}`).join(" AND ");
  const whose = user < 0 ? "NULL" : "OLD.user";
  const put = (digest: string): string =>
    `BEGIN UPDATE ${name} SET digest = ${digest} WHERE ${condition}; END;`;
  return [
    `CREATE TEMP TRIGGER ${name}_made AFTER INSERT ON main.${name} WHEN NEW.digest IS NULL ${put(`row_digest(${place}, NULL, ${values})`)}`,
    `CREATE TEMP TRIGGER ${name}_changed AFTER UPDATE OF ${columns.join(", ")} ON main.${name} ${put(`row_changed(${place}, OLD.digest, ${before}, ${values})`)}`,
    `CREATE TEMP TRIGGER ${name}_dropped AFTER DELETE ON main.${name} ` +
      `BEGIN SELECT row_dropped(${place}, ${whose}, OLD.digest); END;`,
  ].join("\n");
}

interface UserStatements {
  readonly read: StatementSync;
  readonly keep: StatementSync;
}

function updateTouchedUsers(
  handle: DatabaseSync,
  touched: ReadonlyMap<number, TouchedUser>,
  guard: RowGuard,
  { read, keep }: UserStatements,
): void {
  for (const [id, user] of touched) {
    const row = read.get({ id }) as SqliteRow | undefined;
    if (!row) continue;
    const settled = guard.key === "same" ? computeUserSums(row, user, guard) : undefined;
    if (settled) keep.run({ id, ...settled });
    else {
      handle
        .prepare("UPDATE users SET sums = NULL, digest = NULL, touched = touched + 1 WHERE id = :id")
        .run({ id });
      handle.exec("UPDATE integrity SET is_whole = 0 WHERE is_whole = 1");
    }
  }
}

/** The sums and the digest of a user after a change; undefined if the sums are unknown. */
function computeUserSums(
  row: SqliteRow,
  { isNew, wasSound, sums: change }: TouchedUser,
  guard: RowGuard,
): { sums: DigestBytes; digest: DigestBytes } | undefined {
  const current = isNew ? new Uint8Array(SUMS_BYTES) : row.sums;
  if (!(current instanceof Uint8Array) || current.length !== SUMS_BYTES) return undefined;
  const isSound =
    isNew || (wasSound ?? isSameBytes(row.digest, guard.userDigest(row, current) ?? DAMAGED_DIGEST));
  const sums = current.map((byte, i) => byte ^ (change[i] ?? 0));
  return { sums, digest: (isSound && guard.userDigest(row, sums)) || DAMAGED_DIGEST };
}
