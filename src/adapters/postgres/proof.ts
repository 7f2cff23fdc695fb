import type { BackupNote } from "../../domain/backup.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Trace } from "../../domain/trace.ts";
import type { ErasureMark, Touched } from "../../ports/record.ts";
import { bodyOf } from "../shared/stored-body.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { answersHeld } from "./kept-answers.ts";
import { keyOf, textOf } from "./names.ts";
import { everybodys, rowsOf } from "./read.ts";
import { personOf, reachOf, scopeOf } from "./rows.ts";
import { statement } from "./statement.ts";

export async function erasureMarks(database: Database): Promise<ErasureMark[]> {
  const rows = await everybodys(
    database,
    statement(
      "SELECT users.project, name, long_names, body, trace IS NOT NULL AS traced FROM erasures " +
        "JOIN users ON users.number = erasures.person ORDER BY erasures.number",
    ),
  );
  return rows.map((row) => {
    const { id, replays, verified, complete } = bodyOf<ErasureReceipt>(row);
    return {
      receipt: id,
      ...namesOfRow(row),
      ...(replays === undefined ? {} : { replays }),
      hasTrace: row.traced === "t",
      isVerified: verified.length > 0,
      isComplete: complete,
    };
  });
}

function namesOfRow(row: Parameters<typeof scopeOf>[0]): { project: string; user: string } {
  const { project, user } = scopeOf(row);
  return { project, user };
}

/** What erasures took, in the order in which they were made. */
export async function traces(database: Database, scope?: Scope): Promise<Trace[]> {
  const rows = scope
    ? await rowsOf(
        database,
        scope,
        "SELECT trace AS body FROM erasures WHERE person = $1 AND trace IS NOT NULL ORDER BY number",
      )
    : await everybodys(
        database,
        statement("SELECT trace AS body FROM erasures WHERE trace IS NOT NULL ORDER BY number"),
      );
  return rows.map(bodyOf<Trace>);
}

const LINKS =
  "SELECT count(*) AS found FROM links WHERE person = $1 AND (source = ANY ($2) OR target = ANY ($2))";

export async function touched(
  database: Database,
  scope: Scope,
  memories: readonly string[],
): Promise<Touched> {
  const person = await personOf(database, scope);
  const [links = [], blocks = [], receipts = []] = await database.ask(
    reachOf(scope),
    statement(LINKS, person, memories.map(keyOf)),
    statement("SELECT count(*) AS found FROM blocks WHERE person = $1 AND piece = 0", person),
    statement("SELECT body FROM receipts WHERE person = $1", person),
  );
  const ids = new Set(memories);
  const naming = receipts.filter((row) => bodyOf<KeptReceipt>(row).memories.some(({ id }) => ids.has(id)));
  const held = await answersHeld(database, scope);
  return {
    links: Number(links[0]?.found),
    blocks: Number(blocks[0]?.found),
    answers: naming.length + held.length,
  };
}

export async function identity(database: Database): Promise<string> {
  const [row] = await everybodys(database, statement("SELECT id FROM identity"));
  return row?.id ?? "";
}

export async function backups(database: Database): Promise<BackupNote[]> {
  const rows = await everybodys(database, statement("SELECT body FROM backups ORDER BY number"));
  return rows.map(bodyOf<BackupNote>);
}

export async function noteBackup(database: Database, note: BackupNote): Promise<void> {
  await database.write(EVERYBODY, async (transaction) => {
    transaction.later(
      "INSERT INTO backups (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
      textOf(note.name),
      JSON.stringify(note),
    );
  });
}
