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
