/**
 * The embedders that projects and users chose. `name` is the user's, or empty for the project. A user may have no memory yet, so
 * no row refers to `users`. No digest, as of `shares`.
 */
export const EMBEDDER_CHOICES: string = `
CREATE TABLE embedder_choices (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  embedder TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX embedder_choices_by_embedder ON embedder_choices (embedder);
`;
