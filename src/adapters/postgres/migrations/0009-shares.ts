/**
 * Grants and groups, and whom each concerns. The names are whole in `body`; `party` is shortened if it is too long. A reader may
 * have no memory of their own, so no row refers to `users`.
 */
export const SHARE_TABLES: string = `
CREATE TABLE shares (
  project text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (project, id)
);
CREATE TABLE share_parties (
  project text COLLATE "C" NOT NULL,
  party text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, party, id),
  FOREIGN KEY (project, id) REFERENCES shares (project, id) ON DELETE CASCADE
);
CREATE INDEX share_parties_by_share ON share_parties (project, id);
ALTER TABLE shares ALTER id SET STATISTICS 0, ALTER body SET STATISTICS 0;
ALTER TABLE share_parties ALTER party SET STATISTICS 0, ALTER id SET STATISTICS 0;
`;
