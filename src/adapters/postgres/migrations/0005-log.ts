/** The position up to which the write-ahead log may contain erased words: a row of `freed` with an empty name. */
export const LOG: string = `
ALTER TABLE freed ADD COLUMN up_to pg_lsn;
`;
