import { NO_USER } from "./rows.ts";
import { createStatement, type SqlStatement } from "./statement.ts";

/**
 * The newest version of each of the heads of user `$1`, looked up by its key. A join is free to read all versions that the user has
 * for ten heads, and does where the server knows nothing of ids: OFFSET keeps it from being one.
 */
export const NEWEST_VERSIONS: string =
  "heads CROSS JOIN LATERAL (SELECT body FROM versions WHERE versions.person = $1 AND versions.id = heads.id " +
  "AND versions.version = heads.version OFFSET 0) AS newest";

/** Messages by `$2` and memories by `$3`, as of one moment. */
export const SELECT_BODIES: string =
  "SELECT 'message' AS type, id, body FROM messages WHERE person = $1 AND id = ANY ($2) UNION ALL " +
  `SELECT 'memory', heads.id, newest.body FROM ${NEWEST_VERSIONS} WHERE heads.person = $1 AND heads.id = ANY ($3)`;

export const SELECT_VECTORS: string =
  "SELECT id, encode(vector, 'base64') AS vector FROM units WHERE person = $1 AND id = ANY ($2) AND space = $3";

/**
 * What every recall asks for, of nobody: to plan them takes longer than to carry them out, and a connection does it once. The last is
 * asked for nothing but to have the server know the tables of search columns, whose COPY is planned each time.
 */
export const WARM_UP_STATEMENTS: readonly SqlStatement[] = [
  createStatement(SELECT_VECTORS, NO_USER, [], ""),
  createStatement(SELECT_BODIES, NO_USER, [], []),
  createStatement(
    "SELECT piece FROM blocks WHERE person = $1 AND piece >= 0 AND piece < 1 ORDER BY piece",
    NO_USER,
  ),
];
