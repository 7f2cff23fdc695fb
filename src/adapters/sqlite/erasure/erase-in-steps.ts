import type { ChangeSet } from "../../../domain/change-set.ts";
import type { Scope } from "../../../domain/scope.ts";
import { MemoryError } from "../../../errors.ts";
import { applyErasurePart, finishErasure } from "../commit.ts";
import type { SqliteDatabase } from "../database.ts";
import { findUser } from "../database.ts";
import type { StagedErasureRow } from "./staged-erasure.ts";
import { generateStagedRows, HEAD_PART, isErasureUnderWay } from "./staged-erasure.ts";

/** From this many messages, memories, units and tombstones on, one transaction would block all other writers. */
const LARGE_ERASURE_ROWS = 2000;

interface ErasureHead {
  readonly base: number;
  /** The number of staged rows, without this one. */
  readonly rows: number;
}

/** The steps of a large erasure, each in its own transaction. */
export interface ErasureSteps {
  /** Stores rows of the erasure, without changing any data yet. */
  stage(scope: Scope, receipt: string, rows: readonly StagedErasureRow[]): Promise<void>;
  /**
   * Begins the erasure; from now on, it will be completed. False if its rows are missing, or another erasure of the user is in
   * progress. Throws `conflict` if the user's revision differs.
   */
  begin(scope: Scope, receipt: string, head: ErasureHead): Promise<boolean>;
  /** Runs the next step of an erasure in progress. False when there is none. */
  step(scope: Scope): Promise<boolean>;
}

/** Whether a change-set is an erasure only, and large enough to be applied in parts. */
function isLargeErasure(changes: ChangeSet): boolean {
  const { erase, dropUnits = [], tombstones = [], units = [] } = changes;
  if (!erase || changes.messages || changes.memories || changes.links || changes.dropLinks) return false;
  if (changes.receipt || changes.liftTombstones || changes.attachments) return false;
  const { messages, memories, rewrites } = erase;
  const parts = [messages, memories, rewrites, dropUnits, tombstones, units];
  return parts.reduce((sum, { length }) => sum + length, 0) >= LARGE_ERASURE_ROWS;
}

const MAX_ATTEMPTS = 3;

/**
 * Commits a large erasure: stages its parts, begins it, and applies them one by one. The last part changes the user's revision,
 * so that others see a single change. After a crash, the next process that opens the file or writes to the user completes it.
 */
async function commitInSteps(
  steps: ErasureSteps,
  scope: Scope,
  changes: ChangeSet & Required<Pick<ChangeSet, "erase">>,
): Promise<number> {
  const { base, erase } = changes;
  for (let tries = 1; tries <= MAX_ATTEMPTS; tries += 1) {
    let rows = 0;
    for await (const row of generateStagedRows(changes)) {
      await steps.stage(scope, erase.receipt.id, [row]);
      rows += 1;
    }
    const hasBegun = await steps.begin(scope, erase.receipt.id, { base, rows });
    while (await steps.step(scope));
    if (hasBegun) return base + 1;
  }
  throw new MemoryError("unavailable", "another process is erasing memories of this user. Try again.");
}

/** A store's commit: applies large erasures in parts, and every other change after an erasure in progress. */
export function createCommit(
  steps: ErasureSteps,
  commit: (scope: Scope, changes: ChangeSet) => Promise<number | undefined>,
): (scope: Scope, changes: ChangeSet) => Promise<number> {
  return async (scope, changes) => {
    const { erase } = changes;
    if (erase && isLargeErasure(changes)) return commitInSteps(steps, scope, { ...changes, erase });
    for (;;) {
      const revision = await commit(scope, changes);
      if (revision !== undefined) return revision;
      while (await steps.step(scope));
    }
  };
}

