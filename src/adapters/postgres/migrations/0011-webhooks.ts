/** Webhooks of projects, and how far each has come in the log of each user. Neither contains a user's text, or a secret. */
export const WEBHOOK_TABLES: string = `
CREATE TABLE webhooks (
  project text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  body text NOT NULL,
  health text,
  PRIMARY KEY (project, id)
);
CREATE TABLE webhook_cursors (
  project text COLLATE "C" NOT NULL,
  webhook text COLLATE "C" NOT NULL,
  person bigint NOT NULL,
  revision bigint NOT NULL,
  failure text,
  PRIMARY KEY (project, webhook, person),
  FOREIGN KEY (person, project) REFERENCES users (number, project),
  FOREIGN KEY (project, webhook) REFERENCES webhooks (project, id) ON DELETE CASCADE
) WITH (fillfactor = 70);
ALTER TABLE webhooks ALTER id SET STATISTICS 0, ALTER body SET STATISTICS 0, ALTER health SET STATISTICS 0;
ALTER TABLE webhook_cursors ALTER webhook SET STATISTICS 0, ALTER failure SET STATISTICS 0;
`;
