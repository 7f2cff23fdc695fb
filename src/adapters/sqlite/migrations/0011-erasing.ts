/**
 * A large erasure in progress: each part is applied and deleted in its own transaction. It has begun once part 0 exists, and any
 * process then completes it. The rows contain ids, hashes and remaining words, but no erased ones.
 */
export const ERASING: string = `
CREATE TABLE erasing (
  number INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users (id),
  receipt TEXT NOT NULL,
  part INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (user, receipt, part)
) STRICT;
`;
