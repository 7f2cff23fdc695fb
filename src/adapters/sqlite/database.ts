import type { SQLOutputValue, StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import { checkNames } from "../shared/stored-rows.ts";
import { createSyncError, isSyncFailure } from "./errors.ts";
import type { DigestBytes, DigestTable } from "./integrity/row-digest.ts";
import { DatabaseSync } from "./node-sqlite.ts";

/** Whether rows can be checked: `none` without a key, `another` if their digests were made with another key. */
export type DigestKeyState = "same" | "another" | "none";

/** Adds a digest to every row that a connection writes, and checks rows that are read. */
export interface RowGuard {
  key: DigestKeyState;
  /** Replaces a key in state `another`, and gives whether it did. The caller recomputes all digests. */
  adoptKey(): boolean;
  /** The check value of the key, as stored in the file. */
  readonly mark: DigestBytes | undefined;
  /** The number of rows read so far that were changed outside of this program. */
  damageSeen: number;
  /** Called for each of them. */
  onDamage?: () => void;
  /** While true, rows get digests but sums stay unchanged; for repairs, which set the sums themselves. */
  isPaused: boolean;
  /** Must be called before a transaction writes. */
  begin(): void;
  /** Must be called before a transaction commits: updates the users that it changed. */
  settle(): void;
  /** Must be called after a rollback. */
  rollBack(): void;
  /** The digest for a row to insert, added to the sums. Undefined without the key; then a trigger clears the digest. */
  digestInserted(table: DigestTable, row: SqliteRow): DigestBytes | undefined;
  /** Reverts `digestInserted`, if the row already existed. */
  undoInserted(table: DigestTable, row: SqliteRow, digest: DigestBytes): void;
  /** The digest that a row should have; undefined without the key. */
  digestOf(table: DigestTable, row: SqliteRow): DigestBytes | undefined;
  /** Whether a row is unchanged since it was written. True if it has no digest yet, or there is no key. */
  isSound(table: DigestTable, row: SqliteRow): boolean;
  /** The same for a row that is about to be given to a caller; an unsound row is counted. */
  verifyOnRead(table: DigestTable, row: SqliteRow): boolean;
  userDigest(row: SqliteRow, sums: DigestBytes): DigestBytes | undefined;
}

export type SqliteRow = { readonly [column: string]: SQLOutputValue };

/** An open database with its statements prepared once. */
export interface SqliteDatabase {
  readonly path: string;
  readonly handle: DatabaseSync;
  /** Numbers of the users seen so far; they never change. */
  readonly users: Map<string, number>;
  /** Adds digests to rows and checks them; undefined while the file is migrated. */
  guard?: RowGuard;
  /** The statement for this text. Values are bound by name. */
  statement(sql: string): StatementSync;
  /**
   * Runs work in one transaction that takes the write lock at its start. After a failed sync, every further transaction throws
   * `unavailable`: a second sync would succeed and prove nothing.
   */
  transaction<Result>(work: () => Result): Result;
  /** Records the error of a write, also one outside a transaction. After a failed sync, nothing is written any more. */
  noteFailure(error: unknown): void;
  close(): void;
}

/** `onSyncFailure` is called once, when the disk fails to make a change durable. */
export function createSqliteDatabase(
  path: string,
  handle: DatabaseSync,
  guard?: RowGuard,
  onSyncFailure?: () => void,
): SqliteDatabase {
  const statements = new Map<string, StatementSync>();
  let isDurable = false;
  let hasLostSync = false;
  const noteFailure = (error: unknown): void => {
    if (hasLostSync || !isSyncFailure(error)) return;
    hasLostSync = true;
    onSyncFailure?.();
  };
  const database: SqliteDatabase = {
    path,
    handle,
    users: new Map(),
    ...(guard ? { guard } : {}),
    statement(sql) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = handle.prepare(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
    noteFailure,
    transaction(work) {
      if (hasLostSync) throw createSyncError(path);
      handle.exec("BEGIN IMMEDIATE");
      try {
        database.guard?.begin();
        const result = work();
        database.guard?.settle();
        if (!isDurable) checkSettings(path, handle);
        handle.exec("COMMIT");
        isDurable = true;
        return result;
      } catch (error) {
        database.guard?.rollBack();
        // SQLite rolls back by itself on some errors, such as a full disk.
        if (handle.isTransaction) handle.exec("ROLLBACK");
        noteFailure(error);
        throw isSyncFailure(error) ? createSyncError(path, error) : error;
      }
    },
    close() {
      statements.clear();
      if (handle.isOpen) handle.close();
    },
  };
  return database;
}

/**
 * A build of SQLite may lower `synchronous` for WAL, which only shows after the first write. So the settings are checked
 * then, before the first commit is acknowledged.
 */
function checkSettings(path: string, handle: DatabaseSync): void {
  const wanted = { synchronous: 2, fullfsync: 1, checkpoint_fullfsync: 1, foreign_keys: 1, secure_delete: 1 };
  for (const [name, value] of Object.entries(wanted)) {
    if (readPragma(handle, name) === value) continue;
    throw new MemoryError(
      "unavailable",
      `database ${path}: SQLite does not apply the setting ${name} = ${value}. Use an official build of Node.js.`,
    );
  }
}

/** The numeric value of a pragma. */
export function readPragma(handle: DatabaseSync, name: string): number {
  return Number(Object.values(handle.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

/** The number of rows that are read and parsed in one slice: about two milliseconds. */
const SLICE_ROWS = 200;
/** The same as on opening; `retryWhileBusy` waits longer. */
const BLOCKING_MS = 50;

/**
 * Reads from one snapshot, over its own connection. Between slices, other calls run, and what they write over the first connection
 * does not appear in the snapshot. Undefined for an in-memory database, which no other connection can see.
 */
export async function readInSnapshot<Result>(
  { path, guard }: SqliteDatabase,
  work: (snapshot: SqliteDatabase) => Promise<Result>,
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
 * Reads rows in slices. The statement `numbered` gives their numbers (`number`); the statement `read` takes them (`:numbers`, as
 * `wanted.value`). The order is that of the first statement.
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

export { checkNames, decodeVector, encodeVector, parseBody } from "../shared/stored-rows.ts";

/** Each entry is a key and a number: about 150 bytes. */
const MAX_CACHED_USERS = 20_000;

/**
 * The user's row, or undefined if the scope has no data. Half a surrogate pair is refused: SQLite would store another character
 * for it, and two users would become one.
 */
export function findUser(
  database: SqliteDatabase,
  scope: Scope,
): { id: number; revision: number } | undefined {
  const { project, user: name } = scope;
  const key = toCacheKey(scope);
  const known = database.users.get(key);
  if (known !== undefined) {
    const row = database.statement("SELECT revision FROM users WHERE id = :id").get({ id: known });
    return row && { id: known, revision: Number(row.revision) };
  }
  checkNames(project, name);
  const row = database
    .statement("SELECT id, revision FROM users WHERE project = :project AND name = :name")
    .get({ project, name });
  if (!row) return undefined;
  const id = Number(row.id);
  // A row created by the current transaction may still be rolled back.
  if (!database.handle.isTransaction) {
    if (database.users.size >= MAX_CACHED_USERS) database.users.clear();
    database.users.set(key, id);
  }
  return { id, revision: Number(row.revision) };
}

/** The user's number, or -1, which no user has. */
export function findUserId(database: SqliteDatabase, scope: Scope): number {
  return database.users.get(toCacheKey(scope)) ?? findUser(database, scope)?.id ?? -1;
}

function toCacheKey({ project, user }: Scope): string {
  return `${project.length}:${project}${user}`;
}
