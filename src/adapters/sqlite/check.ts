import type { Fault } from "../../ports/record.ts";
import type { Database } from "./database.ts";

/** What must give no row. Counts and places only: a check shows no user's text. */
const LAWS: readonly (readonly [place: string, problem: string, sql: string])[] = [
  [
    "heads",
    "without the version they name",
    "SELECT 1 FROM heads LEFT JOIN versions USING (user, id, version) WHERE versions.id IS NULL",
  ],
  [
    "heads",
    "not at the newest version",
    "SELECT 1 FROM heads WHERE version <> (SELECT max(version) FROM versions WHERE versions.user = heads.user AND versions.id = heads.id)",
  ],
  [
    "versions",
    "without a head",
    "SELECT 1 FROM versions LEFT JOIN heads USING (user, id) WHERE heads.id IS NULL",
  ],
  [
    "versions",
    "with a gap before them",
    "SELECT 1 FROM versions v WHERE v.version > 1 AND NOT EXISTS (SELECT 1 FROM versions w WHERE w.user = v.user AND w.id = v.id AND w.version = v.version - 1)",
  ],
  [
    "units",
    "passages without a message",
    "SELECT 1 FROM units LEFT JOIN messages ON messages.user = units.user AND messages.id = units.owner WHERE units.type = 'passage' AND messages.id IS NULL",
  ],
  [
    "units",
    "without a memory",
    "SELECT 1 FROM units LEFT JOIN heads ON heads.user = units.user AND heads.id = units.owner WHERE units.type = 'memory' AND heads.id IS NULL",
  ],
  [
    "heads",
    "without a search unit",
    "SELECT 1 FROM heads LEFT JOIN units ON units.user = heads.user AND units.id = heads.id WHERE units.id IS NULL",
  ],
  [
    "messages",
    "searchable but without a passage",
    "SELECT 1 FROM messages WHERE body ->> '$.content' <> '' AND trim(body ->> '$.content', char(9, 10, 13, 32)) <> '' AND coalesce(body ->> '$.undone', 0) = 0 AND NOT EXISTS (SELECT 1 FROM units WHERE units.user = messages.user AND units.owner = messages.id AND units.type = 'passage')",
  ],
  ["messages", "with the turn of another", "SELECT 1 FROM messages GROUP BY user, turn HAVING count(*) > 1"],
  [
    "users",
    "whose revision is not that of the log",
    "SELECT 1 FROM users WHERE revision <> (SELECT count(*) FROM log WHERE log.user = users.id) OR revision <> coalesce((SELECT max(revision) FROM log WHERE log.user = users.id), 0)",
  ],
  [
    "users",
    "whose turns are not those of the messages",
    "SELECT 1 FROM users WHERE turns <> (SELECT count(*) FROM messages WHERE messages.user = users.id)",
  ],
  [
    "vectors",
    "of a length that is none of 32-bit floats",
    "SELECT 1 FROM units WHERE length(vector) % 4 <> 0",
  ],
  [
    "bodies",
    "that are no JSON",
    "SELECT 1 FROM (SELECT body FROM messages UNION ALL SELECT body FROM versions UNION ALL SELECT body FROM log UNION ALL SELECT body FROM erasures) WHERE NOT json_valid(body)",
  ],
];

/** Damage first: where the file itself is damaged, counting its rows would only mislead. */
export function check(database: Database): Fault[] {
  const problems = database.handle
    .prepare("PRAGMA integrity_check(20)")
    .all()
    .map((row) => String(row.integrity_check))
    .filter((problem) => problem !== "ok");
  if (problems.length > 0)
    return [{ place: "file", problem: "damaged pages or indexes", count: problems.length }];
  const faults: Fault[] = [];
  const orphans = database.handle.prepare("PRAGMA foreign_key_check").all().length;
  if (orphans > 0) faults.push({ place: "rows", problem: "without the row they belong to", count: orphans });
  for (const [place, problem, sql] of LAWS) {
    const count = Number(database.handle.prepare(`SELECT count(*) AS found FROM (${sql})`).get()?.found);
    if (count > 0) faults.push({ place, problem, count });
  }
  return faults;
}
