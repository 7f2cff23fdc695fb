import {
  applyRedaction,
  type ChangeSet,
  type ErasureChange,
  type MemoryLink,
  type SearchUnit,
} from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { MemoryError } from "../../errors.ts";
import { type CommitState, createCommitState, isAwaitingExtraction } from "../shared/change-rules.ts";
import { encodeVector, parseBody } from "../shared/stored-rows.ts";
import { createStatement, type Row, type SqlStatement } from "./database/connection.ts";
import { encodeLongNames, encodeText, type PostgresWriteContext, toIndexKey } from "./database/user-rows.ts";
import { queueAnswerErasure } from "./tables/answer-cache.ts";
import { queueAttachmentRemoval } from "./tables/attachments.ts";

// Each column is one array, so that one constant statement writes all rows.

const ADD_MESSAGES =
  "INSERT INTO messages (person, project, id, turn, revision, is_waiting, stored_at, body) " +
  "SELECT $1, $2, id, turn, $3, waits, at, body " +
  "FROM unnest($4::text[], $5::bigint[], $6::boolean[], $7::text[], $8::text[]) AS row (id, turn, waits, at, body)";
const CHANGE_MESSAGES =
  "UPDATE messages SET body = row.body, revision = $2, is_waiting = row.waits " +
  "FROM unnest($3::text[], $4::boolean[], $5::text[]) AS row (id, waits, body) " +
  "WHERE person = $1 AND messages.id = row.id";

export function queueMessages(
  { transaction, person, project, revision }: PostgresWriteContext,
  state: CommitState,
): void {
  const { added, changed } = state.messages();
  if (added.length > 0) {
    transaction.queue(
      ADD_MESSAGES,
      person,
      project,
      revision,
      added.map(({ id }) => toIndexKey(id)),
      added.map(({ turn }) => turn),
      added.map(isAwaitingExtraction),
      added.map(({ storedAt }) => storedAt),
      added.map((message) => JSON.stringify(message)),
    );
  }
  if (changed.length === 0) return;
  transaction.queue(
    CHANGE_MESSAGES,
    person,
    revision,
    changed.map(({ id }) => toIndexKey(id)),
    changed.map(isAwaitingExtraction),
    changed.map((message) => JSON.stringify(message)),
  );
}

const ADD_VERSIONS =
  "INSERT INTO versions (person, project, id, version, body) SELECT $1, $2, id, version, body " +
  "FROM unnest($3::text[], $4::bigint[], $5::text[]) WITH ORDINALITY AS row (id, version, body, place) ORDER BY place";
const PUT_HEADS =
  "INSERT INTO heads (person, project, id, version, revision, is_current) SELECT $1, $2, id, version, $3, is_current " +
  "FROM unnest($4::text[], $5::bigint[], $6::boolean[]) WITH ORDINALITY AS row (id, version, is_current, place) ORDER BY place " +
  "ON CONFLICT (person, id) DO UPDATE SET version = excluded.version, revision = excluded.revision, " +
  "is_current = excluded.is_current";

export function queueVersions(writing: PostgresWriteContext, memories: readonly Memory[]): void {
  if (memories.length === 0) return;
  const { transaction, person, project, revision } = writing;
  transaction.queue(
    ADD_VERSIONS,
    person,
    project,
    memories.map(({ id }) => toIndexKey(id)),
    memories.map(({ version }) => version),
    memories.map((memory) => JSON.stringify({ ...memory, revision })),
  );
  // The last of several versions of a memory, in the order of its first one.
  const heads = [...new Map(memories.map((memory) => [toIndexKey(memory.id), memory]))];
  transaction.queue(
    PUT_HEADS,
    person,
    project,
    revision,
    heads.map(([key]) => key),
    heads.map(([, { version }]) => version),
    heads.map(([, { status }]) => status === "current"),
  );
  queueGoneRemoval(
    writing,
    "memory",
    heads.map(([key]) => key),
  );
}

const DROP_LINKS =
  "DELETE FROM links USING unnest($2::text[], $3::text[], $4::text[]) AS row (source, type, target) " +
  "WHERE links.person = $1 AND links.source = row.source AND links.type = row.type AND links.target = row.target";

