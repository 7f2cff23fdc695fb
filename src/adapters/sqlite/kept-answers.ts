import type { GivenAnswer, KeptAnswer } from "../../domain/kept-answer.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Database, Row } from "./database.ts";
import { bodyOf, checkNames } from "./rows.ts";

const OF_USER = "project = :project AND name = :name";
const ONE = `${OF_USER} AND key = :key`;

/** Begins an answer, or gives the one that is there; see `KeptAnswers`. */
export function beginAnswer(
  database: Database,
  scope: Scope,
  begun: { readonly key: string; readonly request: string; readonly at: string },
  { outdated, abandoned }: { readonly outdated: string; readonly abandoned: string },
): KeptAnswer | undefined {
  return database.transaction(() => {
    const place = placeOf(scope, begun.key);
    const row = database.statement(`SELECT * FROM answers WHERE ${ONE}`).get(place);
    const kept = row && keptOf(row);
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

export function endAnswer(
  database: Database,
  scope: Scope,
  key: string,
  { answer, own }: { readonly answer: GivenAnswer; readonly own: readonly string[] },
): void {
  database.transaction(() => {
    const place = placeOf(scope, key);
    const row = database
      .statement(`SELECT erasures AS body FROM answers WHERE ${ONE} AND state = 'begun'`)
      .get(place);
    if (!row) return;
    const isErased = bodyOf<string[]>(row).some((receipt) => !own.includes(receipt));
    if (isErased) {
      database.statement(`UPDATE answers SET ${ERASED} WHERE ${ONE}`).run(place);
    } else {
      database
        .statement(`UPDATE answers SET state = 'done', body = :body WHERE ${ONE}`)
        .run({ ...place, body: JSON.stringify(answer) });
    }
  });
}

export function letAnswerGo(database: Database, scope: Scope, key: string): void {
  database.statement(`DELETE FROM answers WHERE ${ONE} AND state = 'begun'`).run(placeOf(scope, key));
}

export function dropAnswers(database: Database, before: string): number {
  return Number(database.statement("DELETE FROM answers WHERE at < :before").run({ before }).changes);
}

const ERASED = "state = 'erased', request = '', body = NULL";

/** Within the commit of an erasure. */
export function eraseAnswers(database: Database, user: number, receipt: string): void {
  const whose = "(project, name) = (SELECT project, name FROM users WHERE id = :user)";
  database.statement(`UPDATE answers SET ${ERASED} WHERE ${whose} AND state != 'begun'`).run({ user });
  database
    .statement(
      `UPDATE answers SET erasures = json_insert(erasures, '$[#]', :receipt) WHERE ${whose} AND state = 'begun'`,
    )
    .run({ user, receipt });
}

/** What the answers of a user hold. */
export function answersHeld(database: Database, { project, user: name }: Scope): GivenAnswer[] {
  return database
    .statement(`SELECT body FROM answers WHERE ${OF_USER} AND state = 'done'`)
    .all({ project, name })
    .map(bodyOf<GivenAnswer>);
}

function placeOf(
  { project, user: name }: Scope,
  key: string,
): { project: string; name: string; key: string } {
  checkNames(project, name);
  return { project, name, key };
}

export function keptOf(row: Row): KeptAnswer {
  const { key, request, at, state } = row;
  return {
    key: String(key),
    request: String(request),
    at: String(at),
    state: String(state) as KeptAnswer["state"],
    ...(row.body === null ? {} : { answer: bodyOf<GivenAnswer>(row) }),
  };
}
