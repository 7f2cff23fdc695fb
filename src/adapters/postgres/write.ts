import { randomUUID } from "node:crypto";
import type { ChangeSet } from "../../domain/change-set.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import { entryOf } from "../shared/log-entry.ts";
import type { Database } from "./database.ts";
import { erase } from "./erase.ts";
import { digested, heldOf, lookUps } from "./held.ts";
import { keyOf, longNames } from "./names.ts";
import type { Row } from "./pool.ts";
import {
  dropUnits,
  putLinks,
  putMessages,
  putReceipt,
  putTombstones,
  putUnits,
  putVersions,
  type Writing,
} from "./put.ts";
import { keysOf, knownPerson, reachOf, remembered } from "./rows.ts";
import { type Statement, statement, type Transaction } from "./statement.ts";
import { tellErased } from "./watch.ts";

const LOCK = "SELECT number, revision, turns FROM users WHERE project = $1 AND name = $2 FOR NO KEY UPDATE";
const NEW_USER =
  "INSERT INTO users (project, name, long_names) VALUES ($1, $2, $3) ON CONFLICT (project, name) DO NOTHING";

/**
 * Applies a change-set in one transaction and gives the new revision. The user's row is locked first: two writers of one user
 * follow each other, and the second finds another revision than the one it was thought out on.
 */
export async function commit(database: Database, scope: Scope, changes: ChangeSet): Promise<number> {
  const mark = randomUUID();
  const revision = changes.base + 1;
  const person = await database.write(
    reachOf(scope),
    (transaction) => apply(database, transaction, { scope, changes, mark }),
    // By its mark: another writer may have made a commit of this revision meanwhile.
    async (transaction) => {
      const [user] = await transaction.rows(LOCK, ...keysOf(scope));
      if (!user) return undefined;
      const number = Number(user.number);
      const found = await transaction.rows(FOUND, number, revision, mark);
      return found.length > 0 ? { was: number } : undefined;
    },
  );
  remembered(database, scope, person);
  return revision;
}

const FOUND = "SELECT 1 FROM log WHERE person = $1 AND revision = $2 AND mark = $3";

interface Attempt {
  readonly scope: Scope;
  readonly changes: ChangeSet;
  readonly mark: string;
}

/** What is there already is read first, in one go; the rest goes with the COMMIT. Gives the user's number. */
async function apply(database: Database, transaction: Transaction, attempt: Attempt): Promise<number> {
  const { scope, changes, mark } = attempt;
  const [project, name] = keysOf(scope);
  // Nearly always there, but for the first write.
  if (changes.base === 0) {
    transaction.later(NEW_USER, project, name, longNames(scope.project, scope.user));
  }
  const lock = statement(LOCK, project, name);
  const { user, found } = await locked(transaction, lock, knownPerson(database, scope), changes);
  if (Number(user.revision) !== changes.base) {
    throw new MemoryError(
      "conflict",
      `the change was thought out on revision ${changes.base}, the user is at ${user.revision}.`,
    );
  }
  const person = Number(user.number);
  const turns = Number(user.turns);
  const writing: Writing = { transaction, person, project, name, revision: changes.base + 1 };
  writeAll(writing, changes, heldOf(found, turns));
  if (changes.erase) tellErased(database, transaction, person);
  transaction.later(
    "INSERT INTO log (person, project, revision, mark, body) VALUES ($1, $2, $3, $4, $5)",
    person,
    project,
    writing.revision,
    mark,
    JSON.stringify(entryOf(writing.revision, changes)),
  );
  transaction.later(
    "UPDATE users SET revision = $2, turns = $3 WHERE number = $1",
    person,
    writing.revision,
    turns + (changes.messages?.length ?? 0),
  );
  return person;
}

/** Locks the user's row, and reads what the change-set meets; in one go where the user's number is known. */
async function locked(
  transaction: Transaction,
  lock: Statement,
  known: number | undefined,
  changes: ChangeSet,
): Promise<{ readonly user: Row; readonly found: readonly (readonly Row[])[] }> {
  const [[user] = [], ...found] = await transaction.all(
    lock,
    ...(known === undefined ? [] : lookUps(known, changes)),
  );
  if (!user) return { user: { revision: "0" }, found: [] };
  const isRight = known !== undefined && known === Number(user.number);
  if (isRight) return { user, found };
  return { user, found: await transaction.all(...lookUps(Number(user.number), changes)) };
}

/** In the order that the port names. */
function writeAll(writing: Writing, changes: ChangeSet, held: ReturnType<typeof heldOf>): void {
  for (const message of changes.messages ?? []) held.addMessage(message);
  for (const change of changes.digests ?? []) {
    held.changeMessage(change.id, (message) => digested(message, change));
  }
  for (const memory of changes.memories ?? []) held.addVersion(memory);
  putVersions(writing, changes.memories ?? []);
  putLinks(writing, changes.links ?? [], held);
  dropUnits(writing, changes.dropUnits ?? []);
  if (changes.erase) erase(writing, changes.erase, held);
  putMessages(writing, held);
  putUnits(writing, changes.units ?? []);
  putTombstones(writing, changes);
  putReceipt(writing, changes);
}

/** Replaces the receipt of an erasure by its sealed form. */
export async function seal(
  database: Database,
  scope: Scope,
  receipt: { readonly id: string },
): Promise<void> {
  const keys = keysOf(scope);
  const isThere = await database.write(reachOf(scope), async (transaction) => {
    const rows = await transaction.rows(SEAL, ...keys, keyOf(receipt.id), JSON.stringify(receipt));
    return rows.length > 0;
  });
  if (!isThere) throw new MemoryError("not_found", "there is no erasure with this id to seal.");
}

const SEAL =
  "UPDATE erasures SET body = $4 WHERE person = (SELECT number FROM users WHERE project = $1 AND name = $2) AND id = $3 " +
  "RETURNING 1";
