import type { StoredAttachment } from "../../../domain/attachment.ts";
import type { MemoryStore } from "../../../ports/memory-store.ts";
import type { AttachmentStore } from "../../../ports/stores/attachment-store.ts";
import type { MariadbDatabase, MariadbRow } from "../database.ts";
import { insertMariadbRows } from "../database.ts";
import { findMariadbUser, toMariadbScopeKeys, USER_NUMBER } from "../keys.ts";

/** The bytes of attachments. */
export function createMariadbAttachments(database: MariadbDatabase): AttachmentStore {
  return {
    async list(scope) {
      const sql = `SELECT digest, media_type, at, size FROM attachments WHERE person = ${USER_NUMBER} ORDER BY digest`;
      const rows = await database.query(sql, ...toMariadbScopeKeys(scope));
      return rows.map((row) => ({
        digest: String(row.digest),
        mediaType: String(row.media_type),
        at: String(row.at),
        size: Number(row.size),
      }));
    },
    async read(scope, digest) {
      const sql = `SELECT * FROM attachments WHERE person = ${USER_NUMBER} AND digest = ?`;
      const [row] = await database.query(sql, ...toMariadbScopeKeys(scope), digest);
      return row && parseMariadbAttachment(row);
    },
  };
}

export function parseMariadbAttachment(row: MariadbRow): StoredAttachment {
  return {
    digest: String(row.digest),
    mediaType: String(row.media_type),
    at: String(row.at),
    bytes: row.bytes instanceof Uint8Array ? new Uint8Array(row.bytes) : new Uint8Array(),
  };
}

/** The columns of an attachment, besides its person. */
export function toAttachmentRow({ digest, mediaType, at, bytes }: StoredAttachment): MariadbRow {
  return {
    digest,
    media_type: mediaType,
    at,
    size: bytes.length,
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  };
}

const PIECE_BYTES = 1_000_000;

/** Saved search indexes, in pieces that fit into a statement. They are a cache. */
export function createMariadbSearchIndexes(database: MariadbDatabase): MemoryStore["searchIndexes"] {
  return {
    async read(scope, parts) {
      // One statement: all pieces are of one index.
      const sql = `SELECT revision, size, bytes FROM blocks WHERE person = ${USER_NUMBER} ORDER BY piece`;
      const rows = await database.query(sql, ...toMariadbScopeKeys(scope));
      const [first] = rows;
      if (!first) return undefined;
      const revision = Number(first.revision);
      const pieces = rows.map(({ bytes }) => bytes as Buffer);
      if (!parts) return { revision, bytes: new Uint8Array(Buffer.concat(pieces)) };
      parts.begin(revision, Number(first.size));
      for (const piece of pieces) parts.take(piece);
      return { revision, bytes: new Uint8Array() };
    },
    async save(scope, { revision, bytes }) {
      const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const count = Math.max(1, Math.ceil(all.length / PIECE_BYTES));
      await database.write(async (transaction) => {
        // Locked, so that no erasure comes in between: an index built before it would bring back erased data.
        const user = await findMariadbUser(transaction, scope, "FOR UPDATE");
        if (user?.revision !== revision || revision === 0) return;
        await transaction.run("DELETE FROM blocks WHERE person = ?", user.number);
        const rows = Array.from({ length: count }, (_, piece) => ({
          person: user.number,
          revision,
          size: all.length,
          piece,
          bytes: all.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES),
        }));
        await insertMariadbRows(transaction, "blocks", rows);
      });
    },
  };
}
