import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { sniffMediaType } from "../../../domain/attachment.ts";
import type { Fault, FaultyRow } from "../../../ports/memory-store.ts";
import { readInSnapshot, type SqliteDatabase, type SqliteRow } from "../database.ts";

/** The most attachments that a fault names. */
const MAX_NAMED_ROWS = 100;
/** Bytes that are hashed in one slice: about a millisecond. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Compares the bytes of every attachment with its digest, in one snapshot and in slices. Needs no key: the digest of an
 * attachment is that of its bytes.
 */
export async function verifyAttachments(database: SqliteDatabase): Promise<Fault[]> {
  return (await readInSnapshot(database, findChanged)) ?? findChanged(database);
}

async function findChanged({ handle, path }: SqliteDatabase): Promise<Fault[]> {
  const rows: FaultyRow[] = [];
  let count = 0;
  for (const row of handle.prepare("SELECT * FROM attachments").iterate() as Iterable<SqliteRow>) {
    // An in-memory database has one connection, on which other statements would run during this one.
    if (path !== ":memory:") await setImmediate();
    if (await isSoundAttachment(row, path !== ":memory:")) continue;
    count += 1;
    if (rows.length < MAX_NAMED_ROWS) rows.push(toFaultyAttachment(handle, row));
  }
  const problem = "whose bytes are not those that were stored";
  return count === 0 ? [] : [{ place: "attachments", problem, count, rows }];
}

async function isSoundAttachment({ digest, size, bytes }: SqliteRow, mayPause: boolean): Promise<boolean> {
  if (!(bytes instanceof Uint8Array) || bytes.length !== Number(size)) return false;
  const hash = createHash("sha256");
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    if (mayPause && from > 0) await setImmediate();
    hash.update(bytes.subarray(from, from + PIECE_BYTES));
  }
  return hash.digest("hex") === digest;
}

function toFaultyAttachment(handle: DatabaseSync, { user, digest }: SqliteRow): FaultyRow {
  const whose = handle
    .prepare("SELECT project, name FROM users WHERE id = :id")
    .get({ id: Number(user ?? -1) });
  return {
    table: "attachments",
    ...(whose ? { project: String(whose.project), user: String(whose.name) } : {}),
    id: String(digest),
  };
}

/**
 * Replaces attachments whose bytes have changed, and adds those that a message names and that are missing, from a copy of the
 * database. Only bytes that match their digest are taken. Gives their number; `isDryRun` only counts them.
 */
export function repairAttachments(
  { handle }: Pick<SqliteDatabase, "handle">,
  copy: DatabaseSync,
  isDryRun: boolean,
): number {
  if (!copy.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'attachments'").get())
    return 0;
  const find = handle.prepare("SELECT * FROM attachments WHERE user = :user AND digest = :digest");
  const isNamed = handle.prepare(
    "SELECT 1 FROM messages WHERE user = :user AND instr(body, :digest) LIMIT 1",
  );
  const put = handle.prepare(
    "INSERT INTO attachments (user, digest, media_type, at, size, bytes) VALUES (:user, :digest, :media_type, :at, :size, :bytes) " +
      "ON CONFLICT (user, digest) DO UPDATE SET size = excluded.size, bytes = excluded.bytes",
  );
  let count = 0;
  for (const { number: _number, ...other } of copy.prepare("SELECT * FROM attachments").iterate()) {
    const { user = null, digest = null } = other;
    const here = find.get({ user, digest });
    if (here ? isSound(here) : !isNamed.get({ user, digest })) continue;
    if (!isSound(other)) continue;
    count += 1;
    if (!isDryRun) put.run(other);
  }
  return count;
}

/** The first bytes of an attachment, which tell its media type. */
const HEAD_BYTES = 64;

/**
 * Gives attachments the media type and the size that their bytes have, if the bytes match their digest. Gives the number of
 * those that had others; `isDryRun` only counts them.
 */
export function repairAttachmentLabels(
  { handle }: Pick<SqliteDatabase, "handle">,
  isDryRun: boolean,
): number {
  const rows = handle.prepare(
    "SELECT user, digest, media_type, size, length(bytes) AS length, " +
      `substr(bytes, 1, ${HEAD_BYTES}) AS head FROM attachments`,
  );
  const readBytes = handle.prepare("SELECT bytes FROM attachments WHERE user = :user AND digest = :digest");
  const update = handle.prepare(
    "UPDATE attachments SET media_type = :mediaType, size = :size WHERE user = :user AND digest = :digest",
  );
  let count = 0;
  for (const { user = null, digest = null, media_type: labelled, size: told, length, head } of rows.all()) {
    const mediaType = head instanceof Uint8Array ? sniffMediaType(head) : undefined;
    const size = Number(length);
    if (mediaType === undefined || (mediaType === labelled && size === Number(told))) continue;
    if (!isSound({ digest, size, ...readBytes.get({ user, digest }) })) continue;
    count += 1;
    if (!isDryRun) update.run({ mediaType, size, user, digest });
  }
  return count;
}

function isSound({ digest, size, bytes }: SqliteRow): boolean {
  return (
    bytes instanceof Uint8Array &&
    bytes.length === Number(size) &&
    createHash("sha256").update(bytes).digest("hex") === digest
  );
}
