import type { HttpAnswer, StoredAnswer } from "../../../domain/operations/stored-answer.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { SqliteDatabase, SqliteRow } from "../database.ts";
import { checkNames, parseBody } from "../database.ts";

const ANSWERS_OF_USER = "project = :project AND name = :name";
const ONE_ANSWER = `${ANSWERS_OF_USER} AND key = :key`;

/** Begins an answer, or gives the existing one; see the port `AnswerCache`. */
export function beginStoredAnswer(
  database: SqliteDatabase,
  scope: Scope,
  begun: { readonly key: string; readonly request: string; readonly at: string },
  { outdated, abandoned }: { readonly outdated: string; readonly abandoned: string },
): StoredAnswer | undefined {
  return database.transaction(() => {
    const place = toAnswerKey(scope, begun.key);
    const row = database.statement(`SELECT * FROM answers WHERE ${ONE_ANSWER}`).get(place);
    const kept = row && toStoredAnswer(row);
    const makesRoom = kept && (kept.at < outdated || (kept.state === "begun" && kept.at < abandoned));
    if (kept && !makesRoom) return kept;
    database
      .statement(
        "INSERT OR REPLACE INTO answers (project, name, key, at, state, request, body) " +
          "VALUES (:project, :name, :key, :at, 'begun', :request, NULL)",
      )
      .run({ ...place, at: begun.at, request: begun.request });
    return undefined;
  });
}

export function endStoredAnswer(
  database: SqliteDatabase,
  scope: Scope,
  key: string,
  { answer, own }: { readonly answer: HttpAnswer; readonly own: readonly string[] },
): void {
  database.transaction(() => {
    const place = toAnswerKey(scope, key);
    const row = database
      .statement(`SELECT erasures AS body FROM answers WHERE ${ONE_ANSWER} AND state = 'begun'`)
      .get(place);
    if (!row) return;
    const isErased = parseBody<string[]>(row).some((receipt) => !own.includes(receipt));
    if (isErased) {
      database.statement(`UPDATE answers SET ${SET_ERASED} WHERE ${ONE_ANSWER}`).run(place);
    } else {
      database
        .statement(`UPDATE answers SET state = 'done', body = :body WHERE ${ONE_ANSWER}`)
        .run({ ...place, body: JSON.stringify(answer) });
    }
  });
}

export function cancelStoredAnswer(database: SqliteDatabase, scope: Scope, key: string): void {
  database
    .statement(`DELETE FROM answers WHERE ${ONE_ANSWER} AND state = 'begun'`)
    .run(toAnswerKey(scope, key));
}

export function deleteStoredAnswers(database: SqliteDatabase, before: string): number {
  return Number(database.statement("DELETE FROM answers WHERE at < :before").run({ before }).changes);
}

const SET_ERASED = "state = 'erased', request = '', body = NULL";

/** Runs within the commit of an erasure. */
export function eraseStoredAnswers(database: SqliteDatabase, user: number, receipt: string): void {
  const whose = "(project, name) = (SELECT project, name FROM users WHERE id = :user)";
  database.statement(`UPDATE answers SET ${SET_ERASED} WHERE ${whose} AND state != 'begun'`).run({ user });
  database
    .statement(
      `UPDATE answers SET erasures = json_insert(erasures, '$[#]', :receipt) WHERE ${whose} AND state = 'begun'`,
    )
    .run({ user, receipt });
}

/** The stored answers of a user. */
export function readStoredAnswers(database: SqliteDatabase, { project, user: name }: Scope): HttpAnswer[] {
  return database
    .statement(`SELECT body FROM answers WHERE ${ANSWERS_OF_USER} AND state = 'done'`)
    .all({ project, name })
    .map(parseBody<HttpAnswer>);
}

function toAnswerKey(
  { project, user: name }: Scope,
  key: string,
): { project: string; name: string; key: string } {
  checkNames(project, name);
  return { project, name, key };
}

export function toStoredAnswer(row: SqliteRow): StoredAnswer {
  const { key, request, at, state } = row;
  return {
    key: String(key),
    request: String(request),
    at: String(at),
    state: String(state) as StoredAnswer["state"],
    ...(row.body === null ? {} : { answer: parseBody<HttpAnswer>(row) }),
  };
}
