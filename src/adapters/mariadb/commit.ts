import { randomUUID } from "node:crypto";
import {
  applyRedaction,
  type ChangeSet,
  type ErasureChange,
  type MemoryLink,
  type SearchUnit,
} from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import {
  applyDigestChange,
  type CommitState,
  createCommitState,
  isAwaitingExtraction,
} from "../shared/change-rules.ts";
import { createLogEntry, encodeVector, parseBody } from "../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "./database.ts";
import { insertMariadbRows } from "./database.ts";
import { findMariadbUser, toKeyList, toLongNames, toMariadbKey, toMariadbScopeKeys } from "./keys.ts";
import { eraseMariadbAnswers } from "./tables/answer-cache.ts";
import { toAttachmentRow } from "./tables/attachments.ts";

/** The target of a change, and the revision that it creates. */
interface MariadbWriteContext {
  readonly transaction: MariadbTransaction;
  readonly person: number;
  readonly scope: Scope;
  readonly revision: number;
}

/** Keeps an existing row as it is. */
export const KEEP_EXISTING = "ON DUPLICATE KEY UPDATE person = VALUES(person)";

/**
 * Applies a change-set in one transaction and gives the new revision. The user's row is locked first, so two writers of a
 * user run one after the other. The second one finds a newer revision than its change-set was made for.
 */
export async function writeMariadbChanges(
  database: MariadbDatabase,
  scope: Scope,
  changes: ChangeSet,
): Promise<number> {
  const mark = randomUUID();
  const [project, name] = toMariadbScopeKeys(scope);
  return database.write(
    async (transaction) => {
      if (changes.base === 0) {
        await transaction.run(
          "INSERT INTO users (project, name, long_names) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE number = number",
          project,
          name,
          toLongNames(scope.project, scope.user),
        );
      }
      const user = await findMariadbUser(transaction, scope, "FOR UPDATE");
      if ((user?.revision ?? 0) !== changes.base || !user) {
        throw new MemoryError(
          "conflict",
          `the change was made for revision ${changes.base}, but the user is at revision ${user?.revision ?? 0}.`,
        );
      }
      const revision = changes.base + 1;
      const person = user.number;
      const writing: MariadbWriteContext = { transaction, person, scope, revision };
      await applyChanges(writing, changes, await readCommitState(writing, changes, user.turns));
      const body = JSON.stringify(createLogEntry(revision, changes));
      await insertMariadbRows(transaction, "log", [{ person, revision, mark, body }]);
      await transaction.run(
        "UPDATE users SET revision = ?, turns = ? WHERE number = ?",
        revision,
        user.turns + (changes.messages?.length ?? 0),
        person,
      );
      return revision;
    },
    // Look it up by its mark, behind the user's lock: the lost transaction may not have ended yet.
    async (transaction) => {
      const user = await findMariadbUser(transaction, scope, "FOR UPDATE");
      const sql = "SELECT 1 AS found FROM log WHERE person = ? AND revision = ? AND mark = ?";
      const rows = user ? await transaction.query(sql, user.number, changes.base + 1, mark) : [];
      return rows.length > 0 ? { was: changes.base + 1 } : undefined;
    },
  );
}

async function readCommitState(
  { transaction, person }: MariadbWriteContext,
  { messages = [], digests = [], memories = [], links = [], erase }: ChangeSet,
  turns: number,
): Promise<CommitState> {
  const messageIds = [...messages, ...digests, ...(erase?.messages ?? [])].map(({ id }) => id);
  const memoryIds = [
    ...memories.map(({ id }) => id),
    ...links.flatMap(({ from, to }) => [from, to]),
    ...(erase?.memories ?? []),
  ];
  const select = (columns: string, ids: readonly string[]) =>
    ids.length === 0
      ? []
      : transaction.query(`SELECT ${columns} WHERE person = ? AND id IN (?)`, person, toKeyList(ids));
  const found = await select("id, body FROM messages", messageIds);
  const heads = await select("id, version FROM heads", memoryIds);
  return createCommitState({
    messages: new Map(found.map((row) => [String(row.id), parseBody<Message>(row)])),
    versions: new Map(heads.map((row) => [String(row.id), Number(row.version)])),
    turns,
    toKey: toMariadbKey,
  });
}

