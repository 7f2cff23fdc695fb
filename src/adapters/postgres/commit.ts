import { randomUUID } from "node:crypto";
import type { ChangeSet } from "../../domain/change-set.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import { applyDigestChange } from "../shared/change-rules.ts";
import { createLogEntry } from "../shared/stored-rows.ts";
import type { PostgresTransaction, Row, SqlStatement } from "./database/connection.ts";
import type { PostgresDatabase } from "./database/database.ts";
import { NO_USER } from "./database/recall-statements.ts";
import {
  assignUserNumber,
  bindUser,
  buildUserSql,
  encodeLongNames,
  findAssignedNumber,
  findUserNumber,
  getKnownUserNumber,
  type PostgresWriteContext,
  rememberUserNumber,
  toAccessScope,
  toIndexKey,
  toScopeKeys,
} from "./database/user-rows.ts";
import { notifyErasure } from "./erasure-notifications.ts";
import { queueAttachments } from "./tables/attachments.ts";
import {
  buildStateQueries,
  parseCommitState,
  queueErasure,
  queueLinkRemoval,
  queueLinks,
  queueMessages,
  queueReceipt,
  queueTombstones,
  queueUnitRemoval,
  queueUnits,
  queueVersions,
} from "./write-rows.ts";

const LOCK_USER = buildUserSql("SELECT number, revision, turns", " FOR NO KEY UPDATE");
const NEW_USER =
  "INSERT INTO users (project, name, long_names) VALUES ($1, $2, $3) ON CONFLICT (project, name) DO NOTHING";
const NEW_DISTRIBUTED_USER =
  "INSERT INTO users (project, name, long_names, number) VALUES ($1, $2, $3, $4) ON CONFLICT (number) DO NOTHING";

/**
 * Applies a change-set in one transaction and gives the new revision. The user's row is locked first, so two writers of a
 * user run one after the other. The second one finds a newer revision than its change-set was made for.
 */
export async function storeChangeSet(
  database: PostgresDatabase,
  scope: Scope,
  changes: ChangeSet,
): Promise<number> {
  const mark = randomUUID();
  const revision = changes.base + 1;
  if (database.settings.isDistributed && changes.base === 0)
    await prepareFirstWrite(database, scope, changes);
  const lock = await bindUser(database, scope, LOCK_USER);
  const person = await database.write(
    toAccessScope(scope),
    (transaction) => applyAttempt(database, transaction, { scope, changes, mark, lock }),
    // Look it up by its mark: another writer may have committed this revision meanwhile.
    async (transaction) => {
      const [[user] = []] = await transaction.queryAll(lock);
      if (!user) return undefined;
      const number = Number(user.number);
      const found = await transaction.query(SELECT_COMMIT, number, revision, mark);
      return found.length > 0 ? { was: number } : undefined;
    },
  );
  rememberUserNumber(database, scope, person);
  return revision;
}

/**
 * On Citus, gives a new user a number before the first write. Changes that are refused give none, so that users come in the order of
 * their first writes.
 */
async function prepareFirstWrite(
  database: PostgresDatabase,
  scope: Scope,
  changes: ChangeSet,
): Promise<void> {
  if ((await findAssignedNumber(database, scope)) !== NO_USER) return;
  const [project, name] = toScopeKeys(scope);
  const writing = { transaction: NOWHERE, isDistributed: true, person: NO_USER, project, name, revision: 1 };
  queueChanges(writing, changes, parseCommitState([], 0));
  await assignUserNumber(database, scope);
}

/** Takes statements, and sends none. */
const NOWHERE: PostgresTransaction = {
  queue: () => {},
  query: async () => [],
  queryAll: async () => [],
  queryAndCommit: async () => [],
};

const SELECT_COMMIT = "SELECT 1 FROM log WHERE person = $1 AND revision = $2 AND mark = $3";

interface CommitAttempt {
  readonly scope: Scope;
  readonly changes: ChangeSet;
  readonly mark: string;
  /** Locks the user's row. On Citus, its last value is the user's number. */
  readonly lock: SqlStatement;
}

