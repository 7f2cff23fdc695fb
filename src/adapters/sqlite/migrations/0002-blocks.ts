/** What is kept for a user's search: a cache of the rows beside it, dropped with every erasure. */
export const BLOCKS: string = `
CREATE TABLE blocks (
  user INTEGER PRIMARY KEY REFERENCES users (id),
  revision INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
`;
