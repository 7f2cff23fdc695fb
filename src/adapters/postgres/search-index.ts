import type { Scope } from "../../domain/scope.ts";
import type { SearchIndexSink, StoredSearchIndex } from "../../ports/memory-store.ts";
import type { PostgresDatabase } from "./database/database.ts";
import { decodeBytes, findUserNumber, NO_USER, toAccessScope, toScopeKeys } from "./database/user-rows.ts";
import type { RawRow } from "./fast-path/raw-copy.ts";
import { fetchUserRows } from "./read.ts";

const PIECE_BYTES = 65_536;
/** So many come at once, 8 MB: other short reads wait for no more than that. */
const PIECES_AT_ONCE = 128;
/** Where somebody keeps another one in between, it is read anew. */
const MAX_ATTEMPTS = 3;

/** Pieces that are being given on. */
interface SearchIndexDownload {
  revision: number;
  size: number;
  /** Pieces and bytes that were given. */
  pieces: number;
  have: number;
}

/** What was kept for a user's search. Its bytes go to `parts` where there is one, piece by piece as they come. */
export async function fetchSearchIndex(
  database: PostgresDatabase,
  scope: Scope,
  parts?: SearchIndexSink,
): Promise<StoredSearchIndex | undefined> {
  const person = await findUserNumber(database, scope);
  if (person === NO_USER) return undefined;
  const own = createPartBuffer();
  for (let tries = MAX_ATTEMPTS; tries > 0; tries -= 1) {
    const coming: SearchIndexDownload = { revision: 0, size: 0, pieces: 0, have: 0 };
    let before: number;
    do {
      before = coming.pieces;
      await readPieces(database, scope, person, coming, parts ?? own);
    } while (coming.pieces > before && coming.have < coming.size);
    const { revision } = coming;
    if (revision === 0) return undefined;
    if (coming.have === coming.size) return { revision, bytes: parts ? NO_BYTES : own.bytes() };
  }
  return undefined;
}

/** Puts parts together. */
function createPartBuffer(): SearchIndexSink & { bytes(): Uint8Array } {
  let whole = new Uint8Array(0);
  let have = 0;
  return {
    begin(_revision, size) {
      // Not filled with zeros: every byte is written, or it is not given away.
      const { buffer, byteOffset, byteLength } = Buffer.allocUnsafeSlow(size);
      whole = new Uint8Array(buffer, byteOffset, byteLength);
      have = 0;
    },
    take(bytes) {
      whole.set(bytes, have);
      have += bytes.length;
    },
    bytes: () => whole,
  };
}

async function readPieces(
  database: PostgresDatabase,
  scope: Scope,
  person: number,
  coming: SearchIndexDownload,
  parts: SearchIndexSink,
): Promise<void> {
  const [project] = toScopeKeys(scope);
  const first = coming.pieces;
  const range = [person, first, first + PIECES_AT_ONCE] as const;
  const take = ([revision, size, piece, bytes = NO_BYTES]: RawRow): void =>
    addPiece(coming, parts, {
      revision: parseLong(revision),
      size: parseLong(size),
      piece: parseLong(piece),
      bytes,
    });
  if (await database.copyRows(project, (tag) => buildCopyPiecesSql(tag, ...range), take)) return;
  for (const { revision, size, piece, bytes } of await fetchUserRows(
    database,
    scope,
    SELECT_PIECES,
    first,
    range[2],
  )) {
    const numbers = { revision: Number(revision), size: Number(size), piece: Number(piece) };
    addPiece(coming, parts, { ...numbers, bytes: decodeBytes(bytes) });
  }
}

const NO_BYTES = Buffer.alloc(0);
const SELECT_PIECES =
  "SELECT revision, size, piece, encode(bytes, 'base64') AS bytes FROM blocks " +
  "WHERE person = $1 AND piece >= $2 AND piece < $3 ORDER BY piece";

/** COPY takes no values; these are numbers of our own. */
function buildCopyPiecesSql(tag: number, person: number, from: number, to: number): string {
  return (
    `COPY (SELECT ${tag}::bigint, revision, size::bigint, piece::bigint, bytes FROM blocks ` +
    `WHERE person = ${BigInt(person)} AND piece >= ${from} AND piece < ${to} ORDER BY piece) TO STDOUT (FORMAT binary)`
  );
}

function parseLong(bytes: RawRow[number] | undefined): number {
  return Number(bytes?.readBigInt64BE() ?? 0);
}

interface SearchIndexPiece {
  readonly revision: number;
  readonly size: number;
  readonly piece: number;
  readonly bytes: Uint8Array;
}

/** Pieces of another block than the first one's, and such as come a second time after a lost connection, are left out. */
function addPiece(
  coming: SearchIndexDownload,
  parts: SearchIndexSink,
  { revision, size, piece, bytes }: SearchIndexPiece,
): void {
  if (coming.revision === 0) {
    coming.revision = revision;
    coming.size = size;
    parts.begin(revision, size);
  }
  const isNext = piece === coming.pieces && coming.have + bytes.length <= size;
  if (revision !== coming.revision || size !== coming.size || !isNext) return;
  parts.take(bytes);
  coming.pieces += 1;
  coming.have += bytes.length;
}

const LOCK_USER =
  "SELECT number FROM users WHERE project = $1 AND name = $2 AND revision = $3 AND revision > 0 FOR NO KEY UPDATE";
const INSERT_PIECE =
  "INSERT INTO blocks (person, project, revision, size, piece, bytes) VALUES ($1, $2, $3, $4, $5, $6)";

/**
 * Keeps a block in place of the one before. One of another revision than the user's is left out: made before an
 * erasure, it would bring back what is gone. The user's row is locked, so that no erasure comes in between.
 */
export async function storeSearchIndex(
  database: PostgresDatabase,
  scope: Scope,
  { revision, bytes }: StoredSearchIndex,
): Promise<void> {
  const keys = toScopeKeys(scope);
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  await database.write(toAccessScope(scope), async (transaction) => {
    const [user] = await transaction.query(LOCK_USER, ...keys, revision);
    if (!user) return;
    transaction.queue("DELETE FROM blocks WHERE person = $1", user.number);
    for (let piece = 0; piece === 0 || piece * PIECE_BYTES < all.length; piece += 1) {
      const part = all.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
      transaction.queue(INSERT_PIECE, user.number, keys[0], revision, all.length, piece, part);
    }
  });
}
