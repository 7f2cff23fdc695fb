/**
 * The ledger of model calls: names and numbers, no text. It is not keyed by users, because a call may have no user, and its sums
 * outlive the user. In `turns`, a missing user has an empty name.
 */
export const CALLS: string = `
CREATE TABLE calls (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project TEXT NOT NULL,
  user TEXT,
  at TEXT NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  host TEXT NOT NULL,
  outcome TEXT NOT NULL,
  units INTEGER NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_cached INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  is_estimated INTEGER NOT NULL,
  ms REAL NOT NULL,
  cost REAL
) STRICT;
CREATE INDEX calls_by_time ON calls (at);
CREATE INDEX calls_by_project ON calls (project, at);
CREATE INDEX calls_by_user ON calls (project, user, at);
CREATE TABLE turns (
  project TEXT NOT NULL,
  user TEXT NOT NULL,
  day TEXT NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (project, user, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_by_day ON turns (day);
`;
