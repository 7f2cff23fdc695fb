import type { SQLInputValue } from "node:sqlite";
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
import { applyDigestChange } from "../shared/change-rules.ts";
import { createLogEntry } from "../shared/stored-rows.ts";
import type { SqliteDatabase, SqliteRow } from "./database.ts";
import { checkNames, encodeVector, findUser, parseBody } from "./database.ts";
import {
  isErasureUnderWay,
  LOG_ENTRY_PART,
  parseErasurePart,
  RECEIPT_PART,
  TRACE_PART,
} from "./erasure/staged-erasure.ts";
import { type DigestTable, getDigestTable } from "./integrity/row-digest.ts";
import { eraseStoredAnswers } from "./tables/answer-cache.ts";
import { dropAttachments, putAttachments } from "./tables/attachments.ts";
import { deleteSearchIndex } from "./tables/search-index.ts";

const LOG_TABLE = getDigestTable("log");
const MESSAGES_TABLE = getDigestTable("messages");
const VERSIONS_TABLE = getDigestTable("versions");
const HEADS_TABLE = getDigestTable("heads");
const UNITS_TABLE = getDigestTable("units");

/** The target of a change: the user's number, and the revision that it creates. */
interface SqliteWriteContext {
  readonly database: SqliteDatabase;
  readonly user: number;
  readonly revision: number;
}

/**
 * Applies a change-set in one transaction and gives the new revision. Undefined while an erasure of the user is in progress, which
 * must finish first. Throws errors of SQLite, or `conflict`.
 */
export function commitChangeSet(
  database: SqliteDatabase,
  scope: Scope,
  changes: ChangeSet,
): number | undefined {
  return database.transaction(() => {
    const { id: user, revision: current, turns } = upsertUser(database, scope);
    if (isErasureUnderWay(database, user)) return undefined;
    if (current !== changes.base) {
      throw new MemoryError(
        "conflict",
        `the change was made for revision ${changes.base}, but the user is at revision ${current}.`,
      );
    }
    const writing: SqliteWriteContext = { database, user, revision: current + 1 };
    writeChanges(writing, changes, turns);
    const log = {
      user,
      revision: writing.revision,
      body: JSON.stringify(createLogEntry(writing.revision, changes)),
    };
    insertRow(database, LOG_TABLE, log);
    database
      .statement("UPDATE users SET revision = :revision, turns = :turns WHERE id = :user")
      .run({ user, revision: writing.revision, turns: turns + (changes.messages?.length ?? 0) });
    return writing.revision;
  });
}

function writeChanges(writing: SqliteWriteContext, changes: ChangeSet, turns: number): void {
  addMessages(writing, changes.messages ?? [], turns);
  putAttachments(writing.database, writing.user, changes.attachments ?? []);
  for (const change of changes.digests ?? []) {
    changeMessage(writing, change.id, (message) => applyDigestChange(message, change));
  }
  for (const memory of changes.memories ?? []) addVersion(writing, memory);
  for (const link of changes.dropLinks ?? []) dropLink(writing, link);
  for (const link of changes.links ?? []) putLink(writing, link);
  for (const id of changes.dropUnits ?? []) dropUnit(writing, id);
  if (changes.erase) applyErasure(writing, changes.erase);
  for (const unit of changes.units ?? []) putUnit(writing, unit);
  putTombstones(writing, changes);
  putReceipt(writing, changes);
}

function dropLink({ database, user }: SqliteWriteContext, { from, type, to }: MemoryLink): void {
  database
    .statement("DELETE FROM links WHERE user = :user AND source = :from AND type = :type AND target = :to")
    .run({ user, from, type, to });
}

function putLink({ database, user }: SqliteWriteContext, { from, type, to, strength }: MemoryLink): void {
  const selectHead = database.statement("SELECT 1 FROM heads WHERE user = :user AND id = :id");
  if (![from, to].every((id) => selectHead.get({ user, id }))) {
    throw new MemoryError("conflict", "a memory to link does not exist.");
  }
  database
    .statement(
      "INSERT OR REPLACE INTO links (user, source, type, target, strength) VALUES (:user, :from, :type, :to, :strength)",
    )
    .run({ user, from, type, to, strength });
}

function upsertUser(
  database: SqliteDatabase,
  { project, user: name }: Scope,
): { id: number; revision: number; turns: number } {
  checkNames(project, name);
  database
    .statement("INSERT INTO users (project, name) VALUES (:project, :name) ON CONFLICT DO NOTHING")
    .run({ project, name });
  const row = database
    .statement("SELECT id, revision, turns FROM users WHERE project = :project AND name = :name")
    .get({ project, name });
  return { id: Number(row?.id), revision: Number(row?.revision), turns: Number(row?.turns) };
}

