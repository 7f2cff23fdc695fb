import type { Scope } from "../../../domain/scope.ts";
import type { UserWithStaleEmbeddings } from "../../../ports/memory-store.ts";
import type { EmbedderChoice, EmbedderChoices } from "../../../ports/stores/embedder-choices.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { checkNames, parseBody } from "../../shared/stored-rows.ts";
import type { PostgresDatabase } from "../database/database.ts";
import { encodeText, parseScope, toIndexKey, toScopeKeys } from "../database/user-rows.ts";
import { fetchRowsOfAllProjects } from "../read.ts";
import { fetchOtherSpaces, fetchUsersWithStaleEmbeddings } from "./job-store.ts";

/** The name in a row of a project's own choice. Users have longer names. */
const PROJECT = "";

// The user's own choice comes after the project's.
const SELECT_CHOICE =
  "SELECT body FROM embedder_choices WHERE project = $1 AND name IN ('', $2) ORDER BY name DESC LIMIT 1";
const SELECT_CHOICES = "SELECT body FROM embedder_choices WHERE project = $1";
const UPSERT_CHOICE =
  "INSERT INTO embedder_choices (project, name, embedder, body) VALUES ($1, $2, $3, $4) " +
  "ON CONFLICT (project, name) DO UPDATE SET embedder = excluded.embedder, body = excluded.body";
const DELETE_CHOICE = "DELETE FROM embedder_choices WHERE project = $1 AND name = $2";

/** The choices of embedders. Each write may be repeated after a lost answer. */
export function createPostgresEmbedderChoices(database: PostgresDatabase): EmbedderChoices {
  return {
    async read(scope: Scope) {
      const [project, user] = toScopeKeys(scope);
      const [row] = await database.queryOnce(project, { sql: SELECT_CHOICE, values: [project, user] });
      return row && parseBody<EmbedderChoice>(row).embedder;
    },
    async list(name) {
      checkNames(name);
      const project = toIndexKey(name);
      const rows = await database.queryOnce(project, { sql: SELECT_CHOICES, values: [project] });
      return rows
        .map(parseBody<EmbedderChoice>)
        .sort(({ user: one = PROJECT }, { user: other = PROJECT }) => compareStrings(one, other));
    },
    async save(choice) {
      const [project, name] = toChoiceKeys(choice);
      const embedder = toIndexKey(choice.embedder);
      await database.execute({ project }, UPSERT_CHOICE, project, name, embedder, JSON.stringify(choice));
    },
    async remove(choice) {
      const [project, name] = toChoiceKeys(choice);
      await database.execute({ project }, DELETE_CHOICE, project, name);
    },
  };
}

/** The keys of a choice's names. */
export function toChoiceKeys({
  project,
  user = PROJECT,
}: Omit<EmbedderChoice, "embedder">): [project: string, name: string] {
  return toScopeKeys({ project, user });
}

const SELECT_HAS_CHOICES = "SELECT 1 AS found FROM embedder_choices LIMIT 1";
const SELECT_WITHOUT_CHOICE =
  "SELECT users.project, users.name, users.long_names, outside.units FROM " +
  "(SELECT person, count(*) AS units FROM units WHERE space = ANY ($1) GROUP BY person) AS outside " +
  "JOIN users ON users.number = outside.person " +
  "LEFT JOIN embedder_choices own ON own.project = users.project AND own.name = users.name " +
  "LEFT JOIN embedder_choices common ON common.project = users.project AND common.name = '' " +
  "WHERE own.project IS NULL AND common.project IS NULL ORDER BY users.number LIMIT $2";
/** Only the users of this embedder are looked at. A user's own choice comes before the project's. */
const SELECT_WITH_CHOICE =
  "SELECT users.project, users.name, users.long_names, count(*) AS units FROM embedder_choices chosen " +
  "JOIN users ON users.project = chosen.project AND (chosen.name = users.name OR chosen.name = '') " +
  "LEFT JOIN embedder_choices own ON own.project = users.project AND own.name = users.name AND chosen.name = '' " +
  "JOIN units ON units.person = users.number " +
  "WHERE chosen.embedder = $3 AND own.project IS NULL AND units.space = ANY ($1) " +
  "GROUP BY users.number, users.project, users.name, users.long_names ORDER BY users.number LIMIT $2";

/** Users with units outside a space who have chosen an embedder, or have no choice, in the order of their first write. */
export async function fetchStaleUsersByChoice(
  database: PostgresDatabase,
  space: string,
  limit: number,
  chosen: string | null,
): Promise<UserWithStaleEmbeddings[]> {
  const [found] = await fetchRowsOfAllProjects(database, SELECT_HAS_CHOICES);
  if (!found) return chosen === null ? fetchUsersWithStaleEmbeddings(database, space, limit) : [];
  const spaces = await fetchOtherSpaces(database, encodeText(space));
  if (spaces.length === 0) return [];
  const rows =
    chosen === null
      ? await fetchRowsOfAllProjects(database, SELECT_WITHOUT_CHOICE, spaces, limit)
      : await fetchRowsOfAllProjects(database, SELECT_WITH_CHOICE, spaces, limit, toIndexKey(chosen));
  return rows.map((row) => ({ scope: parseScope(row), units: Number(row.units) }));
}
