/**
 * Answers under idempotency keys, by the names of project and user: a request may come before there is a user. Beside
 * the record: no revision, no log. `erasures` are those that came while it was begun.
 */
export const ANSWERS: string = `
CREATE TABLE answers (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  at TEXT NOT NULL,
  state TEXT NOT NULL,
  request TEXT NOT NULL,
  body TEXT,
  erasures TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (project, name, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_time ON answers (at);
`;
