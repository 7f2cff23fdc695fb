/** Finds units with vectors of another embedder, or without vectors, without a full scan. */
export const UNITS_BY_SPACE: string = `
CREATE INDEX units_by_space ON units (space, user);
`;
