/**
 * Who may do now what only one process may do at a time, until when (ms since 1970); one without a token rests. And how often a
 * job broke off with a user.
 */
export const LEASES: string = `
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  token TEXT,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE visits ADD COLUMN failed TEXT;
CREATE INDEX visits_failed ON visits (job) WHERE failed IS NOT NULL;
`;