/** Reads all existing state first, in one round trip; the writes are sent with the COMMIT. Gives the user's number. */
async function applyAttempt(
  database: PostgresDatabase,
  transaction: PostgresTransaction,
  attempt: CommitAttempt,
): Promise<number> {
  const { scope, changes, mark, lock } = attempt;
  const { isDistributed } = database.settings;
  const [project, name] = toScopeKeys(scope);
  // The user exists nearly always, except at the first write.
  if (changes.base === 0) {
    const sql = isDistributed ? NEW_DISTRIBUTED_USER : NEW_USER;
    transaction.queue(
      sql,
      project,
      name,
      encodeLongNames(scope.project, scope.user),
      ...lock.values.slice(2),
    );
  }
  const { user, found } = await lockUser(transaction, lock, getKnownUserNumber(database, scope), changes);
  if (Number(user.revision) !== changes.base) {
    throw new MemoryError(
      "conflict",
      `the change was made for revision ${changes.base}, but the user is at revision ${user.revision}.`,
    );
  }
  const person = Number(user.number);
  const turns = Number(user.turns);
  const revision = changes.base + 1;
  const writing: PostgresWriteContext = { transaction, isDistributed, person, project, name, revision };
  queueChanges(writing, changes, parseCommitState(found, turns));
  if (changes.erase) notifyErasure(database, transaction, person);
  transaction.queue(
    "INSERT INTO log (person, project, revision, mark, body) VALUES ($1, $2, $3, $4, $5)",
    person,
    project,
    writing.revision,
    mark,
    JSON.stringify(createLogEntry(writing.revision, changes)),
  );
  transaction.queue(
    "UPDATE users SET revision = $2, turns = $3 WHERE number = $1",
    person,
    writing.revision,
    turns + (changes.messages?.length ?? 0),
  );
  return person;
}

/** Locks the user's row and reads the state that the change-set needs; in one round trip if the user's number is known. */
async function lockUser(
  transaction: PostgresTransaction,
  lock: SqlStatement,
  known: number | undefined,
  changes: ChangeSet,
): Promise<{ readonly user: Row; readonly found: readonly (readonly Row[])[] }> {
  const [[user] = [], ...found] = await transaction.queryAll(
    lock,
    ...(known === undefined ? [] : buildStateQueries(known, changes)),
  );
  if (!user) return { user: { revision: "0" }, found: [] };
  const isKnownNumberCurrent = known !== undefined && known === Number(user.number);
  if (isKnownNumberCurrent) return { user, found };
  return { user, found: await transaction.queryAll(...buildStateQueries(Number(user.number), changes)) };
}

/** In the order that the port defines. */
function queueChanges(
  writing: PostgresWriteContext,
  changes: ChangeSet,
  state: ReturnType<typeof parseCommitState>,
): void {
  for (const message of changes.messages ?? []) state.addMessage(message);
  queueAttachments(writing, changes.attachments ?? []);
  for (const change of changes.digests ?? []) {
    state.changeMessage(change.id, (message) => applyDigestChange(message, change));
  }
  for (const memory of changes.memories ?? []) state.addVersion(memory);
  queueVersions(writing, changes.memories ?? []);
  queueLinkRemoval(writing, changes.dropLinks ?? []);
  queueLinks(writing, changes.links ?? [], state);
  queueUnitRemoval(writing, changes.dropUnits ?? []);
  if (changes.erase) queueErasure(writing, changes.erase, state);
  queueMessages(writing, state);
  queueUnits(writing, changes.units ?? []);
  queueTombstones(writing, changes);
  queueReceipt(writing, changes);
}

/** Replaces the receipt of an erasure by its sealed form, unless it is complete. */
export async function storeSealedReceipt(
  database: PostgresDatabase,
  scope: Scope,
  receipt: { readonly id: string },
): Promise<void> {
  const person = await findUserNumber(database, scope);
  const isThere = await database.write(toAccessScope(scope), async (transaction) => {
    const rows = await transaction.query(
      UPDATE_RECEIPT,
      person,
      toIndexKey(receipt.id),
      JSON.stringify(receipt),
    );
    return rows.length > 0;
  });
  if (!isThere) throw new MemoryError("not_found", "there is no erasure receipt with this id.");
}

const UPDATE_RECEIPT =
  `UPDATE erasures SET body = CASE WHEN body LIKE '%"complete":false%' THEN $3 ELSE body END ` +
  "WHERE person = $1 AND id = $2 RETURNING 1";
