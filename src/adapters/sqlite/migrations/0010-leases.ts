/**
 * Leases for work that only one process may do at a time, with their end (ms since 1970). A lease without a token rests. Also the
 * number of failed attempts of a job with a user.
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