function addMessages(
  { database, user, revision }: SqliteWriteContext,
  messages: readonly Message[],
  turns: number,
): void {
  let turn = turns;
  for (const message of messages) {
    turn += 1;
    const body = JSON.stringify({ ...message, turn });
    const isNew = insertRow(database, MESSAGES_TABLE, { user, id: message.id, turn, revision, body });
    if (!isNew) throw new MemoryError("conflict", "a message with this id already exists.");
  }
}

function changeMessage(
  { database, user, revision }: SqliteWriteContext,
  id: string,
  change: (message: Message) => Message,
): void {
  const row = database
    .statement("SELECT body FROM messages WHERE user = :user AND id = :id")
    .get({ user, id });
  if (!row) throw new MemoryError("conflict", "a message to change does not exist.");
  const body = JSON.stringify(change(parseBody<Message>(row)));
  database
    .statement("UPDATE messages SET body = :body, revision = :revision WHERE user = :user AND id = :id")
    .run({ user, id, revision, body });
}

function addVersion({ database, user, revision }: SqliteWriteContext, memory: Memory): void {
  const { id, version } = memory;
  const head = database
    .statement("SELECT version FROM heads WHERE user = :user AND id = :id")
    .get({ user, id });
  const current = Number(head?.version ?? 0);
  if (version !== current + 1) {
    throw new MemoryError("conflict", `a memory's version ${version} cannot follow its version ${current}.`);
  }
  const body = JSON.stringify({ ...memory, revision });
  if (!insertRow(database, VERSIONS_TABLE, { user, id, version, body })) {
    throw new MemoryError("conflict", "this version of a memory already exists.");
  }
  const row = { user, id, version, revision };
  if (!insertRow(database, HEADS_TABLE, row)) {
    database
      .statement("UPDATE heads SET version = :version, revision = :revision WHERE user = :user AND id = :id")
      .run(row);
  }
  unmarkGone(database, user, "memory", id);
}

function putUnit({ database, user, revision }: SqliteWriteContext, unit: SearchUnit): void {
  const { id, type, owner, start, end, space, terms, vector } = unit;
  const row = {
    user,
    id,
    type,
    owner,
    first: start,
    last: end,
    space,
    revision,
    terms,
    vector: new Uint8Array(encodeVector(vector)),
  };
  if (!insertRow(database, UNITS_TABLE, row)) {
    database
      .statement(
        "UPDATE units SET type = :type, owner = :owner, first = :first, last = :last, space = :space, revision = :revision, " +
          "terms = :terms, vector = :vector WHERE user = :user AND id = :id",
      )
      .run(row);
  }
  unmarkGone(database, user, "unit", id);
}

function dropUnit(writing: SqliteWriteContext, id: string): void {
  const { database, user } = writing;
  const { changes } = database
    .statement("DELETE FROM units WHERE user = :user AND id = :id")
    .run({ user, id });
  if (changes !== 0) markGone(writing, "unit", id);
}

function markGone(
  { database, user, revision }: SqliteWriteContext,
  type: "unit" | "memory",
  id: string,
): void {
  database
    .statement("INSERT OR REPLACE INTO gone (user, type, id, revision) VALUES (:user, :type, :id, :revision)")
    .run({ user, type, id, revision });
}

function unmarkGone(database: SqliteDatabase, user: number, type: "unit" | "memory", id: string): void {
  database
    .statement("DELETE FROM gone WHERE user = :user AND type = :type AND id = :id")
    .run({ user, type, id });
}

function applyErasure(writing: SqliteWriteContext, erasure: NonNullable<ChangeSet["erase"]>): void {
  const { database, user } = writing;
  eraseBodies(writing, erasure);
  deleteSearchIndex(database, user);
  eraseStoredAnswers(database, user, erasure.receipt.id);
  putErasure(writing, erasure.receipt.id, {
    receipt: JSON.stringify(erasure.receipt),
    trace: erasure.trace ? JSON.stringify(erasure.trace) : null,
  });
}

function eraseBodies(
  writing: SqliteWriteContext,
  erasure: Pick<ErasureChange, "messages" | "memories" | "rewrites" | "attachments">,
): void {
  const { database, user, revision } = writing;
  for (const change of erasure.messages) {
    changeMessage(writing, change.id, (message) => applyRedaction(message, change));
  }
  dropAttachments(database, user, erasure.attachments ?? []);
  for (const id of erasure.memories) {
    database
      .statement("DELETE FROM links WHERE user = :user AND (source = :id OR target = :id)")
      .run({ user, id });
    database.statement("DELETE FROM uses WHERE user = :user AND id = :id").run({ user, id });
    const { changes } = database
      .statement("DELETE FROM heads WHERE user = :user AND id = :id")
      .run({ user, id });
    if (changes === 0) continue;
    database.statement("DELETE FROM versions WHERE user = :user AND id = :id").run({ user, id });
    markGone(writing, "memory", id);
    dropUnit(writing, id);
  }
  for (const version of erasure.rewrites) {
    const place = { user, id: version.id, version: version.version };
    database
      .statement("UPDATE versions SET body = :body WHERE user = :user AND id = :id AND version = :version")
      .run({ ...place, body: JSON.stringify(version) });
    database
      .statement(
        "UPDATE heads SET revision = :revision WHERE user = :user AND id = :id AND version = :version",
      )
      .run({ ...place, revision });
  }
}

