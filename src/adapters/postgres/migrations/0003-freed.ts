/**
 * Tables in whose freed space erased rows may still stand, until they are written anew: since when, and when something was
 * erased from them last. Names of tables alone.
 */
export const FREED: string = `
CREATE TABLE freed (
  name text COLLATE "C" PRIMARY KEY,
  since timestamptz NOT NULL DEFAULT now(),
  last timestamptz NOT NULL DEFAULT now()
);
`;
