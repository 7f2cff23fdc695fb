import { createStatement, type SqlStatement } from "./connection.ts";

/** A number that no user has. */
export const NO_USER = -1;

/**
 * The newest version of each head of user `$1`, looked up by its key. OFFSET 0 prevents a join. Without statistics on ids, a join
 * would read all versions of the user for ten heads.
 */
export const NEWEST_VERSIONS: string =
  "heads CROSS JOIN LATERAL (SELECT body FROM versions WHERE versions.person = $1 AND versions.id = heads.id " +
  "AND versions.version = heads.version OFFSET 0) AS newest";

/** Messages by `$2` and memories by `$3`, from one snapshot. */
export const SELECT_BODIES: string =
  "SELECT 'message' AS type, id, body FROM messages WHERE person = $1 AND id = ANY ($2) UNION ALL " +
  `SELECT 'memory', heads.id, newest.body FROM ${NEWEST_VERSIONS} WHERE heads.person = $1 AND heads.id = ANY ($3)`;

export const SELECT_VECTORS: string =
  "SELECT id, encode(vector, 'base64') AS vector FROM units WHERE person = $1 AND id = ANY ($2) AND space = $3";

/**
 * The statements of every recall, for a user who does not exist. Planning them takes longer than running them, and each connection
 * plans them once. The last one only loads the table of search columns into the server's cache, because its COPY is planned each time.
 */
export const WARM_UP_STATEMENTS: readonly SqlStatement[] = [
  createStatement(SELECT_VECTORS, NO_USER, [], ""),
  createStatement(SELECT_BODIES, NO_USER, [], []),
  createStatement(
    "SELECT piece FROM blocks WHERE person = $1 AND piece >= 0 AND piece < 1 ORDER BY piece",
    NO_USER,
  ),
];
