import { randomUUID } from "node:crypto";
import type { GivenAnswer, KeptAnswer } from "../../domain/kept-answer.ts";
import type { Scope } from "../../domain/scope.ts";
import { bodyOf } from "../shared/stored-body.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { keyOf, longNames, namesOf, textOf } from "./names.ts";
import type { Row } from "./pool.ts";
import { keysOf, reachOf } from "./rows.ts";
import type { Transaction } from "./statement.ts";

const ONE = "project = $1 AND name = $2 AND key = $3";
const ANSWER = "key, long_names, request, at, state, body";
const BEGIN =
  "INSERT INTO answers (project, name, key, at, mark, state, request, long_names) VALUES ($1, $2, $3, $4, $5, 'begun', $6, $7) " +
  "ON CONFLICT (project, name, key) DO UPDATE SET at = excluded.at, mark = excluded.mark, state = 'begun', " +
  "request = excluded.request, body = NULL, erasures = '{}' " +
  // One that is too old makes room, and one that was begun and left; and that of this very attempt, whose answer was lost.
  "WHERE answers.at < $8 OR (answers.state = 'begun' AND answers.at < $9) OR answers.mark = excluded.mark RETURNING 1";

/** Begins an answer, or gives the one that is there; see `KeptAnswers`. */
export function beginAnswer(
  database: Database,
  scope: Scope,
  begun: { readonly key: string; readonly request: string; readonly at: string },
  { outdated, abandoned }: { readonly outdated: string; readonly abandoned: string },
): Promise<KeptAnswer | undefined> {
  const mark = randomUUID();
  const [project, name] = keysOf(scope);
  const key = keyOf(begun.key);
  return database.write(reachOf(scope), async (transaction) => {
    const rows = await transaction.rows(
      BEGIN,
      project,
      name,
      key,
      begun.at,
      mark,
      textOf(begun.request),
      longNames(begun.key),
      outdated,
      abandoned,
    );
    if (rows.length > 0) return undefined;
    // Nobody can have taken it away in between: the conflict above locked it.
    const [kept] = await transaction.rows(`SELECT ${ANSWER} FROM answers WHERE ${ONE}`, project, name, key);
    return kept && keptOf(kept);
  });
}

const END =
  "UPDATE answers SET state = CASE WHEN erasures <@ $4 THEN 'done' ELSE 'erased' END, " +
  "request = CASE WHEN erasures <@ $4 THEN request ELSE '' END, body = CASE WHEN erasures <@ $4 THEN $5 END " +
  `WHERE ${ONE} AND state = 'begun'`;

export async function endAnswer(
  database: Database,
  scope: Scope,
  key: string,
  { answer, own }: { readonly answer: GivenAnswer; readonly own: readonly string[] },
): Promise<void> {
  await database.write(reachOf(scope), async (transaction) => {
    transaction.later(END, ...keysOf(scope), keyOf(key), own.map(textOf), JSON.stringify(answer));
  });
}

export async function letAnswerGo(database: Database, scope: Scope, key: string): Promise<void> {
  await database.write(reachOf(scope), async (transaction) => {
    transaction.later(`DELETE FROM answers WHERE ${ONE} AND state = 'begun'`, ...keysOf(scope), keyOf(key));
  });
}

export function dropAnswers(database: Database, before: string): Promise<number> {
  return database.write(EVERYBODY, async (transaction) => {
    const sql =
      "WITH dropped AS (DELETE FROM answers WHERE at < $1 RETURNING 1) SELECT count(*) AS found FROM dropped";
    const [row] = await transaction.rows(sql, before);
    return Number(row?.found);
  });
}

const OF_USER = "project = $1 AND name = $2";

/** Within the commit of an erasure. */
export function eraseAnswers(
  transaction: Transaction,
  { project, name }: { readonly project: string; readonly name: string },
  receipt: string,
): void {
  transaction.later(
    `UPDATE answers SET state = 'erased', request = '', body = NULL WHERE ${OF_USER} AND state <> 'begun'`,
    project,
    name,
  );
  transaction.later(
    `UPDATE answers SET erasures = array_append(erasures, $3) WHERE ${OF_USER} AND state = 'begun'`,
    project,
    name,
    textOf(receipt),
  );
}

/** What the answers of a user hold. */
export async function answersHeld(database: Database, scope: Scope): Promise<GivenAnswer[]> {
  const sql = `SELECT body FROM answers WHERE ${OF_USER} AND state = 'done'`;
  const [rows = []] = await database.ask(reachOf(scope), { sql, values: keysOf(scope) });
  return rows.map(bodyOf<GivenAnswer>);
}

export function keptOf(row: Row): KeptAnswer {
  const [key = ""] = namesOf(row.long_names, row.key);
  const [request = ""] = namesOf(null, row.request);
  return {
    key,
    request,
    at: row.at ?? "",
    state: row.state as KeptAnswer["state"],
    ...(row.body === null ? {} : { answer: bodyOf<GivenAnswer>(row) }),
  };
}
