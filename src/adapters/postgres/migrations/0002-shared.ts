/**
 * Data that several servers share (`documents`), the progress of a copy from another store (`filling`: one row, removed at the
 * end), and indexes by insertion order for readers of all rows.
 */
export const SHARED: string = `
CREATE TABLE documents (
  name text COLLATE "C" PRIMARY KEY,
  mark uuid NOT NULL,
  body text NOT NULL
);
CREATE TABLE filling (
  body text NOT NULL
);
CREATE INDEX versions_by_number ON versions (person, number);
CREATE INDEX calls_by_number ON calls (number);
`;
