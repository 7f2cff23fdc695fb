import type { Scope } from "../../domain/scope.ts";
import type { KeptBlock } from "../../ports/record.ts";
import type { Database } from "./database.ts";
import { rowsOf } from "./read.ts";
import { bytesOf, keysOf, reachOf } from "./rows.ts";

/** What was kept for a user's search. */
export async function keptBlock(database: Database, scope: Scope): Promise<KeptBlock | undefined> {
  const [row] = await rowsOf(
    database,
    scope,
    "SELECT revision, encode(bytes, 'base64') AS bytes FROM blocks WHERE person = $1",
  );
  if (!row) return undefined;
  const bytes = bytesOf(row.bytes);
  // Small ones stand within a buffer of others. A large one is not copied for that.
  const isAlone = bytes.byteOffset === 0 && bytes.buffer.byteLength === bytes.byteLength;
  return {
    revision: Number(row.revision),
    bytes: isAlone ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes),
  };
}

const KEEP =
  "INSERT INTO blocks (person, project, revision, bytes) SELECT number, project, revision, $4 FROM users " +
  "WHERE project = $1 AND name = $2 AND revision = $3 AND revision > 0 FOR NO KEY UPDATE " +
  "ON CONFLICT (person) DO UPDATE SET revision = excluded.revision, bytes = excluded.bytes";

/**
 * Keeps a block in place of the one before. One of another revision than the user's is left out: made before an
 * erasure, it would bring back what is gone. The user's row is locked, so that no erasure comes in between.
 */
export async function keepBlock(
  database: Database,
  scope: Scope,
  { revision, bytes }: KeptBlock,
): Promise<void> {
  await database.write(reachOf(scope), async (transaction) => {
    transaction.later(
      KEEP,
      ...keysOf(scope),
      revision,
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    );
  });
}
