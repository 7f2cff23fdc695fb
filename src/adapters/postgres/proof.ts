import type { BackupNote } from "../../domain/backup.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Trace } from "../../domain/trace.ts";
import type { DependentCounts, ErasureSummary } from "../../ports/record.ts";
import { parseBody } from "../shared/stored-body.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database.ts";
import { fetchStoredAnswers } from "./kept-answers.ts";
import { encodeText, toIndexKey } from "./names.ts";
import { fetchRowsOfAllProjects, fetchUserRows } from "./read.ts";
import { findUserNumber, parseScope, toAccessScope } from "./rows.ts";
import { createStatement } from "./statement.ts";

export async function fetchErasureSummaries(database: PostgresDatabase): Promise<ErasureSummary[]> {
  const rows = await fetchRowsOfAllProjects(
    database,
    createStatement(
      "SELECT users.project, name, long_names, body, trace IS NOT NULL AS traced FROM erasures " +
        "JOIN users ON users.number = erasures.person ORDER BY erasures.number",
    ),
  );
  return rows.map((row) => {
    const { id, replays, verified, complete } = parseBody<ErasureReceipt>(row);
    return {
      receipt: id,
      ...toScopeNames(row),
      ...(replays === undefined ? {} : { replays }),
      hasTrace: row.traced === "t",
      isVerified: verified.length > 0,
      isComplete: complete,
    };
  });
}

function toScopeNames(row: Parameters<typeof parseScope>[0]): { project: string; user: string } {
  const { project, user } = parseScope(row);
  return { project, user };
}

/** What erasures took, in the order in which they were made. */
export async function fetchTraces(database: PostgresDatabase, scope?: Scope): Promise<Trace[]> {
  const rows = scope
    ? await fetchUserRows(
        database,
        scope,
        "SELECT trace AS body FROM erasures WHERE person = $1 AND trace IS NOT NULL ORDER BY number",
      )
    : await fetchRowsOfAllProjects(
        database,
        createStatement("SELECT trace AS body FROM erasures WHERE trace IS NOT NULL ORDER BY number"),
      );
  return rows.map(parseBody<Trace>);
}

const COUNT_LINKS =
  "SELECT count(*) AS found FROM links WHERE person = $1 AND (source = ANY ($2) OR target = ANY ($2))";

export async function fetchTouchedCounts(
  database: PostgresDatabase,
  scope: Scope,
  memories: readonly string[],
): Promise<DependentCounts> {
  const person = await findUserNumber(database, scope);
  const [links = [], blocks = [], receipts = []] = await database.query(
    toAccessScope(scope),
    createStatement(COUNT_LINKS, person, memories.map(toIndexKey)),
    createStatement("SELECT count(*) AS found FROM blocks WHERE person = $1 AND piece = 0", person),
    createStatement("SELECT body FROM receipts WHERE person = $1", person),
  );
  const ids = new Set(memories);
  const naming = receipts.filter((row) => parseBody<KeptReceipt>(row).memories.some(({ id }) => ids.has(id)));
  const held = await fetchStoredAnswers(database, scope);
  return {
    links: Number(links[0]?.found),
    blocks: Number(blocks[0]?.found),
    answers: naming.length + held.length,
  };
}

export async function fetchIdentity(database: PostgresDatabase): Promise<string> {
  const [row] = await fetchRowsOfAllProjects(database, createStatement("SELECT id FROM identity"));
  return row?.id ?? "";
}

export async function fetchBackupNotes(database: PostgresDatabase): Promise<BackupNote[]> {
  const rows = await fetchRowsOfAllProjects(
    database,
    createStatement("SELECT body FROM backups ORDER BY number"),
  );
  return rows.map(parseBody<BackupNote>);
}

export async function storeBackupNote(database: PostgresDatabase, note: BackupNote): Promise<void> {
  await database.write(ALL_PROJECTS, async (transaction) => {
    transaction.queue(
      "INSERT INTO backups (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
      encodeText(note.name),
      JSON.stringify(note),
    );
  });
}
