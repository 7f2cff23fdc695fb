/**
 * The tables of the memory store, keyed by the user's number. `body` columns contain JSON; the log contains ids only. `revision`
 * is the one that last changed a row, and `number` keeps the insertion order. The server cannot roll back a change of tables,
 * so each statement may run twice.
 */
const KEY = "VARCHAR(255) NOT NULL";
const NUMBER = "number BIGINT NOT NULL AUTO_INCREMENT";
const OF_PERSON = "person BIGINT NOT NULL";
const TO_USERS = "FOREIGN KEY (person) REFERENCES users (number)";
const TIME = "VARCHAR(64) NOT NULL";

const RECORD_TABLES: { readonly [table: string]: string } = {
  identity: `id ${KEY}, secret_mark VARCHAR(255), PRIMARY KEY (id)`,
  users: `${NUMBER}, project ${KEY}, name ${KEY}, long_names LONGTEXT, revision BIGINT NOT NULL DEFAULT 0,
    turns BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (number), UNIQUE KEY (project, name)`,
  messages: `${OF_PERSON}, id ${KEY}, turn BIGINT NOT NULL, revision BIGINT NOT NULL, is_waiting BOOLEAN NOT NULL,
    stored_at ${TIME}, body LONGTEXT NOT NULL, PRIMARY KEY (person, id), KEY by_revision (person, revision),
    KEY by_waiting (is_waiting, person, stored_at), ${TO_USERS}`,
  versions: `${OF_PERSON}, id ${KEY}, version BIGINT NOT NULL, ${NUMBER}, body LONGTEXT NOT NULL,
    PRIMARY KEY (person, id, version), UNIQUE KEY (number), KEY by_number (person, number), ${TO_USERS}`,
  heads: `${OF_PERSON}, id ${KEY}, version BIGINT NOT NULL, revision BIGINT NOT NULL, ${NUMBER}, is_current BOOLEAN NOT NULL,
    PRIMARY KEY (person, id), UNIQUE KEY (number), KEY by_revision (person, revision), KEY by_number (person, number), ${TO_USERS}`,
  units: `${OF_PERSON}, id ${KEY}, type VARCHAR(16) NOT NULL, owner ${KEY}, long_names LONGTEXT, first BIGINT NOT NULL,
    last BIGINT NOT NULL, space VARCHAR(700) NOT NULL, revision BIGINT NOT NULL, ${NUMBER}, terms LONGTEXT NOT NULL,
    vector LONGBLOB NOT NULL, PRIMARY KEY (person, id), UNIQUE KEY (number), KEY by_revision (person, revision),
    KEY by_space (space, person), ${TO_USERS}`,
  gone: `${OF_PERSON}, type VARCHAR(16) NOT NULL, id ${KEY}, long_names LONGTEXT, revision BIGINT NOT NULL,
    PRIMARY KEY (person, type, id), ${TO_USERS}`,
  tombstones: `${OF_PERSON}, hash ${KEY}, long_names LONGTEXT, type VARCHAR(16) NOT NULL, at ${TIME},
    PRIMARY KEY (person, hash), ${TO_USERS}`,
  links: `${OF_PERSON}, source ${KEY}, type VARCHAR(64) NOT NULL, target ${KEY}, long_names LONGTEXT, strength DOUBLE NOT NULL,
    PRIMARY KEY (person, source, type, target), KEY by_target (person, target), ${TO_USERS},
    FOREIGN KEY (person, source) REFERENCES heads (person, id), FOREIGN KEY (person, target) REFERENCES heads (person, id)`,
  log: `${OF_PERSON}, revision BIGINT NOT NULL, mark VARCHAR(64) NOT NULL, body LONGTEXT NOT NULL,
    PRIMARY KEY (person, revision), ${TO_USERS}`,
  receipts: `${OF_PERSON}, \`key\` ${KEY}, revision BIGINT NOT NULL, body LONGTEXT NOT NULL, PRIMARY KEY (person, \`key\`), ${TO_USERS}`,
  erasures: `${OF_PERSON}, id ${KEY}, ${NUMBER}, body LONGTEXT NOT NULL, trace LONGTEXT, PRIMARY KEY (person, id),
    UNIQUE KEY (number), ${TO_USERS}`,
  blocks: `${OF_PERSON}, revision BIGINT NOT NULL, size BIGINT NOT NULL, piece BIGINT NOT NULL, bytes LONGBLOB NOT NULL,
    PRIMARY KEY (person, piece), ${TO_USERS}`,
  recalls: `${OF_PERSON}, id ${KEY}, ${NUMBER}, body LONGTEXT NOT NULL, PRIMARY KEY (person, id), UNIQUE KEY (number),
    KEY by_number (person, number), ${TO_USERS}`,
  uses: `${OF_PERSON}, id ${KEY}, long_names LONGTEXT, count BIGINT NOT NULL, last_at ${TIME}, PRIMARY KEY (person, id), ${TO_USERS}`,
  attachments: `${OF_PERSON}, digest ${KEY}, media_type ${KEY}, at ${TIME}, size BIGINT NOT NULL, bytes LONGBLOB NOT NULL,
    PRIMARY KEY (person, digest), ${TO_USERS}`,
  visits: `${OF_PERSON}, job ${KEY}, revision BIGINT NOT NULL, due VARCHAR(64), found BIGINT, failed LONGTEXT, attempts BIGINT,
    failed_at VARCHAR(64), PRIMARY KEY (person, job), KEY by_attempts (attempts), ${TO_USERS}`,
  leases: `name ${KEY}, token VARCHAR(64), until BIGINT NOT NULL, PRIMARY KEY (name)`,
  jobs: `name ${KEY}, body LONGTEXT NOT NULL, PRIMARY KEY (name)`,
  backups: `${NUMBER}, name ${KEY}, body LONGTEXT NOT NULL, PRIMARY KEY (number), UNIQUE KEY (name)`,
  answers: `project ${KEY}, name ${KEY}, \`key\` ${KEY}, long_names LONGTEXT, at ${TIME}, mark VARCHAR(64) NOT NULL,
    state VARCHAR(16) NOT NULL, request LONGTEXT NOT NULL, body LONGTEXT, erasures LONGTEXT NOT NULL,
    PRIMARY KEY (project, name, \`key\`), KEY by_time (at)`,
  calls: `${NUMBER}, id ${KEY}, project ${KEY}, person VARCHAR(255), long_names LONGTEXT, at ${TIME}, purpose VARCHAR(64) NOT NULL,
    model TEXT NOT NULL, host TEXT NOT NULL, outcome VARCHAR(64) NOT NULL, units BIGINT NOT NULL, tokens_in BIGINT NOT NULL,
    tokens_cached BIGINT NOT NULL, tokens_out BIGINT NOT NULL, is_estimated BOOLEAN NOT NULL, ms DOUBLE NOT NULL, cost DOUBLE,
    PRIMARY KEY (number), UNIQUE KEY (id), KEY by_time (at), KEY by_project (project, at), KEY by_person (project, person, at)`,
  turns: `project ${KEY}, person ${KEY}, day ${TIME}, turns BIGINT NOT NULL, PRIMARY KEY (project, person, day), KEY by_day (day)`,
  shares: `project ${KEY}, id ${KEY}, version BIGINT NOT NULL, body LONGTEXT NOT NULL, PRIMARY KEY (project, id)`,
  share_parties: `project ${KEY}, party ${KEY}, id ${KEY}, PRIMARY KEY (project, party, id), KEY by_share (project, id),
    FOREIGN KEY (project, id) REFERENCES shares (project, id) ON DELETE CASCADE`,
  webhooks: `project ${KEY}, id ${KEY}, version BIGINT NOT NULL, body LONGTEXT NOT NULL, health LONGTEXT, PRIMARY KEY (project, id)`,
  webhook_cursors: `project ${KEY}, webhook ${KEY}, ${OF_PERSON}, revision BIGINT NOT NULL, failure LONGTEXT,
    PRIMARY KEY (project, webhook, person), ${TO_USERS},
    FOREIGN KEY (project, webhook) REFERENCES webhooks (project, id) ON DELETE CASCADE`,
  embedder_choices: `project ${KEY}, name ${KEY}, embedder ${KEY}, body LONGTEXT NOT NULL, PRIMARY KEY (project, name),
    KEY by_embedder (embedder)`,
  documents: `name ${KEY}, mark VARCHAR(64) NOT NULL, body LONGTEXT NOT NULL, PRIMARY KEY (name)`,
  filling: "id INT NOT NULL, body LONGTEXT NOT NULL, PRIMARY KEY (id)",
  freed: "name VARCHAR(64) NOT NULL, since BIGINT NOT NULL, last BIGINT NOT NULL, PRIMARY KEY (name)",
};

/** Makes the statement that creates a table. The collation compares every character and every trailing space. */
function buildTable(name: string, columns: string, collation: string): string {
  return (
    `CREATE TABLE IF NOT EXISTS ${name} (${columns}) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, ` +
    `CHARACTER SET utf8mb4, COLLATE ${collation}`
  );
}

/** Lists the statements of each migration, for a collation. A released migration never changes. */
export function buildMariadbMigrations(collation: string): readonly (readonly string[])[] {
  return [
    [
      ...Object.entries(RECORD_TABLES).map(([name, columns]) => buildTable(name, columns, collation)),
      "INSERT INTO identity (id) SELECT REPLACE(UUID(), '-', '') FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM identity)",
    ],
  ];
}
