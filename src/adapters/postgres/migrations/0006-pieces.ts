/**
 * Search indexes in ordered pieces; `size` is the total in bytes. A client copies a message as large as a whole index many times
 * before it reads it. The indexes are a cache and are rebuilt.
 */
export const PIECES: string = `
DROP TABLE blocks;
CREATE TABLE blocks (
  person bigint NOT NULL,
  project text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  size integer NOT NULL,
  piece integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (person, piece),
  FOREIGN KEY (person, project) REFERENCES users (number, project)
) PARTITION BY HASH (person);
${Array.from(
  { length: 16 },
  (_, i) => `CREATE TABLE blocks_${i} PARTITION OF blocks FOR VALUES WITH (MODULUS 16, REMAINDER ${i});
ALTER TABLE blocks_${i} ALTER bytes SET STORAGE EXTERNAL;`,
).join("\n")}
`;
