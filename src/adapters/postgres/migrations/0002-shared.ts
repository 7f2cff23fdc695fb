/**
 * What several servers share beside the record (`documents`); how far the record has been filled from another one (`filling`:
 * one row, and none once that has ended); and the order in which rows came, for whoever reads all of them.
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
