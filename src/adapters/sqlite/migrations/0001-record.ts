/**
 * The tables of the memory store. Every table is keyed by the user's number, so that no query can leave a scope. `body` columns
 * contain JSON, and are all that an erasure has to clear; the log contains ids only. `revision` is the one that last changed a
 * row, and `number` keeps the insertion order.
 */
export const RECORD: string = `
CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  turns INTEGER NOT NULL DEFAULT 0,
  UNIQUE (project, name)
) STRICT;
CREATE TABLE messages (
  number INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (user, id)
) STRICT;
CREATE INDEX messages_by_revision ON messages (user, revision);
CREATE TABLE versions (
  number INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (user, id, version)
) STRICT;
CREATE TABLE heads (
  number INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  UNIQUE (user, id),
  FOREIGN KEY (user, id, version) REFERENCES versions (user, id, version) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX heads_by_revision ON heads (user, revision);
CREATE TABLE units (
  number INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('passage', 'memory')),
  owner TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  space TEXT NOT NULL,
  revision INTEGER NOT NULL,
  terms TEXT NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (user, id)
) STRICT;
CREATE INDEX units_by_revision ON units (user, revision);
CREATE TABLE gone (
  user INTEGER NOT NULL REFERENCES users (id),
  type TEXT NOT NULL CHECK (type IN ('unit', 'memory')),
  id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (user, type, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE tombstones (
  user INTEGER NOT NULL REFERENCES users (id),
  hash TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('claim', 'words')),
  at TEXT NOT NULL,
  PRIMARY KEY (user, hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE links (
  user INTEGER NOT NULL REFERENCES users (id),
  source TEXT NOT NULL,
  type TEXT NOT NULL,
  target TEXT NOT NULL,
  strength REAL NOT NULL,
  PRIMARY KEY (user, source, type, target),
  FOREIGN KEY (user, source) REFERENCES heads (user, id),
  FOREIGN KEY (user, target) REFERENCES heads (user, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links (user, target);
CREATE TABLE log (
  user INTEGER NOT NULL REFERENCES users (id),
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (user, revision)
) STRICT, WITHOUT ROWID;
CREATE TABLE receipts (
  user INTEGER NOT NULL REFERENCES users (id),
  key TEXT NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (user, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE erasures (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  user INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (user, id)
) STRICT;
`;
