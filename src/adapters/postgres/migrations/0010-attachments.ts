/**
 * The bytes of images and recordings, once for each user, partitioned as `messages`, so that an erasure rewrites the user's
 * partition alone. They are compressed already.
 */
export const ATTACHMENT_TABLES: string = `
CREATE TABLE attachments (
  person bigint NOT NULL,
  project text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  media_type text COLLATE "C" NOT NULL,
  at text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (person, digest),
  FOREIGN KEY (person, project) REFERENCES users (number, project)
) PARTITION BY HASH (person);
${Array.from(
  { length: 16 },
  (
    _,
    i,
  ) => `CREATE TABLE attachments_${i} PARTITION OF attachments FOR VALUES WITH (MODULUS 16, REMAINDER ${i});
ALTER TABLE attachments_${i} ALTER bytes SET STORAGE EXTERNAL, ALTER digest SET STATISTICS 0,
  ALTER media_type SET STATISTICS 0, ALTER at SET STATISTICS 0, ALTER bytes SET STATISTICS 0;`,
).join("\n")}
ALTER TABLE attachments ALTER digest SET STATISTICS 0, ALTER media_type SET STATISTICS 0, ALTER at SET STATISTICS 0,
  ALTER bytes SET STATISTICS 0;
`;
