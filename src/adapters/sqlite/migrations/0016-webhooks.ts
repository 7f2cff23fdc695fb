/**
 * Webhooks of projects, and how far each has come in the log of each user. Neither contains a user's text, or a secret. No digest,
 * as of `shares`.
 */
export const WEBHOOK_TABLES_OF_FILE: string = `
CREATE TABLE webhooks (
  project TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  health TEXT,
  PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_cursors (
  project TEXT NOT NULL,
  webhook TEXT NOT NULL,
  user INTEGER NOT NULL REFERENCES users (id),
  revision INTEGER NOT NULL,
  failure TEXT,
  PRIMARY KEY (project, webhook, user),
  FOREIGN KEY (project, webhook) REFERENCES webhooks (project, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
`;
