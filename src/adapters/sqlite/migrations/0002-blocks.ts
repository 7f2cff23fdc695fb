/** The search index of each user: a cache of other rows, dropped with every erasure. */
export const BLOCKS: string = `
CREATE TABLE blocks (
  user INTEGER PRIMARY KEY REFERENCES users (id),
  revision INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
`;