export function queueLinkRemoval(
  { transaction, person }: PostgresWriteContext,
  links: readonly MemoryLink[],
): void {
  if (links.length === 0) return;
  transaction.queue(
    DROP_LINKS,
    person,
    links.map(({ from }) => toIndexKey(from)),
    links.map(({ type }) => type),
    links.map(({ to }) => toIndexKey(to)),
  );
}

const PUT_LINKS =
  "INSERT INTO links (person, project, source, type, target, long_names, strength) SELECT $1, $2, source, type, target, long, strength " +
  "FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::double precision[]) AS row (source, type, target, long, strength) " +
  "ON CONFLICT (person, source, type, target) DO UPDATE SET strength = excluded.strength";

export function queueLinks(
  { transaction, person, project }: PostgresWriteContext,
  links: readonly MemoryLink[],
  state: CommitState,
): void {
  if (!links.every(({ from, to }) => state.hasMemory(from) && state.hasMemory(to))) {
    throw new MemoryError("conflict", "a memory to link does not exist.");
  }
  const rows = takeLastPerKey(links, ({ from, type, to }) => JSON.stringify([from, type, to]));
  if (rows.length === 0) return;
  transaction.queue(
    PUT_LINKS,
    person,
    project,
    rows.map(({ from }) => toIndexKey(from)),
    rows.map(({ type }) => type),
    rows.map(({ to }) => toIndexKey(to)),
    rows.map(({ from, to }) => encodeLongNames(from, to)),
    rows.map(({ strength }) => strength),
  );
}

/** The last value of each key. */
function takeLastPerKey<Value>(values: readonly Value[], keyOfValue: (value: Value) => string): Value[] {
  return [...new Map(values.map((value) => [keyOfValue(value), value])).values()];
}

const PUT_UNITS =
  "INSERT INTO units (person, project, id, type, owner, long_names, first, last, space, revision, terms, vector) " +
  "SELECT $1, $2, id, type, owner, long, first, last, space, $3, terms, vector FROM unnest($4::text[], $5::text[], $6::text[], " +
  "$7::text[], $8::integer[], $9::integer[], $10::text[], $11::text[], $12::bytea[]) WITH ORDINALITY " +
  "AS row (id, type, owner, long, first, last, space, terms, vector, place) ORDER BY place " +
  "ON CONFLICT (person, id) DO UPDATE SET type = excluded.type, owner = excluded.owner, long_names = excluded.long_names, " +
  "first = excluded.first, last = excluded.last, space = excluded.space, revision = excluded.revision, " +
  "terms = excluded.terms, vector = excluded.vector";

export function queueUnits(writing: PostgresWriteContext, units: readonly SearchUnit[]): void {
  const rows = takeLastPerKey(units, ({ id }) => toIndexKey(id));
  if (rows.length === 0) return;
  const { transaction, person, project, revision } = writing;
  const keys = rows.map(({ id }) => toIndexKey(id));
  transaction.queue(
    PUT_UNITS,
    person,
    project,
    revision,
    keys,
    rows.map(({ type }) => type),
    rows.map(({ owner }) => toIndexKey(owner)),
    rows.map(({ id, owner }) => encodeLongNames(id, owner)),
    rows.map(({ start }) => start),
    rows.map(({ end }) => end),
    rows.map(({ space }) => encodeText(space)),
    rows.map(({ terms }) => encodeText(terms)),
    rows.map(({ vector }) => Buffer.from(encodeVector(vector))),
  );
  queueGoneRemoval(writing, "unit", keys);
}

// Only deleted units are recorded as gone.
const DROP_UNITS =
  "WITH dropped AS (DELETE FROM units WHERE person = $1 AND id = ANY ($3) RETURNING id, long_names) " +
  "INSERT INTO gone (person, project, type, id, long_names, revision) " +
  "SELECT $1, $2, 'unit', id, long_names, $4 FROM dropped " +
  "ON CONFLICT (person, type, id) DO UPDATE SET revision = excluded.revision";

