/** How often recalls returned each memory. No revision, no log, and no digest: these rows change with every recall. */
export const USES: string = `
CREATE TABLE uses (
  user INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  count INTEGER NOT NULL,
  last_at TEXT NOT NULL,
  PRIMARY KEY (user, id)
) STRICT, WITHOUT ROWID;
`;
