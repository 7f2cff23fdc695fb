/** The embedders that projects and users chose. `name` is the user's, or empty for the project. They contain no user's text. */
export const EMBEDDER_CHOICE_TABLES: string = `
CREATE TABLE embedder_choices (
  project text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  embedder text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (project, name)
);
CREATE INDEX embedder_choices_by_embedder ON embedder_choices (embedder);
ALTER TABLE embedder_choices ALTER name SET STATISTICS 0, ALTER embedder SET STATISTICS 0, ALTER body SET STATISTICS 0;
`;
