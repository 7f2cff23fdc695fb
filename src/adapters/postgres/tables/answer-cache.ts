import { randomUUID } from "node:crypto";
import type { HttpAnswer, StoredAnswer } from "../../../domain/operations/stored-answer.ts";
import type { Scope } from "../../../domain/scope.ts";
import { parseBody } from "../../shared/stored-rows.ts";
import type { Row, SqlStatement } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import {
  decodeNames,
  encodeLongNames,
  encodeText,
  ensureUserNumber,
  findAssignedNumber,
  type PostgresWriteContext,
  toAccessScope,
  toIndexKey,
  toScopeKeys,
} from "../database/user-rows.ts";

const ONE_ANSWER = "project = $1 AND name = $2 AND key = $3";
const ANSWER_COLUMNS = "key, long_names, request, at, state, body";
const buildReserveAnswer = (person = "", number = ""): string =>
  `INSERT INTO answers (${person}project, name, key, at, mark, state, request, long_names) ` +
  `VALUES (${number}$1, $2, $3, $4, $5, 'begun', $6, $7) ` +
  `ON CONFLICT (${person}project, name, key) DO UPDATE SET at = excluded.at, mark = excluded.mark, state = 'begun', ` +
  "request = excluded.request, body = NULL, erasures = '{}' " +
  // Overwrites an answer that is outdated, abandoned, or from this very attempt, whose reply was lost.
  "WHERE answers.at < $8 OR (answers.state = 'begun' AND answers.at < $9) OR answers.mark = excluded.mark RETURNING 1";
const RESERVE_ANSWER = buildReserveAnswer();
/** On Citus, answers are beside the user's rows, so that an erasure reaches both in a transaction of one node. */
const RESERVE_DISTRIBUTED_ANSWER = buildReserveAnswer("person, ", "$10, ");

/** Binds a statement, whose condition comes last, to the answers of a user. On Citus, the condition names the number, too. */
function bindAnswers(sql: string, values: readonly unknown[], number: number | undefined): SqlStatement {
  if (number === undefined) return { sql, values };
  return { sql: `${sql} AND person = $${values.length + 1}`, values: [...values, number] };
}

/** On Citus, the user's number; otherwise undefined. */
async function findShardNumber(database: PostgresDatabase, scope: Scope): Promise<number | undefined> {
  return database.settings.isDistributed ? findAssignedNumber(database, scope) : undefined;
}

/** Begins an answer, or gives the existing one; see the port `AnswerCache`. */
export async function reserveAnswer(
  database: PostgresDatabase,
  scope: Scope,
  begun: { readonly key: string; readonly request: string; readonly at: string },
  { outdated, abandoned }: { readonly outdated: string; readonly abandoned: string },
): Promise<StoredAnswer | undefined> {
  const mark = randomUUID();
  const [project, name] = toScopeKeys(scope);
  const key = toIndexKey(begun.key);
  const number = database.settings.isDistributed ? await ensureUserNumber(database, scope) : undefined;
  const select = `SELECT ${ANSWER_COLUMNS} FROM answers WHERE ${ONE_ANSWER}`;
  return database.write(toAccessScope(scope), async (transaction) => {
    const rows = await transaction.query(
      number === undefined ? RESERVE_ANSWER : RESERVE_DISTRIBUTED_ANSWER,
      project,
      name,
      key,
      begun.at,
      mark,
      encodeText(begun.request),
      encodeLongNames(begun.key),
      outdated,
      abandoned,
      ...(number === undefined ? [] : [number]),
    );
    if (rows.length > 0) return undefined;
    // The row cannot have been deleted meanwhile: the conflict above locked it.
    const [[kept] = []] = await transaction.queryAll(bindAnswers(select, [project, name, key], number));
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
  const values = [...toScopeKeys(scope), toIndexKey(key), own.map(encodeText), JSON.stringify(answer)];
  await executeOnAnswers(database, scope, COMPLETE_ANSWER, values);
}

export async function releaseAnswer(database: PostgresDatabase, scope: Scope, key: string): Promise<void> {
  const sql = `DELETE FROM answers WHERE ${ONE_ANSWER} AND state = 'begun'`;
  await executeOnAnswers(database, scope, sql, [...toScopeKeys(scope), toIndexKey(key)]);
}

async function executeOnAnswers(
  database: PostgresDatabase,
  scope: Scope,
  sql: string,
  values: readonly unknown[],
): Promise<void> {
  const statement = bindAnswers(sql, values, await findShardNumber(database, scope));
  await database.execute(toAccessScope(scope), statement.sql, ...statement.values);
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

const ERASE_ANSWERS = `UPDATE answers SET state = 'erased', request = '', body = NULL WHERE ${ANSWERS_OF_USER} AND state <> 'begun'`;
const MARK_BEGUN_ANSWERS = `UPDATE answers SET erasures = array_append(erasures, $3) WHERE ${ANSWERS_OF_USER} AND state = 'begun'`;

/** Runs within the commit of an erasure. */
export function queueAnswerErasure(
  { transaction, isDistributed, person, project, name }: PostgresWriteContext,
  receipt: string,
): void {
  const number = isDistributed ? person : undefined;
  const keys = [project, name];
  for (const { sql, values } of [
    bindAnswers(ERASE_ANSWERS, keys, number),
    bindAnswers(MARK_BEGUN_ANSWERS, [...keys, encodeText(receipt)], number),
  ])
    transaction.queue(sql, ...values);
}

/** The stored answers of a user. */
export async function fetchStoredAnswers(database: PostgresDatabase, scope: Scope): Promise<HttpAnswer[]> {
  const sql = `SELECT body FROM answers WHERE ${ANSWERS_OF_USER} AND state = 'done'`;
  const statement = bindAnswers(sql, toScopeKeys(scope), await findShardNumber(database, scope));
  const [rows = []] = await database.query(toAccessScope(scope), statement);
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