/** In the order that the port defines. The state refuses before anything is written. */
async function applyChanges(
  writing: MariadbWriteContext,
  changes: ChangeSet,
  state: CommitState,
): Promise<void> {
  const { transaction, person } = writing;
  for (const message of changes.messages ?? []) state.addMessage(message);
  await insertMariadbRows(
    transaction,
    "attachments",
    (changes.attachments ?? []).map((one) => ({ person, ...toAttachmentRow(one) })),
    KEEP_EXISTING,
  );
  for (const change of changes.digests ?? []) {
    state.changeMessage(change.id, (message) => applyDigestChange(message, change));
  }
  for (const memory of changes.memories ?? []) state.addVersion(memory);
  await insertVersions(writing, changes.memories ?? []);
  for (const { from, type, to } of changes.dropLinks ?? []) {
    const sql = "DELETE FROM links WHERE person = ? AND source = ? AND type = ? AND target = ?";
    await transaction.run(sql, person, toMariadbKey(from), type, toMariadbKey(to));
  }
  await putLinks(writing, changes.links ?? [], state);
  await dropUnits(writing, changes.dropUnits ?? []);
  if (changes.erase) await applyErasure(writing, changes.erase, state);
  await writeMessages(writing, state);
  await putUnits(writing, changes.units ?? []);
  await writeTombstones(writing, changes);
  await writeReceipt(writing, changes);
}

async function writeMessages(
  { transaction, person, revision }: MariadbWriteContext,
  state: CommitState,
): Promise<void> {
  const { added, changed } = state.messages();
  const rows = added.map((message) => ({ person, ...toMessageRow(message, revision) }));
  await insertMariadbRows(transaction, "messages", rows);
  for (const message of changed) {
    const { id, is_waiting, body } = toMessageRow(message, revision);
    const sql = "UPDATE messages SET body = ?, revision = ?, is_waiting = ? WHERE person = ? AND id = ?";
    await transaction.run(sql, body, revision, is_waiting, person, id);
  }
}

/** The columns of a message, besides its person. */
export function toMessageRow(
  message: Message,
  revision: number,
): MariadbRow & { readonly id: string; readonly is_waiting: number; readonly body: string } {
  return {
    id: toMariadbKey(message.id),
    turn: message.turn,
    revision,
    is_waiting: isAwaitingExtraction(message) ? 1 : 0,
    stored_at: message.storedAt,
    body: JSON.stringify(message),
  };
}

/** The columns of a version, besides its person. */
export function toVersionRow(memory: Memory): MariadbRow {
  return { id: toMariadbKey(memory.id), version: memory.version, body: JSON.stringify(memory) };
}

async function insertVersions(writing: MariadbWriteContext, memories: readonly Memory[]): Promise<void> {
  const { transaction, person, revision } = writing;
  const rows = memories.map((memory) => ({ person, ...toVersionRow({ ...memory, revision }) }));
  await insertMariadbRows(transaction, "versions", rows);
  // The last of several versions of a memory, in the order of its first one.
  const heads = [...new Map(memories.map((memory) => [toMariadbKey(memory.id), memory]))];
  await insertMariadbRows(
    transaction,
    "heads",
    heads.map(([id, { version, status }]) => ({
      person,
      id,
      version,
      revision,
      is_current: status === "current" ? 1 : 0,
    })),
    "ON DUPLICATE KEY UPDATE version = VALUES(version), revision = VALUES(revision), is_current = VALUES(is_current)",
  );
  await unmarkGone(
    writing,
    "memory",
    heads.map(([id]) => id),
  );
}

async function putLinks(
  { transaction, person }: MariadbWriteContext,
  links: readonly MemoryLink[],
  state: CommitState,
): Promise<void> {
  if (!links.every(({ from, to }) => state.hasMemory(from) && state.hasMemory(to))) {
    throw new MemoryError("conflict", "a memory to link does not exist.");
  }
  await insertMariadbRows(
    transaction,
    "links",
    links.map((link) => ({ person, ...toLinkRow(link) })),
    "ON DUPLICATE KEY UPDATE strength = VALUES(strength)",
  );
}

/** The columns of a link, besides its person. */
export function toLinkRow({ from, type, to, strength }: MemoryLink): MariadbRow {
  return {
    source: toMariadbKey(from),
    type,
    target: toMariadbKey(to),
    long_names: toLongNames(from, to),
    strength,
  };
}

/** The columns of a unit, besides its person. */
export function toUnitRow(
  { id, type, owner, start, end, space, terms, vector }: SearchUnit,
  revision: number,
): MariadbRow {
  return {
    id: toMariadbKey(id),
    type,
    owner: toMariadbKey(owner),
    long_names: toLongNames(id, owner),
    first: start,
    last: end,
    space: space.toWellFormed(),
    revision,
    terms: terms.toWellFormed(),
    vector: Buffer.from(encodeVector(vector)),
  };
}

