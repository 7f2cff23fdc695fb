import type { StoredAttachment } from "../../../domain/attachment.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { AttachmentEntry } from "../../../ports/stores/attachment-store.ts";
import { findUser, type SqliteDatabase, type SqliteRow } from "../database.ts";

/** What is stored of a user, without the bytes. */
export function readAttachmentEntries(database: SqliteDatabase, scope: Scope): AttachmentEntry[] {
  return database
    .statement("SELECT digest, media_type, at, size FROM attachments WHERE user = :user ORDER BY digest")
    .all({ user: findUser(database, scope)?.id ?? -1 })
    .map((row) => ({
      digest: String(row.digest),
      mediaType: String(row.media_type),
      at: String(row.at),
      size: Number(row.size),
    }));
}

/** An attachment with its bytes. */
export function readAttachment(
  database: SqliteDatabase,
  scope: Scope,
  digest: string,
): StoredAttachment | undefined {
  const row = database
    .statement(
      "SELECT digest, media_type, at, bytes FROM attachments WHERE user = :user AND digest = :digest",
    )
    .get({ user: findUser(database, scope)?.id ?? -1, digest });
  return row && toAttachment(row);
}

/** A row as an attachment. */
export function toAttachment(row: SqliteRow): StoredAttachment {
  return {
    digest: String(row.digest),
    mediaType: String(row.media_type),
    at: String(row.at),
    bytes: row.bytes instanceof Uint8Array ? row.bytes : new Uint8Array(),
  };
}

/** The columns of an attachment, besides its user. */
export function toAttachmentColumns({ digest, mediaType, at, bytes }: StoredAttachment): {
  readonly digest: string;
  readonly media_type: string;
  readonly at: string;
  readonly size: number;
  readonly bytes: Uint8Array;
} {
  return { digest, media_type: mediaType, at, size: bytes.length, bytes };
}

/** Stores attachments. Those that the user has already stay as they are. */
export function putAttachments(
  database: SqliteDatabase,
  user: number,
  attachments: readonly StoredAttachment[],
): void {
  for (const attachment of attachments) {
    database
      .statement(
        "INSERT INTO attachments (user, digest, media_type, at, size, bytes) " +
          "VALUES (:user, :digest, :media_type, :at, :size, :bytes) ON CONFLICT DO NOTHING",
      )
      .run({ user, ...toAttachmentColumns(attachment) });
  }
}

/** Deletes attachments with their bytes, which SQLite overwrites (`secure_delete`). */
export function dropAttachments(database: SqliteDatabase, user: number, digests: readonly string[]): void {
  for (const digest of digests) {
    database
      .statement("DELETE FROM attachments WHERE user = :user AND digest = :digest")
      .run({ user, digest });
  }
}
