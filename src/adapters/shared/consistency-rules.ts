/** A query that must return no row. A fault gives counts and places only: a check never shows a user's text. */
export type ConsistencyRule = readonly [place: string, problem: string, sql: string];

/** How a database names the columns that the rules join. */
interface RuleColumns {
  /** The column of each table with the user's number. */
  readonly user: "user" | "person";
  /** The column of `users` with it. */
  readonly number: "id" | "number";
  /** A condition on `users` that exempts a user from the limit of revisions. */
  readonly isExempt?: string;
}

/** A memory that was undone (see `isUndone`). A quote inside a text has a backslash before it, so no text looks like this. */
const IS_UNDONE = ['"status":"retracted"', '"action":"retracted"', '"why":"undone"']
  .map((field) => `coalesce(versions.body, '') LIKE '%${field}%'`)
  .join(" AND ");

/** The rules that hold for all SQL adapters, whose tables have the same names. */
export function buildConsistencyRules({
  user,
  number,
  isExempt = "false",
}: RuleColumns): readonly ConsistencyRule[] {
  const revisions = ["messages", "heads", "units", "gone", "receipts"]
    .map((table) => `SELECT ${user}, revision FROM ${table}`)
    .join(" UNION ALL ");
  return [
    [
      "memories",
      "without a version that they name",
      `SELECT 1 FROM heads LEFT JOIN versions USING (${user}, id, version) WHERE versions.id IS NULL`,
    ],
    [
      "memories",
      "not at their newest version",
      `SELECT 1 FROM heads JOIN versions USING (${user}, id) WHERE versions.version > heads.version`,
    ],
    [
      "memories",
      "without a search unit",
      `SELECT 1 FROM heads LEFT JOIN units USING (${user}, id) LEFT JOIN versions USING (${user}, id, version) ` +
        `WHERE units.id IS NULL AND NOT (${IS_UNDONE})`,
    ],
    [
      "versions",
      "without a memory",
      `SELECT 1 FROM versions LEFT JOIN heads USING (${user}, id) WHERE heads.id IS NULL`,
    ],
    [
      "versions",
      "with a gap before them",
      `SELECT 1 FROM versions GROUP BY ${user}, id HAVING min(version) <> 1 OR max(version) <> count(*)`,
    ],
    [
      "messages",
      "with the turn of another, or after a gap",
      `SELECT 1 FROM messages GROUP BY ${user} HAVING count(DISTINCT turn) <> count(*) OR min(turn) <> 1 OR max(turn) <> count(*)`,
    ],
    [
      "units",
      "of a message that is not there",
      `SELECT 1 FROM units LEFT JOIN messages ON messages.${user} = units.${user} AND messages.id = units.owner ` +
        "WHERE units.type = 'passage' AND messages.id IS NULL",
    ],
    [
      "units",
      "of a memory that is not there",
      `SELECT 1 FROM units LEFT JOIN heads ON heads.${user} = units.${user} AND heads.id = units.owner ` +
        "WHERE units.type = 'memory' AND heads.id IS NULL",
    ],
    [
      "units",
      "with a vector of another length than the rest of their space",
      "SELECT 1 FROM (SELECT space, CASE length(vector) % 2 WHEN 1 THEN (length(vector) - 1) / 2 ELSE length(vector) / 4.0 END AS parts " +
        "FROM units) AS vectors GROUP BY space HAVING min(parts) <> max(parts) OR max(parts) <> round(max(parts))",
    ],
    [
      "uses",
      "of a memory that is not there",
      `SELECT 1 FROM uses LEFT JOIN heads USING (${user}, id) WHERE heads.id IS NULL`,
    ],
    [
      "units",
      "both there and gone",
      `SELECT 1 FROM gone JOIN units USING (${user}, id) WHERE gone.type = 'unit'`,
    ],
    [
      "memories",
      "both there and gone",
      `SELECT 1 FROM gone JOIN heads USING (${user}, id) WHERE gone.type = 'memory'`,
    ],
    [
      "users",
      "whose log has a gap or ends at another revision",
      `SELECT 1 FROM users LEFT JOIN (SELECT ${user}, count(*) AS entries, max(revision) AS newest FROM log GROUP BY ${user}) AS logged ` +
        `ON logged.${user} = users.${number} WHERE revision <> coalesce(entries, 0) OR revision <> coalesce(newest, 0)`,
    ],
    [
      "users",
      "whose turns are not those of the messages",
      `SELECT 1 FROM users LEFT JOIN (SELECT ${user}, count(*) AS stored FROM messages GROUP BY ${user}) AS counted ` +
        `ON counted.${user} = users.${number} WHERE turns <> coalesce(stored, 0)`,
    ],
    [
      "users",
      "with rows of a revision that has not been",
      `SELECT 1 FROM (${revisions}) AS written JOIN users ON users.${number} = written.${user} ` +
        `WHERE (written.revision > users.revision AND NOT (${isExempt})) OR written.revision < 1`,
    ],
  ];
}