/** The same in two statements, for Citus, which would insert on the coordinator what a node deletes. */
const PUT_GONE_UNITS =
  "INSERT INTO gone (person, project, type, id, long_names, revision) " +
  "SELECT person, project, 'unit', id, long_names, $3 FROM units WHERE person = $1 AND id = ANY ($2) " +
  "ON CONFLICT (person, type, id) DO UPDATE SET revision = excluded.revision";
const DELETE_UNITS = "DELETE FROM units WHERE person = $1 AND id = ANY ($2)";

export function queueUnitRemoval(
  { transaction, isDistributed, person, project, revision }: PostgresWriteContext,
  ids: readonly string[],
): void {
  if (ids.length === 0) return;
  const keys = [...new Set(ids.map(toIndexKey))];
  if (isDistributed) {
    transaction.queue(PUT_GONE_UNITS, person, keys, revision);
    transaction.queue(DELETE_UNITS, person, keys);
  } else transaction.queue(DROP_UNITS, person, project, keys, revision);
}

function queueGoneRemoval(
  { transaction, person }: PostgresWriteContext,
  type: "unit" | "memory",
  keys: readonly string[],
): void {
  transaction.queue("DELETE FROM gone WHERE person = $1 AND type = $2 AND id = ANY ($3)", person, type, keys);
}

const PUT_TOMBSTONES =
  "INSERT INTO tombstones (person, project, hash, long_names, type, at) SELECT $1, $2, hash, long, type, at " +
  "FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS row (hash, long, type, at) " +
  "ON CONFLICT (person, hash) DO UPDATE SET type = excluded.type, at = excluded.at";

export function queueTombstones(
  { transaction, person, project }: PostgresWriteContext,
  { tombstones = [], liftTombstones = [] }: ChangeSet,
): void {
  const rows = takeLastPerKey(tombstones, ({ hash }) => toIndexKey(hash));
  if (rows.length > 0) {
    transaction.queue(
      PUT_TOMBSTONES,
      person,
      project,
      rows.map(({ hash }) => toIndexKey(hash)),
      rows.map(({ hash }) => encodeLongNames(hash)),
      rows.map(({ of }) => of),
      rows.map(({ at }) => at),
    );
  }
  if (liftTombstones.length === 0) return;
  transaction.queue(
    "DELETE FROM tombstones WHERE person = $1 AND hash = ANY ($2)",
    person,
    liftTombstones.map(toIndexKey),
  );
}

export function queueReceipt(
  { transaction, person, project, revision }: PostgresWriteContext,
  { receipt }: ChangeSet,
): void {
  if (!receipt) return;
  transaction.queue(
    "INSERT INTO receipts (person, project, key, revision, body) VALUES ($1, $2, $3, $4, $5) " +
      "ON CONFLICT (person, key) DO UPDATE SET revision = excluded.revision, body = excluded.body",
    person,
    project,
    toIndexKey(receipt.key),
    revision,
    JSON.stringify(receipt),
  );
}

const PUT_GONE =
  "INSERT INTO gone (person, project, type, id, long_names, revision) SELECT $1, $2, 'memory', id, long, $3 " +
  "FROM unnest($4::text[], $5::text[]) AS row (id, long) " +
  "ON CONFLICT (person, type, id) DO UPDATE SET revision = excluded.revision";
const REWRITE_VERSIONS =
  "UPDATE versions SET body = row.body FROM unnest($2::text[], $3::bigint[], $4::text[]) AS row (id, version, body) " +
  "WHERE person = $1 AND versions.id = row.id AND versions.version = row.version";
const REWRITE_HEADS =
  "UPDATE heads SET revision = $2, is_current = row.is_current " +
  "FROM unnest($3::text[], $4::bigint[], $5::boolean[]) AS row (id, version, is_current) " +
  "WHERE person = $1 AND heads.id = row.id AND heads.version = row.version";