function putErasure(
  { database, user }: SqliteWriteContext,
  id: string,
  { receipt, trace }: { readonly receipt: string; readonly trace: string | null },
): void {
  database
    .statement("INSERT INTO erasures (user, id, body, trace) VALUES (:user, :id, :body, :trace)")
    .run({ user, id, body: receipt, trace });
}

/** Applies a part of a large erasure, in the order of a change-set. */
export function applyErasurePart(writing: SqliteWriteContext, body: string): void {
  const { digests = [], dropUnits = [], units = [], tombstones = [], ...erased } = parseErasurePart(body);
  for (const change of digests)
    changeMessage(writing, change.id, (message) => applyDigestChange(message, change));
  for (const id of dropUnits) dropUnit(writing, id);
  const { messages = [], memories = [], rewrites = [], attachments = [] } = erased;
  eraseBodies(writing, { messages, memories, rewrites, attachments });
  for (const unit of units) putUnit(writing, unit);
  putTombstones(writing, { tombstones });
}

/** Completes a large erasure whose parts are applied: it becomes the user's newest change. */
export function finishErasure(
  writing: SqliteWriteContext,
  id: string,
  bodies: ReadonlyMap<number, string>,
): void {
  const { database, user, revision } = writing;
  deleteSearchIndex(database, user);
  eraseStoredAnswers(database, user, id);
  putErasure(writing, id, {
    receipt: bodies.get(RECEIPT_PART) ?? "{}",
    trace: bodies.get(TRACE_PART) ?? null,
  });
  database
    .statement("INSERT INTO log (user, revision, body) VALUES (:user, :revision, :body)")
    .run({ user, revision, body: bodies.get(LOG_ENTRY_PART) ?? "{}" });
  database.statement("UPDATE users SET revision = :revision WHERE id = :user").run({ user, revision });
}

function putTombstones(
  { database, user }: SqliteWriteContext,
  { tombstones = [], liftTombstones = [] }: Pick<ChangeSet, "tombstones" | "liftTombstones">,
): void {
  for (const { hash, of, at } of tombstones) {
    database
      .statement("INSERT OR REPLACE INTO tombstones (user, hash, type, at) VALUES (:user, :hash, :of, :at)")
      .run({ user, hash, of, at });
  }
  for (const hash of liftTombstones) {
    database.statement("DELETE FROM tombstones WHERE user = :user AND hash = :hash").run({ user, hash });
  }
}

function putReceipt({ database, user, revision }: SqliteWriteContext, { receipt }: ChangeSet): void {
  if (!receipt) return;
  database
    .statement(
      "INSERT OR REPLACE INTO receipts (user, key, revision, body) VALUES (:user, :key, :revision, :body)",
    )
    .run({ user, key: receipt.key, revision, body: JSON.stringify(receipt) });
}

/** Replaces the receipt of an erasure by its sealed form, unless it is complete. */
export function saveSealedReceipt(
  database: SqliteDatabase,
  scope: Scope,
  receipt: { readonly id: string },
): void {
  const isThere = database.transaction(() => {
    const own = { user: findUser(database, scope)?.id ?? -1, id: receipt.id };
    database
      .statement(
        "UPDATE erasures SET body = :body WHERE user = :user AND id = :id AND body ->> '$.complete' = 0",
      )
      .run({ ...own, body: JSON.stringify(receipt) });
    return (
      database.statement("SELECT 1 FROM erasures WHERE user = :user AND id = :id").get(own) !== undefined
    );
  });
  if (!isThere) throw new MemoryError("not_found", "there is no erasure receipt with this id.");
}

const INSERT_STATEMENTS = new Map<string, string>();

/** Inserts a row with its digest, in half the time of the trigger. False if a row with its key exists, which is kept. */
function insertRow(database: SqliteDatabase, table: DigestTable, row: SqliteRow): boolean {
  const digest = database.guard?.digestInserted(table, row) ?? null;
  const { changes } = database
    .statement(getInsertSql(table))
    .run({ ...row, digest } as { [column: string]: SQLInputValue });
  if (changes !== 0) return true;
  if (digest) database.guard?.undoInserted(table, row, digest);
  return false;
}

function getInsertSql({ name, columns }: DigestTable): string {
  const known = INSERT_STATEMENTS.get(name);
  if (known) return known;
  const allColumns = [...columns, "digest"];
  const values = allColumns.map((column) => `:${column}`).join(", ");
  const sql = `INSERT INTO ${name} (${allColumns.join(", ")}) VALUES (${values}) ON CONFLICT DO NOTHING`;
  INSERT_STATEMENTS.set(name, sql);
  return sql;
}
