/** Recall receipts: ids and numbers only. They have no revision and no log. */
export const RECALLS: string = `
CREATE TABLE recalls (
  number INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (user, id)
) STRICT;
CREATE INDEX recalls_by_user ON recalls (user, number);
`;
