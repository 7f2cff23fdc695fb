import type { Scope } from "../../../domain/scope.ts";
import type { SearchIndexSink, StoredSearchIndex } from "../../../ports/memory-store.ts";
import type { PostgresDatabase, SearchIndexPiece } from "../database/database.ts";
import { NO_USER } from "../database/recall-statements.ts";
import {
  bindUser,
  buildUserSql,
  decodeBytes,
  findUserNumber,
  toAccessScope,
  toScopeKeys,
} from "../database/user-rows.ts";
import { fetchUserRows } from "../read.ts";

const PIECE_BYTES = 65_536;
/** The number of pieces per read, 8 MB: other short reads wait no longer than that. */
const PIECES_AT_ONCE = 128;
/** It is read again if another index is stored meanwhile. */
const MAX_ATTEMPTS = 3;

/** The progress of a download. */
interface SearchIndexDownload {
  revision: number;
  size: number;
  /** Pieces and bytes passed on so far. */
  pieces: number;
  have: number;
}

/** The stored search index of a user. If `parts` is given, its bytes go there piece by piece as they arrive. */
export async function fetchSearchIndex(
  database: PostgresDatabase,
  scope: Scope,
  parts?: SearchIndexSink,
): Promise<StoredSearchIndex | undefined> {
  const person = await findUserNumber(database, scope);
  if (person === NO_USER) return undefined;
  const buffer = createPartBuffer();
  for (let tries = MAX_ATTEMPTS; tries > 0; tries -= 1) {
    const download: SearchIndexDownload = { revision: 0, size: 0, pieces: 0, have: 0 };
    let before: number;
    do {
      before = download.pieces;
      await readPieces(database, scope, person, download, parts ?? buffer);
    } while (download.pieces > before && download.have < download.size);
    const { revision } = download;
    if (revision === 0) return undefined;
    if (download.have === download.size) return { revision, bytes: parts ? NO_BYTES : buffer.bytes() };
  }
  return undefined;
}

/** Joins parts to one buffer. */
function createPartBuffer(): SearchIndexSink & { bytes(): Uint8Array } {
  let joined = new Uint8Array(0);
  let have = 0;
  return {
    begin(_revision, size) {
      // Not zero-filled: it is only given away when every byte is written.
      const { buffer, byteOffset, byteLength } = Buffer.allocUnsafeSlow(size);
      joined = new Uint8Array(buffer, byteOffset, byteLength);
      have = 0;
    },
    take(bytes) {
      joined.set(bytes, have);
      have += bytes.length;
    },
    bytes: () => joined,
  };
}

async function readPieces(
  database: PostgresDatabase,
  scope: Scope,
  person: number,
  download: SearchIndexDownload,
  parts: SearchIndexSink,
): Promise<void> {
  const [project] = toScopeKeys(scope);
  const range = { person, from: download.pieces, to: download.pieces + PIECES_AT_ONCE };
  const take = (piece: SearchIndexPiece): void => addPiece(download, parts, piece);
  if (await database.copySearchIndex(project, range, take)) return;
  for (const { revision, size, piece, bytes } of await fetchUserRows(
    database,
    scope,
    SELECT_PIECES,
    range.from,
    range.to,
  )) {
    const numbers = { revision: Number(revision), size: Number(size), piece: Number(piece) };
    take({ ...numbers, bytes: decodeBytes(bytes) });
  }
}

const NO_BYTES = Buffer.alloc(0);
const SELECT_PIECES =
  "SELECT revision, size, piece, encode(bytes, 'base64') AS bytes FROM blocks " +
  "WHERE person = $1 AND piece >= $2 AND piece < $3 ORDER BY piece";

/** Skips pieces of another index than the first piece's, and pieces repeated after a lost connection. */
function addPiece(
  download: SearchIndexDownload,
  parts: SearchIndexSink,
  { revision, size, piece, bytes }: SearchIndexPiece,
): void {
  if (download.revision === 0) {
    download.revision = revision;
    download.size = size;
    parts.begin(revision, size);
  }
  const isNext = piece === download.pieces && download.have + bytes.length <= size;
  if (revision !== download.revision || size !== download.size || !isNext) return;
  parts.take(bytes);
  download.pieces += 1;
  download.have += bytes.length;
}

const LOCK_USER = buildUserSql("SELECT number, revision", " AND revision > 0 FOR NO KEY UPDATE");
const INSERT_PIECE =
  "INSERT INTO blocks (person, project, revision, size, piece, bytes) VALUES ($1, $2, $3, $4, $5, $6)";

/**
 * Replaces the stored search index. An index of another revision than the user's is ignored: built before an erasure, it would
 * bring back erased data. The user's row is locked, so that no erasure comes in between.
 */
export async function storeSearchIndex(
  database: PostgresDatabase,
  scope: Scope,
  { revision, bytes }: StoredSearchIndex,
): Promise<void> {
  const keys = toScopeKeys(scope);
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lockUser = await bindUser(database, scope, LOCK_USER);
  await database.write(toAccessScope(scope), async (transaction) => {
    const [[user] = []] = await transaction.queryAll(lockUser);
    if (Number(user?.revision) !== revision || !user) return;
    transaction.queue("DELETE FROM blocks WHERE person = $1", user.number);
    for (let piece = 0; piece === 0 || piece * PIECE_BYTES < all.length; piece += 1) {
      const part = all.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
      transaction.queue(INSERT_PIECE, user.number, keys[0], revision, all.length, piece, part);
    }
  });
}
