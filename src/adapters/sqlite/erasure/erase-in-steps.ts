import type { ChangeSet } from "../../../domain/change-set.ts";
import type { Scope } from "../../../domain/scope.ts";
import { MemoryError } from "../../../errors.ts";
import { applyErasurePart, finishErasure } from "../commit.ts";
import type { SqliteDatabase } from "../database.ts";
import { findUser } from "../database.ts";
import type { StagedErasureRow } from "./staged-erasure.ts";
import { generateStagedRows, HEAD_PART, isErasureUnderWay } from "./staged-erasure.ts";

/** From so many messages, memories, units and tombstones on, one transaction would hold up all other writers. */
const LARGE_ERASURE_ROWS = 2000;

interface ErasureHead {
  readonly base: number;
  /** How many rows it has beside this one. */
  readonly rows: number;
}

/** The steps of a large erasure, each a transaction of its own. */
export interface ErasureSteps {
  /** Lays rows down; nothing is changed yet. */
  stage(scope: Scope, receipt: string, rows: readonly StagedErasureRow[]): Promise<void>;
  /**
   * Begins it: from now on it comes to its end. False where its rows are not there any more, or another one of the user is under
   * way. `conflict` where the user's revision is another.
   */
  begin(scope: Scope, receipt: string, head: ErasureHead): Promise<boolean>;
  /** Goes on with what is under way. False once nothing is. */
  step(scope: Scope): Promise<boolean>;
}

/** Whether a change-set is an erasure and nothing else, and of so much that it is carried out in parts. */
function isLargeErasure(changes: ChangeSet): boolean {
  const { erase, dropUnits = [], tombstones = [], units = [] } = changes;
  if (!erase || changes.messages || changes.memories || changes.links) return false;
  if (changes.receipt || changes.liftTombstones) return false;
  const { messages, memories, rewrites } = erase;
  const parts = [messages, memories, rewrites, dropUnits, tombstones, units];
  return parts.reduce((sum, { length }) => sum + length, 0) >= LARGE_ERASURE_ROWS;
}

const MAX_ATTEMPTS = 3;

/**
 * Commits a large erasure: lays its parts down, begins it, and goes from part to part. The user's revision changes with the
 * last one, so that it is one change to everybody. What a kill cuts off is ended by the next who opens the file or writes
 * to the user.
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
  throw new MemoryError("unavailable", "another process erases memories of this user. Try again.");
}

/** A record's commit: large erasures in parts, and every change behind one that is under way. */
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
    if (user === undefined) throw new MemoryError("conflict", "there is nothing of this user to erase.");
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
  const began = database.transaction(() => {
    const user = findUser(database, scope);
    const held = user?.revision ?? 0;
    if (!user || held !== head.base) {
      deleteStaged(database, user?.id ?? -1);
      return held;
    }
    if (isErasureUnderWay(database, user.id)) return false;
    const mine = { user: user.id, receipt };
    const found = database
      .statement("SELECT count(*) AS found FROM erasing WHERE user = :user AND receipt = :receipt")
      .get(mine);
    if (found?.found !== head.rows) return false;
    database
      .statement("INSERT INTO erasing (user, receipt, part, body) VALUES (:user, :receipt, :part, :body)")
      .run({ ...mine, part: HEAD_PART, body: JSON.stringify(head) });
    // What others laid down was thought out on what will not be there.
    deleteStaged(database, user.id);
    return true;
  });
  if (typeof began === "boolean") return began;
  throw new MemoryError(
    "conflict",
    `the change was thought out on revision ${head.base}, the user is at ${began}.`,
  );
}

/** Lets go of parts of erasures that have not begun. */
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
  const mine = { user, receipt: String(head.receipt) };
  const next = database
    .statement(
      "SELECT number, body FROM erasing WHERE user = :user AND receipt = :receipt AND part > 0 ORDER BY part LIMIT 1",
    )
    .get(mine);
  if (next) {
    applyErasurePart({ database, user, revision: base + 1 }, String(next.body));
    database.statement("DELETE FROM erasing WHERE number = :number").run({ number: Number(next.number) });
    return true;
  }
  const bodies = new Map(
    database
      .statement("SELECT part, body FROM erasing WHERE user = :user AND receipt = :receipt AND part < 0")
      .all(mine)
      .map(({ part, body }) => [Number(part), String(body)]),
  );
  finishErasure({ database, user, revision: base + 1 }, mine.receipt, bodies);
  database.statement("DELETE FROM erasing WHERE user = :user AND receipt = :receipt").run(mine);
  return false;
}

/** Ends every erasure that was cut off, and lets go of what was laid down and never begun. */
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
