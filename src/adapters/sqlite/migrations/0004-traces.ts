/**
 * What an erasure removed, by ids and places (`trace`; absent for older erasures), the copies that were made of the file, and
 * the identity of the store in all of them.
 */
export const TRACES: string = `
ALTER TABLE erasures ADD COLUMN trace TEXT;
CREATE TABLE backups (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL
) STRICT;
CREATE TABLE identity (
  id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO identity (id) VALUES (lower(hex(randomblob(16))));
`;
