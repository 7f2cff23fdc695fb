import type { Scope } from "../../../domain/scope.ts";
import type { UserWithStaleEmbeddings } from "../../../ports/memory-store.ts";
import type { EmbedderChoice } from "../../../ports/stores/embedder-choices.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { checkNames, parseBody, type SqliteDatabase } from "../database.ts";
import { listOtherSpaces, nameStaleUsers, readUsersWithStaleEmbeddings } from "./job-store.ts";

/** The name in a row of a project's own choice. Users have longer names. */
const PROJECT = "";

/** The name of the embedder that a user reads with, if one was chosen. */
export function readEmbedderChoice(database: SqliteDatabase, { project, user }: Scope): string | undefined {
  checkNames(project, user);
  // The user's own choice comes after the project's.
  const sql =
    "SELECT embedder FROM embedder_choices WHERE project = :project AND name IN ('', :user) ORDER BY name DESC LIMIT 1";
  const row = database.statement(sql).get({ project, user });
  return row && String(row.embedder);
}

export function readEmbedderChoices(database: SqliteDatabase, project: string): EmbedderChoice[] {
  checkNames(project);
  return database
    .statement("SELECT body FROM embedder_choices WHERE project = :project")
    .all({ project })
    .map(parseBody<EmbedderChoice>)
    .sort(({ user: one = PROJECT }, { user: other = PROJECT }) => compareStrings(one, other));
}

export function saveEmbedderChoice(database: SqliteDatabase, choice: EmbedderChoice): void {
  const { project, user: name = PROJECT, embedder } = choice;
  checkNames(project, name);
  const sql =
    "INSERT INTO embedder_choices (project, name, embedder, body) VALUES (:project, :name, :embedder, :body) " +
    "ON CONFLICT (project, name) DO UPDATE SET embedder = excluded.embedder, body = excluded.body";
  database.transaction(() =>
    database.statement(sql).run({ project, name, embedder, body: JSON.stringify(choice) }),
  );
}

export function removeEmbedderChoice(
  database: SqliteDatabase,
  { project, user: name = PROJECT }: Omit<EmbedderChoice, "embedder">,
): void {
  checkNames(project, name);
  const sql = "DELETE FROM embedder_choices WHERE project = :project AND name = :name";
  database.transaction(() => database.statement(sql).run({ project, name }));
}

/** Users in `users`, and the choice that applies to each: the greatest name is the user's own. */
const CHOICE_OF_USER =
  "(SELECT embedder FROM embedder_choices c WHERE c.project = users.project AND c.name IN ('', users.name) " +
  "ORDER BY c.name DESC LIMIT 1)";

/** Users with units in another space, without a choice. One lookup for each user in that space, not for each unit. */
const SELECT_WITHOUT_CHOICE =
  "WITH RECURSIVE found (user) AS (SELECT min(user) FROM units WHERE space = :other UNION ALL " +
  "SELECT (SELECT min(user) FROM units WHERE space = :other AND user > found.user) FROM found WHERE found.user IS NOT NULL) " +
  "SELECT users.id, (SELECT count(*) FROM units WHERE space = :other AND units.user = users.id) AS units " +
  `FROM found CROSS JOIN users ON users.id = found.user WHERE ${CHOICE_OF_USER} IS NULL LIMIT :limit`;

/** Users with units in another space who have chosen an embedder. Only its users are looked at. */
const SELECT_WITH_CHOICE =
  "SELECT users.id, count(*) AS units FROM (" +
  "SELECT users.id FROM embedder_choices CROSS JOIN users USING (project, name) WHERE embedder = :chosen UNION " +
  "SELECT users.id FROM embedder_choices c CROSS JOIN users ON users.project = c.project " +
  `WHERE embedder = :chosen AND c.name = '' AND ${CHOICE_OF_USER} = :chosen` +
  ") AS users CROSS JOIN units ON units.space = :other AND units.user = users.id GROUP BY users.id ORDER BY users.id LIMIT :limit";

/** Users with units outside a space who have chosen an embedder, or have no choice, in the order of their first write. */
export function readStaleUsersByChoice(
  database: SqliteDatabase,
  space: string,
  limit: number,
  chosen: string | null,
): UserWithStaleEmbeddings[] {
  const hasChoices = database.statement("SELECT 1 FROM embedder_choices LIMIT 1").get() !== undefined;
  if (!hasChoices) return chosen === null ? readUsersWithStaleEmbeddings(database, space, limit) : [];
  const select = database.statement(chosen === null ? SELECT_WITHOUT_CHOICE : SELECT_WITH_CHOICE);
  const counts = new Map<number, number>();
  for (const other of listOtherSpaces(database, space)) {
    for (const { id, units } of select.all({ other, limit, ...(chosen === null ? {} : { chosen }) }))
      counts.set(Number(id), (counts.get(Number(id)) ?? 0) + Number(units));
  }
  return nameStaleUsers(database, counts, limit);
}