export function stageErasure(
  database: SqliteDatabase,
  scope: Scope,
  receipt: string,
  rows: readonly StagedErasureRow[],
): void {
  database.transaction(() => {
    const user = findUser(database, scope)?.id;
    if (user === undefined) throw new MemoryError("conflict", "this user has no data to erase.");
    const put = database.statement(
      "INSERT OR REPLACE INTO erasing (user, receipt, part, body) VALUES (:user, :receipt, :part, :body)",
    );
    for (const { part, body } of rows) put.run({ user, receipt, part, body });
  });
}

export function beginErasure(
  database: SqliteDatabase,
  scope: Scope,
  receipt: string,
  head: ErasureHead,
): boolean {
  const outcome = database.transaction(() => {
    const user = findUser(database, scope);
    const current = user?.revision ?? 0;
    if (!user || current !== head.base) {
      deleteStaged(database, user?.id ?? -1);
      return current;
    }
    if (isErasureUnderWay(database, user.id)) return false;
    const key = { user: user.id, receipt };
    const found = database
      .statement("SELECT count(*) AS found FROM erasing WHERE user = :user AND receipt = :receipt")
      .get(key);
    if (found?.found !== head.rows) return false;
    database
      .statement("INSERT INTO erasing (user, receipt, part, body) VALUES (:user, :receipt, :part, :body)")
      .run({ ...key, part: HEAD_PART, body: JSON.stringify(head) });
    // Other staged erasures were made for a revision that will no longer exist.
    deleteStaged(database, user.id);
    return true;
  });
  if (typeof outcome === "boolean") return outcome;
  throw new MemoryError(
    "conflict",
    `the change was made for revision ${head.base}, but the user is at revision ${outcome}.`,
  );
}

/** Deletes staged parts of erasures that have not begun. */
function deleteStaged(database: SqliteDatabase, user: number): void {
  database
    .statement(
      "DELETE FROM erasing WHERE user = :user AND receipt NOT IN " +
        "(SELECT receipt FROM erasing WHERE user = :user AND part = 0)",
    )
    .run({ user });
}

export function stepErasure(database: SqliteDatabase, scope: Scope): boolean {
  const user = findUser(database, scope)?.id;
  if (user === undefined || !isErasureUnderWay(database, user)) return false;
  return database.transaction(() => applyNextStep(database, user));
}

function applyNextStep(database: SqliteDatabase, user: number): boolean {
  const head = database
    .statement("SELECT receipt, body FROM erasing WHERE user = :user AND part = 0")
    .get({ user });
  if (!head) return false;
  const { base } = JSON.parse(String(head.body)) as ErasureHead;
  const key = { user, receipt: String(head.receipt) };
  const next = database
    .statement(
      "SELECT number, body FROM erasing WHERE user = :user AND receipt = :receipt AND part > 0 ORDER BY part LIMIT 1",
    )
    .get(key);
  if (next) {
    applyErasurePart({ database, user, revision: base + 1 }, String(next.body));
    database.statement("DELETE FROM erasing WHERE number = :number").run({ number: Number(next.number) });
    return true;
  }
  const bodies = new Map(
    database
      .statement("SELECT part, body FROM erasing WHERE user = :user AND receipt = :receipt AND part < 0")
      .all(key)
      .map(({ part, body }) => [Number(part), String(body)]),
  );
  finishErasure({ database, user, revision: base + 1 }, key.receipt, bodies);
  database.statement("DELETE FROM erasing WHERE user = :user AND receipt = :receipt").run(key);
  return false;
}

/** Completes every interrupted erasure, and deletes staged parts that were never begun. */
export function finishErasures(database: SqliteDatabase): void {
  if (!database.statement("SELECT 1 FROM erasing LIMIT 1").get()) return;
  const users = database
    .statement("SELECT DISTINCT user FROM erasing")
    .all()
    .map(({ user }) => Number(user));
  for (const user of users) {
    while (database.transaction(() => applyNextStep(database, user)));
    database.transaction(() => deleteStaged(database, user));
  }
}
