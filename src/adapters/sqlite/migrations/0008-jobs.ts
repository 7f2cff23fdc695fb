/** Whether a message waits for an extractor. A row that is damaged waits for none, and may be written about. */
export const IS_WAITING: string =
  "CASE WHEN json_valid(body) THEN json_extract(body, '$.digest') END = 'pending'";

/**
 * What background work goes by: how far each job is with each user, what came of its last run, and which users have
 * messages that wait for an extractor, found without a look at all the others.
 */
export const JOBS: string = `
CREATE TABLE jobs (
  name TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE visits (
  user INTEGER NOT NULL REFERENCES users (id),
  job TEXT NOT NULL,
  revision INTEGER NOT NULL,
  due TEXT,
  found INTEGER,
  PRIMARY KEY (user, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_waiting ON messages (user) WHERE ${IS_WAITING};
`;
