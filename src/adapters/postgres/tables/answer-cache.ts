import { randomUUID } from "node:crypto";
import type { HttpAnswer, StoredAnswer } from "../../../domain/operations/stored-answer.ts";
import type { Scope } from "../../../domain/scope.ts";
import { parseBody } from "../../shared/stored-rows.ts";
import type { PostgresTransaction, Row } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import {
  decodeNames,
  encodeLongNames,
  encodeText,
  toAccessScope,
  toIndexKey,
  toScopeKeys,
} from "../database/user-rows.ts";

const ONE_ANSWER = "project = $1 AND name = $2 AND key = $3";
const ANSWER_COLUMNS = "key, long_names, request, at, state, body";
const RESERVE_ANSWER =
  "INSERT INTO answers (project, name, key, at, mark, state, request, long_names) VALUES ($1, $2, $3, $4, $5, 'begun', $6, $7) " +
  "ON CONFLICT (project, name, key) DO UPDATE SET at = excluded.at, mark = excluded.mark, state = 'begun', " +
  "request = excluded.request, body = NULL, erasures = '{}' " +
  // Overwrites an answer that is outdated, abandoned, or from this very attempt, whose reply was lost.
  "WHERE answers.at < $8 OR (answers.state = 'begun' AND answers.at < $9) OR answers.mark = excluded.mark RETURNING 1";

/** Begins an answer, or gives the existing one; see the port `AnswerCache`. */
export function reserveAnswer(
  database: PostgresDatabase,
  scope: Scope,
  begun: { readonly key: string; readonly request: string; readonly at: string },
  { outdated, abandoned }: { readonly outdated: string; readonly abandoned: string },
): Promise<StoredAnswer | undefined> {
  const mark = randomUUID();
  const [project, name] = toScopeKeys(scope);
  const key = toIndexKey(begun.key);
  return database.write(toAccessScope(scope), async (transaction) => {
    const rows = await transaction.query(
      RESERVE_ANSWER,
      project,
      name,
      key,
      begun.at,
      mark,
      encodeText(begun.request),
      encodeLongNames(begun.key),
      outdated,
      abandoned,
    );
    if (rows.length > 0) return undefined;
    // The row cannot have been deleted meanwhile: the conflict above locked it.
    const [kept] = await transaction.query(
      `SELECT ${ANSWER_COLUMNS} FROM answers WHERE ${ONE_ANSWER}`,
      project,
      name,
      key,
    );
    return kept && parseStoredAnswer(kept);
  });
}

const COMPLETE_ANSWER =
  "UPDATE answers SET state = CASE WHEN erasures <@ $4 THEN 'done' ELSE 'erased' END, " +
  "request = CASE WHEN erasures <@ $4 THEN request ELSE '' END, body = CASE WHEN erasures <@ $4 THEN $5 END " +
  `WHERE ${ONE_ANSWER} AND state = 'begun'`;

export async function completeAnswer(
  database: PostgresDatabase,
  scope: Scope,
  key: string,
  { answer, own }: { readonly answer: HttpAnswer; readonly own: readonly string[] },
): Promise<void> {
  await database.execute(
    toAccessScope(scope),
    COMPLETE_ANSWER,
    ...toScopeKeys(scope),
    toIndexKey(key),
    own.map(encodeText),
    JSON.stringify(answer),
  );
}

export async function releaseAnswer(database: PostgresDatabase, scope: Scope, key: string): Promise<void> {
  await database.execute(
    toAccessScope(scope),
    `DELETE FROM answers WHERE ${ONE_ANSWER} AND state = 'begun'`,
    ...toScopeKeys(scope),
    toIndexKey(key),
  );
}

export function deleteOldAnswers(database: PostgresDatabase, before: string): Promise<number> {
  return database.write(ALL_PROJECTS, async (transaction) => {
    const sql =
      "WITH dropped AS (DELETE FROM answers WHERE at < $1 RETURNING 1) SELECT count(*) AS found FROM dropped";
    const [row] = await transaction.query(sql, before);
    return Number(row?.found);
  });
}

const ANSWERS_OF_USER = "project = $1 AND name = $2";

/** Runs within the commit of an erasure. */
export function queueAnswerErasure(
  transaction: PostgresTransaction,
  { project, name }: { readonly project: string; readonly name: string },
  receipt: string,
): void {
  transaction.queue(
    `UPDATE answers SET state = 'erased', request = '', body = NULL WHERE ${ANSWERS_OF_USER} AND state <> 'begun'`,
    project,
    name,
  );
  transaction.queue(
    `UPDATE answers SET erasures = array_append(erasures, $3) WHERE ${ANSWERS_OF_USER} AND state = 'begun'`,
    project,
    name,
    encodeText(receipt),
  );
}

/** The stored answers of a user. */
export async function fetchStoredAnswers(database: PostgresDatabase, scope: Scope): Promise<HttpAnswer[]> {
  const sql = `SELECT body FROM answers WHERE ${ANSWERS_OF_USER} AND state = 'done'`;
  const [rows = []] = await database.query(toAccessScope(scope), { sql, values: toScopeKeys(scope) });
  return rows.map(parseBody<HttpAnswer>);
}

export function parseStoredAnswer(row: Row): StoredAnswer {
  const [key = ""] = decodeNames(row.long_names, row.key);
  const [request = ""] = decodeNames(null, row.request);
  return {
    key,
    request,
    at: row.at ?? "",
    state: row.state as StoredAnswer["state"],
    ...(row.body === null ? {} : { answer: parseBody<HttpAnswer>(row) }),
  };
}
