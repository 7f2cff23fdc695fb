/**
 * Tables whose freed space may still contain erased rows, until they are rewritten: since when, and the time of the last erasure.
 * It contains only names of tables.
 */
export const FREED: string = `
CREATE TABLE freed (
  name text COLLATE "C" PRIMARY KEY,
  since timestamptz NOT NULL DEFAULT now(),
  last timestamptz NOT NULL DEFAULT now()
);
`;
