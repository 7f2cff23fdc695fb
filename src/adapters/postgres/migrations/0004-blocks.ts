/** Partitions the search indexes, like all large tables: an erasure rewrites only the user's part. They are a cache and are rebuilt. */
export const BLOCKS: string = `
DROP TABLE blocks;
CREATE TABLE blocks (
  person bigint NOT NULL,
  project text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (person),
  FOREIGN KEY (person, project) REFERENCES users (number, project)
) PARTITION BY HASH (person);
${Array.from(
  { length: 16 },
  (_, i) => `CREATE TABLE blocks_${i} PARTITION OF blocks FOR VALUES WITH (MODULUS 16, REMAINDER ${i});
ALTER TABLE blocks_${i} ALTER bytes SET STORAGE EXTERNAL;`,
).join("\n")}
`;
