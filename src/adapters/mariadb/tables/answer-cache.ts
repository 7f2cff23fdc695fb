import { randomUUID } from "node:crypto";
import type { HttpAnswer, StoredAnswer } from "../../../domain/operations/stored-answer.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { AnswerCache } from "../../../ports/stores/answer-cache.ts";
import { parseBody } from "../../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "../database.ts";
import { parseNames, toLongNames, toMariadbKey, toMariadbScopeKeys } from "../keys.ts";

const ONE_ANSWER = "project = ? AND name = ? AND `key` = ?";

/** HTTP answers kept under idempotency keys. */
export function createMariadbAnswers(database: MariadbDatabase): AnswerCache {
  return {
    beginAnswer: (scope, begun, limits) => beginAnswer(database, scope, begun, limits),
    endAnswer: (scope, key, answer, own) =>
      database.write(async (transaction) => {
        const place = [...toMariadbScopeKeys(scope), toMariadbKey(key)];
        const sql = `SELECT erasures AS body FROM answers WHERE ${ONE_ANSWER} AND state = 'begun' FOR UPDATE`;
        const [row] = await transaction.query(sql, ...place);
        if (!row) return;
        const isErased = parseBody<string[]>(row).some((receipt) => !own.includes(receipt));
        const [change, values] = isErased
          ? [SET_ERASED, []]
          : ["state = 'done', body = ?", [JSON.stringify(answer)]];
        await transaction.run(`UPDATE answers SET ${change} WHERE ${ONE_ANSWER}`, ...values, ...place);
      }),
    releaseAnswer: (scope, key) =>
      database.write(async (transaction) => {
        const place = [...toMariadbScopeKeys(scope), toMariadbKey(key)];
        await transaction.run(`DELETE FROM answers WHERE ${ONE_ANSWER} AND state = 'begun'`, ...place);
      }),
    dropAnswers: (before) =>
      database.write((transaction) => transaction.run("DELETE FROM answers WHERE at < ?", before)),
  };
}

const PUT_BEGUN =
  "INSERT INTO answers (project, name, `key`, long_names, at, mark, state, request, erasures) " +
  "VALUES (?, ?, ?, ?, ?, ?, 'begun', ?, '[]') ON DUPLICATE KEY UPDATE at = at";
const TAKE_OVER = `UPDATE answers SET at = ?, mark = ?, state = 'begun', request = ?, body = NULL, erasures = '[]' WHERE ${ONE_ANSWER}`;

function beginAnswer(
  database: MariadbDatabase,
  scope: Scope,
  begun: { readonly key: string; readonly request: string; readonly at: string },
  { outdated, abandoned }: { readonly outdated: string; readonly abandoned: string },
): Promise<StoredAnswer | undefined> {
  // The mark tells this attempt from others, also after a COMMIT whose reply was lost.
  const mark = randomUUID();
  const place = [...toMariadbScopeKeys(scope), toMariadbKey(begun.key)];
  const request = begun.request.toWellFormed();
  return database.write(async (transaction) => {
    await transaction.run(PUT_BEGUN, ...place, toLongNames(begun.key), begun.at, mark, request);
    const [row] = await transaction.query(`SELECT * FROM answers WHERE ${ONE_ANSWER} FOR UPDATE`, ...place);
    if (!row || row.mark === mark) return undefined;
    const kept = parseMariadbAnswer(row);
    const makesRoom = kept.at < outdated || (kept.state === "begun" && kept.at < abandoned);
    if (!makesRoom) return kept;
    await transaction.run(TAKE_OVER, begun.at, mark, request, ...place);
    return undefined;
  });
}

const SET_ERASED = "state = 'erased', request = '', body = NULL";

/** Runs within the commit of an erasure. */
export async function eraseMariadbAnswers(
  transaction: MariadbTransaction,
  scope: Scope,
  receipt: string,
): Promise<void> {
  const keys = toMariadbScopeKeys(scope);
  const ofUser = "project = ? AND name = ? AND state";
  await transaction.run(`UPDATE answers SET ${SET_ERASED} WHERE ${ofUser} <> 'begun'`, ...keys);
  await transaction.run(
    `UPDATE answers SET erasures = JSON_ARRAY_APPEND(erasures, '$', ?) WHERE ${ofUser} = 'begun'`,
    receipt.toWellFormed(),
    ...keys,
  );
}

/** The stored answers of a user. */
export async function selectMariadbAnswers(database: MariadbDatabase, scope: Scope): Promise<HttpAnswer[]> {
  const sql = "SELECT body FROM answers WHERE project = ? AND name = ? AND state = 'done'";
  return (await database.query(sql, ...toMariadbScopeKeys(scope))).map(parseBody<HttpAnswer>);
}

export function parseMariadbAnswer(row: MariadbRow): StoredAnswer {
  const [key = ""] = parseNames(row.long_names, row.key);
  return {
    key,
    request: String(row.request),
    at: String(row.at),
    state: row.state as StoredAnswer["state"],
    ...(row.body === null ? {} : { answer: parseBody<HttpAnswer>(row) }),
  };
}
