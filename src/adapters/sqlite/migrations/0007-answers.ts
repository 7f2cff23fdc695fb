/**
 * Answers under idempotency keys, by the names of project and user, because a request may precede its user. They have no revision
 * and no log. `erasures` are those that happened while the answer was begun.
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
