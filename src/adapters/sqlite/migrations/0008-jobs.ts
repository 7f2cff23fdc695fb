/** Whether a message awaits extraction. A damaged row does not, and can still be updated. */
export const IS_WAITING: string =
  "CASE WHEN json_valid(body) THEN json_extract(body, '$.digest') END = 'pending'";

/**
 * The state of background jobs: the progress of each job with each user, the result of its last run, and an index of messages
 * that await extraction, which avoids a full scan.
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
