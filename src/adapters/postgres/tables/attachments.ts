import type { StoredAttachment } from "../../../domain/attachment.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { AttachmentEntry } from "../../../ports/stores/attachment-store.ts";
import type { Row } from "../database/connection.ts";
import type { PostgresDatabase } from "../database/database.ts";
import { decodeBytes, type PostgresWriteContext } from "../database/user-rows.ts";
import { fetchUserRows } from "../read.ts";

/** What is stored of a user, without the bytes. */
export async function fetchAttachmentEntries(
  database: PostgresDatabase,
  scope: Scope,
): Promise<AttachmentEntry[]> {
  const rows = await fetchUserRows(
    database,
    scope,
    "SELECT digest, media_type, at, size FROM attachments WHERE person = $1 ORDER BY digest",
  );
  return rows.map((row) => ({
    digest: String(row.digest),
    mediaType: String(row.media_type),
    at: String(row.at),
    size: Number(row.size),
  }));
}

/** An attachment with its bytes. */
export async function fetchAttachment(
  database: PostgresDatabase,
  scope: Scope,
  digest: string,
): Promise<StoredAttachment | undefined> {
  const [row] = await fetchUserRows(
    database,
    scope,
    "SELECT digest, media_type, at, encode(bytes, 'base64') AS bytes FROM attachments WHERE person = $1 AND digest = $2",
    digest,
  );
  return row && parseAttachment(row);
}

/** A row as an attachment. */
export function parseAttachment(row: Row): StoredAttachment {
  return {
    digest: String(row.digest),
    mediaType: String(row.media_type),
    at: String(row.at),
    bytes: new Uint8Array(decodeBytes(row.bytes)),
  };
}

const ADD_ATTACHMENT =
  "INSERT INTO attachments (person, project, digest, media_type, at, size, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7) " +
  "ON CONFLICT (person, digest) DO NOTHING";

/** Stores attachments. Those that the user has already stay as they are. */
export function queueAttachments(
  { transaction, person, project }: PostgresWriteContext,
  attachments: readonly StoredAttachment[],
): void {
  for (const { digest, mediaType, at, bytes } of attachments) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    transaction.queue(ADD_ATTACHMENT, person, project, digest, mediaType, at, bytes.length, buffer);
  }
}

/** Deletes attachments with their bytes. */
export function queueAttachmentRemoval(
  { transaction, person }: PostgresWriteContext,
  digests: readonly string[],
): void {
  if (digests.length > 0)
    transaction.queue("DELETE FROM attachments WHERE person = $1 AND digest = ANY ($2)", person, [
      ...new Set(digests),
    ]);
}
