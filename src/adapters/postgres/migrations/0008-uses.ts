/** How often recalls returned each memory. The id is long as in `heads`; `long_names` has it if the column shortens it. */
export const USE_COUNTS: string = `
CREATE TABLE uses (
  person bigint NOT NULL,
  project text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  long_names text,
  count bigint NOT NULL,
  last_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (person, id),
  FOREIGN KEY (person, project) REFERENCES users (number, project)
);
ALTER TABLE uses ALTER id SET STATISTICS 0, ALTER long_names SET STATISTICS 0, ALTER last_at SET STATISTICS 0;
`;
