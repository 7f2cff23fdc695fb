/** Finds units whose vectors are of another embedder, or still to be made, without a look at all the others. */
export const UNITS_BY_SPACE: string = `
CREATE INDEX units_by_space ON units (space, user);
`;
