import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { TALKER } from "./story.ts";

/** Gives the rows of the talker of the story to so many more users, in a file of any format. */
export function growFile(path: string, users: number): void {
  const handle = new DatabaseSync(path);
  try {
    handle.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; BEGIN IMMEDIATE");
    const talker = handle
      .prepare("SELECT * FROM users WHERE name = :user AND project = :project")
      .get({ ...TALKER });
    if (!talker) throw new Error("the file holds no talker");
    const tables = handle
      .prepare(
        "SELECT sqlite_schema.name AS name FROM sqlite_schema JOIN pragma_table_info(sqlite_schema.name) AS of ON of.name = 'user' WHERE sqlite_schema.type = 'table'",
      )
      .all()
      .map(({ name }) => String(name))
      .filter((name) => name !== "calls" && name !== "turns");
    for (let at = 0; at < users; at += 1) {
      const { lastInsertRowid } = handle
        .prepare("INSERT INTO users (project, name, revision, turns) VALUES (?, ?, ?, ?)")
        .run(String(talker.project), `${talker.name}-${at}`, Number(talker.revision), Number(talker.turns));
      for (const table of tables) copyRows(handle, table, Number(talker.id), Number(lastInsertRowid));
    }
    handle.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    handle.close();
  }
}

/** Row numbers are the file's own. */
function copyRows(handle: DatabaseSync, table: string, from: number, to: number): void {
  const columns = handle
    .prepare("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => String(name))
    .filter((name) => name !== "number");
  const values = columns.map((name) => (name === "user" ? String(to) : name));
  handle.exec(
    `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${table} WHERE user = ${from}`,
  );
}

const TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";

/** How many rows each table has, and a SHA-256 over all that stands in them. */
export interface RowDigests {
  readonly [table: string]: string;
}

export function digestRows(path: string, leftOut: readonly string[] = []): RowDigests {
  const handle = new DatabaseSync(path);
  try {
    const digests: { [table: string]: string } = {};
    for (const table of tablesOf(handle)) {
      if (!leftOut.includes(table)) digests[table] = digestTable(handle, table);
    }
    return digests;
  } finally {
    handle.close();
  }
}

function digestTable(handle: DatabaseSync, table: string): string {
  const hash = createHash("sha256");
  let rows = 0;
  for (const row of handle.prepare(`SELECT * FROM ${table}`).iterate()) {
    rows += 1;
    for (const value of Object.values(row)) {
      hash.update(value instanceof Uint8Array ? value : JSON.stringify(value));
      hash.update("\0");
    }
  }
  return `${rows} ${hash.digest("hex")}`;
}

/** All rows of all tables, as text, in their order. */
export function rowsOf(path: string): string[] {
  const handle = new DatabaseSync(path, { readOnly: true });
  try {
    return tablesOf(handle).flatMap((table) =>
      handle
        .prepare(`SELECT * FROM ${table}`)
        .all()
        .map((row) => `${table} ${JSON.stringify(row)}`),
    );
  } finally {
    handle.close();
  }
}

function tablesOf(handle: DatabaseSync): string[] {
  return handle
    .prepare(TABLES)
    .all()
    .map(({ name }) => String(name));
}
