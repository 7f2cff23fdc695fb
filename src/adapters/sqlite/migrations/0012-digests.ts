/** Tables whose rows have a digest. */
const TABLES = [
  "messages",
  "versions",
  "heads",
  "units",
  "gone",
  "tombstones",
  "links",
  "log",
  "receipts",
  "erasures",
  "recalls",
  "answers",
  "erasing",
  "backups",
  "blocks",
  "identity",
];

/**
 * A keyed digest for each row, and their sum by table for each user, so that a missing row is noticed. `touched` counts writes while
 * a user has no sums. `integrity` has the check value of the secret, and whether all rows have digests. A later migration that
 * changes rows or columns with digests must set these digests, and `users.sums`, to NULL.
 */
export const DIGESTS: string = `
${TABLES.map((table) => `ALTER TABLE ${table} ADD COLUMN digest BLOB;`).join("\n")}
ALTER TABLE users ADD COLUMN sums BLOB;
ALTER TABLE users ADD COLUMN digest BLOB;
ALTER TABLE users ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;
CREATE TABLE integrity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mark BLOB NOT NULL,
  is_whole INTEGER NOT NULL
) STRICT;
`;
