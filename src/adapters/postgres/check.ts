import type { Fault } from "../../ports/record.ts";
import { findBodyFaults } from "./check-bodies.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database.ts";
import { createStatement } from "./statement.ts";

/** What must give no row. Counts and places only: a check shows no user's text. */
const CONSISTENCY_RULES: readonly (readonly [place: string, problem: string, sql: string])[] = [
  [
    "memories",
    "without a version that they name",
    "SELECT 1 FROM heads LEFT JOIN versions USING (person, id, version) WHERE versions.id IS NULL",
  ],
  [
    "memories",
    "not at their newest version",
    "SELECT 1 FROM heads JOIN versions USING (person, id) WHERE versions.version > heads.version",
  ],
  [
    "memories",
    "without a search unit",
    "SELECT 1 FROM heads LEFT JOIN units USING (person, id) WHERE units.id IS NULL",
  ],
  [
    "versions",
    "without a memory",
    "SELECT 1 FROM versions LEFT JOIN heads USING (person, id) WHERE heads.id IS NULL",
  ],
  [
    "versions",
    "with a gap before them",
    "SELECT 1 FROM versions GROUP BY person, id HAVING min(version) <> 1 OR max(version) <> count(*)",
  ],
  [
    "messages",
    "with the turn of another, or after a gap",
    "SELECT 1 FROM messages GROUP BY person HAVING count(DISTINCT turn) <> count(*) OR min(turn) <> 1 OR max(turn) <> count(*)",
  ],
  [
    "units",
    "of a message that is not there",
    "SELECT 1 FROM units LEFT JOIN messages ON messages.person = units.person AND messages.id = units.owner " +
      "WHERE units.type = 'passage' AND messages.id IS NULL",
  ],
  [
    "units",
    "of a memory that is not there",
    "SELECT 1 FROM units LEFT JOIN heads ON heads.person = units.person AND heads.id = units.owner " +
      "WHERE units.type = 'memory' AND heads.id IS NULL",
  ],
  [
    "units",
    "with a vector of another length than the rest of their space",
    "SELECT 1 FROM (SELECT space, CASE length(vector) % 2 WHEN 1 THEN (length(vector) - 1) / 2 ELSE length(vector) / 4.0 END AS parts " +
      "FROM units) AS vectors GROUP BY space HAVING min(parts) <> max(parts) OR max(parts) <> round(max(parts))",
  ],
  [
    "units",
    "both there and gone",
    "SELECT 1 FROM gone JOIN units USING (person, id) WHERE gone.type = 'unit'",
  ],
  [
    "memories",
    "both there and gone",
    "SELECT 1 FROM gone JOIN heads USING (person, id) WHERE gone.type = 'memory'",
  ],
  [
    "users",
    "whose log has a gap or ends at another revision",
    "SELECT 1 FROM users LEFT JOIN (SELECT person, count(*) AS entries, max(revision) AS newest FROM log GROUP BY person) AS entries " +
      "ON person = number WHERE revision <> coalesce(entries, 0) OR revision <> coalesce(newest, 0)",
  ],
  [
    "users",
    "whose turns are not those of the messages",
    "SELECT 1 FROM users LEFT JOIN (SELECT person, count(*) AS held FROM messages GROUP BY person) AS messages " +
      "ON person = number WHERE turns <> coalesce(held, 0)",
  ],
  [
    "users",
    "with rows of a revision that has not been",
    "SELECT 1 FROM (SELECT person, revision FROM messages UNION ALL SELECT person, revision FROM heads UNION ALL " +
      "SELECT person, revision FROM units UNION ALL SELECT person, revision FROM gone UNION ALL SELECT person, revision FROM receipts) AS rows " +
      "JOIN users ON users.number = rows.person WHERE rows.revision > users.revision OR rows.revision < 1",
  ],
  // The database holds to it as it writes; here it is looked at what a restore put in.
  [
    "rows",
    "of another project than their user's, or of nobody",
    [
      ...["messages", "versions", "heads", "units", "gone", "tombstones", "links", "log", "receipts"],
      ...["erasures", "blocks", "recalls", "visits"],
    ]
      .map(
        (table) =>
          `SELECT 1 FROM ${table} LEFT JOIN users ON users.number = ${table}.person AND users.project = ${table}.project ` +
          "WHERE users.number IS NULL",
      )
      .join(" UNION ALL "),
  ],
];

const CHECK_MS = 600_000;

/** All laws as of one moment, then the bodies of rows. */
export async function checkPostgresStore(database: PostgresDatabase): Promise<Fault[]> {
  const counts = await database.read(
    ALL_PROJECTS,
    (transaction) =>
      transaction.queryAll(
        ...CONSISTENCY_RULES.map(([, , sql]) =>
          createStatement(`SELECT count(*) AS found FROM (${sql}) AS broken`),
        ),
      ),
    CHECK_MS,
  );
  const faults = CONSISTENCY_RULES.map(
    ([place, problem], i): Fault => ({ place, problem, count: Number(counts[i]?.[0]?.found) }),
  );
  return [...faults, ...(await findBodyFaults(database))].filter(({ count }) => count > 0);
}
