/**
 * An erasure of much, under way: its parts, each done and dropped in a transaction of its own. It has begun once its part 0 is
 * here, and then it comes to its end, whoever brings it there. Ids, hashes and the words that stay; nothing of what goes.
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