const REPLACE_UNIT = `ON DUPLICATE KEY UPDATE ${[
  ...["type", "owner", "long_names", "first", "last", "space", "revision", "terms", "vector"].map(
    (column) => `\`${column}\` = VALUES(\`${column}\`)`,
  ),
].join(", ")}`;

async function putUnits(writing: MariadbWriteContext, units: readonly SearchUnit[]): Promise<void> {
  const { transaction, person, revision } = writing;
  const rows = units.map((unit) => ({ person, ...toUnitRow(unit, revision) }));
  await insertMariadbRows(transaction, "units", rows, REPLACE_UNIT);
  await unmarkGone(writing, "unit", toKeyList(units.map(({ id }) => id)));
}

const REPLACE_REVISION = "ON DUPLICATE KEY UPDATE revision = VALUES(revision)";

/** Drops units. Only those that are there are recorded as gone. */
async function dropUnits(writing: MariadbWriteContext, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { transaction, person, revision } = writing;
  const rows = await transaction.query(
    "SELECT id, long_names FROM units WHERE person = ? AND id IN (?)",
    person,
    toKeyList(ids),
  );
  if (rows.length === 0) return;
  await transaction.run(
    "DELETE FROM units WHERE person = ? AND id IN (?)",
    person,
    rows.map(({ id }) => id),
  );
  await insertMariadbRows(
    transaction,
    "gone",
    rows.map(({ id, long_names }) => ({ person, type: "unit", id, long_names, revision })),
    REPLACE_REVISION,
  );
}

async function unmarkGone(
  { transaction, person }: MariadbWriteContext,
  type: "unit" | "memory",
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await transaction.run("DELETE FROM gone WHERE person = ? AND type = ? AND id IN (?)", person, type, keys);
}

/** The columns of a tombstone, besides its person. */
export function toTombstoneRow({ hash, of, at }: NonNullable<ChangeSet["tombstones"]>[number]): MariadbRow {
  return { hash: toMariadbKey(hash), long_names: toLongNames(hash), type: of, at };
}

async function writeTombstones(
  { transaction, person }: MariadbWriteContext,
  { tombstones = [], liftTombstones = [] }: ChangeSet,
): Promise<void> {
  await insertMariadbRows(
    transaction,
    "tombstones",
    tombstones.map((one) => ({ person, ...toTombstoneRow(one) })),
    "ON DUPLICATE KEY UPDATE type = VALUES(type), at = VALUES(at)",
  );
  if (liftTombstones.length === 0) return;
  await transaction.run(
    "DELETE FROM tombstones WHERE person = ? AND hash IN (?)",
    person,
    toKeyList(liftTombstones),
  );
}

async function writeReceipt(
  { transaction, person, revision }: MariadbWriteContext,
  { receipt }: ChangeSet,
): Promise<void> {
  if (!receipt) return;
  await insertMariadbRows(
    transaction,
    "receipts",
    [{ person, key: toMariadbKey(receipt.key), revision, body: JSON.stringify(receipt) }],
    "ON DUPLICATE KEY UPDATE revision = VALUES(revision), body = VALUES(body)",
  );
}

async function applyErasure(
  writing: MariadbWriteContext,
  erasure: ErasureChange,
  state: CommitState,
): Promise<void> {
  const { transaction, person, scope } = writing;
  for (const change of erasure.messages) {
    state.changeMessage(change.id, (message) => applyRedaction(message, change));
  }
  await dropMemories(
    writing,
    [...new Set(erasure.memories)].filter((id) => state.dropMemory(id)),
  );
  const attachments = erasure.attachments ?? [];
  if (attachments.length > 0)
    await transaction.run("DELETE FROM attachments WHERE person = ? AND digest IN (?)", person, attachments);
  await transaction.run("DELETE FROM blocks WHERE person = ?", person);
  await eraseMariadbAnswers(transaction, scope, erasure.receipt.id);
  await rewriteVersions(writing, erasure.rewrites);
  await insertMariadbRows(transaction, "erasures", [
    {
      person,
      id: toMariadbKey(erasure.receipt.id),
      body: JSON.stringify(erasure.receipt),
      trace: erasure.trace ? JSON.stringify(erasure.trace) : null,
    },
  ]);
}

async function dropMemories(writing: MariadbWriteContext, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { transaction, person, revision } = writing;
  const keys = toKeyList(ids);
  await transaction.run(
    "DELETE FROM links WHERE person = ? AND (source IN (?) OR target IN (?))",
    person,
    keys,
    keys,
  );
  for (const table of ["uses", "heads", "versions"]) {
    await transaction.run(`DELETE FROM ${table} WHERE person = ? AND id IN (?)`, person, keys);
  }
  await insertMariadbRows(
    transaction,
    "gone",
    ids.map((id) => ({
      person,
      type: "memory",
      id: toMariadbKey(id),
      long_names: toLongNames(id),
      revision,
    })),
    REPLACE_REVISION,
  );
  await dropUnits(writing, ids);
}

async function rewriteVersions(
  { transaction, person, revision }: MariadbWriteContext,
  versions: ErasureChange["rewrites"],
): Promise<void> {
  for (const memory of versions) {
    const place = [person, toMariadbKey(memory.id), memory.version];
    const where = "WHERE person = ? AND id = ? AND version = ?";
    await transaction.run(`UPDATE versions SET body = ? ${where}`, JSON.stringify(memory), ...place);
    const isCurrent = memory.status === "current" ? 1 : 0;
    await transaction.run(
      `UPDATE heads SET revision = ?, is_current = ? ${where}`,
      revision,
      isCurrent,
      ...place,
    );
  }
}
