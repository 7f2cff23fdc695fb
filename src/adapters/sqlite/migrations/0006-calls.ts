/**
 * The ledger of calls to models: names and numbers, no text. It stands beside the record and is not keyed by its users: a
 * call may be nobody's, and its sum outlives the user. In `turns` nobody's name is empty.
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
