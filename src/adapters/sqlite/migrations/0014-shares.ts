/**
 * Grants and groups, and whom each concerns. Names are texts: a reader may have no memory of their own. No digest, as of
 * `uses`.
 */
export const SHARES: string = `
CREATE TABLE shares (
  project TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE share_parties (
  project TEXT NOT NULL,
  party TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (project, party, id),
  FOREIGN KEY (project, id) REFERENCES shares (project, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX share_parties_by_share ON share_parties (project, id);
`;