/** Writes the erasure of a change-set. */
export function queueErasure(
  writing: PostgresWriteContext,
  erasure: ErasureChange,
  state: CommitState,
): void {
  const { transaction, person, project } = writing;
  for (const change of erasure.messages) {
    state.changeMessage(change.id, (message) => applyRedaction(message, change));
  }
  dropMemories(
    writing,
    [...new Set(erasure.memories)].filter((id) => state.dropMemory(id)),
  );
  queueAttachmentRemoval(writing, erasure.attachments ?? []);
  transaction.queue("DELETE FROM blocks WHERE person = $1", person);
  queueAnswerErasure(writing, erasure.receipt.id);
  rewriteVersions(writing, erasure.rewrites);
  transaction.queue(
    "INSERT INTO erasures (person, project, id, body, trace) VALUES ($1, $2, $3, $4, $5)",
    person,
    project,
    toIndexKey(erasure.receipt.id),
    JSON.stringify(erasure.receipt),
    erasure.trace ? JSON.stringify(erasure.trace) : null,
  );
}

function dropMemories(writing: PostgresWriteContext, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const { transaction, person, project, revision } = writing;
  const keys = ids.map(toIndexKey);
  transaction.queue(
    "DELETE FROM links WHERE person = $1 AND (source = ANY ($2) OR target = ANY ($2))",
    person,
    keys,
  );
  transaction.queue("DELETE FROM uses WHERE person = $1 AND id = ANY ($2)", person, keys);
  transaction.queue("DELETE FROM heads WHERE person = $1 AND id = ANY ($2)", person, keys);
  transaction.queue("DELETE FROM versions WHERE person = $1 AND id = ANY ($2)", person, keys);
  transaction.queue(
    PUT_GONE,
    person,
    project,
    revision,
    keys,
    ids.map((id) => encodeLongNames(id)),
  );
  queueUnitRemoval(writing, ids);
}

function rewriteVersions(
  { transaction, person, revision }: PostgresWriteContext,
  versions: ErasureChange["rewrites"],
): void {
  // The last of several rewrites of one version wins.
  const rows = [...new Map(versions.map((one) => [`${one.version} ${toIndexKey(one.id)}`, one])).values()];
  if (rows.length === 0) return;
  const keys = rows.map(({ id }) => toIndexKey(id));
  const numbers = rows.map(({ version }) => version);
  transaction.queue(
    REWRITE_VERSIONS,
    person,
    keys,
    numbers,
    rows.map((one) => JSON.stringify(one)),
  );
  transaction.queue(
    REWRITE_HEADS,
    person,
    revision,
    keys,
    numbers,
    rows.map(({ status }) => status === "current"),
  );
}

const SELECT_MESSAGES = "SELECT id, body FROM messages WHERE person = $1 AND id = ANY ($2)";
const SELECT_HEADS = "SELECT id, version FROM heads WHERE person = $1 AND id = ANY ($2)";

/** Two statements whose rows `parseCommitState` takes. */
export function buildStateQueries(person: number, changes: ChangeSet): readonly SqlStatement[] {
  const { messages = [], digests = [], memories = [], links = [], erase } = changes;
  const messageIds = [...messages, ...digests, ...(erase?.messages ?? [])].map(({ id }) => id);
  const memoryIds = [
    ...memories.map(({ id }) => id),
    ...links.flatMap(({ from, to }) => [from, to]),
    ...(erase?.memories ?? []),
  ];
  return [
    createStatement(SELECT_MESSAGES, person, toUniqueKeys(messageIds)),
    createStatement(SELECT_HEADS, person, toUniqueKeys(memoryIds)),
  ];
}

function toUniqueKeys(ids: readonly string[]): string[] {
  return [...new Set(ids.map(toIndexKey))];
}

/** The state from the rows of `buildStateQueries`. */
export function parseCommitState(
  [messages = [], heads = []]: readonly (readonly Row[])[],
  turns: number,
): CommitState {
  return createCommitState({
    messages: new Map(messages.map((row) => [row.id ?? "", parseBody<Message>(row)])),
    versions: new Map(heads.map((row) => [row.id ?? "", Number(row.version)])),
    turns,
    toKey: toIndexKey,
  });
}
