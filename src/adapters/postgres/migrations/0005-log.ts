/** Up to where the write-ahead log may hold erased words: a row of `freed` with an empty name. */
export const LOG: string = `
ALTER TABLE freed ADD COLUMN up_to pg_lsn;
`;
