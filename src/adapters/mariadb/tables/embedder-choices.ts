import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { MemoryStore, UserWithStaleEmbeddings } from "../../../ports/memory-store.ts";
import type { EmbedderChoice, EmbedderChoices } from "../../../ports/stores/embedder-choices.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { checkNames, parseBody } from "../../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "../database.ts";
import { insertMariadbRows } from "../database.ts";
import { findMariadbUser, parseMariadbScope, toMariadbKey, toMariadbScopeKeys } from "../keys.ts";
import { NEWEST_MEMORIES, parseMariadbUnitTexts } from "../read.ts";

/** The name in a row of a project's own choice. Users have longer names. */
const PROJECT = "";

/** The embedders that projects and users chose. */
export function createMariadbEmbedderChoices(database: MariadbDatabase): EmbedderChoices {
  return {
    async read(scope) {
      // The user's own choice comes after the project's.
      const sql =
        "SELECT body FROM embedder_choices WHERE project = ? AND name IN ('', ?) ORDER BY name DESC LIMIT 1";
      const [row] = await database.query(sql, ...toMariadbScopeKeys(scope));
      return row && parseBody<EmbedderChoice>(row).embedder;
    },
    async list(project) {
      checkNames(project);
      const rows = await database.query(
        "SELECT body FROM embedder_choices WHERE project = ?",
        toMariadbKey(project),
      );
      return rows
        .map(parseBody<EmbedderChoice>)
        .sort(({ user: one = PROJECT }, { user: other = PROJECT }) => compareStrings(one, other));
    },
    async save(choice) {
      const row = toChoiceRow(choice);
      const replace = "ON DUPLICATE KEY UPDATE embedder = VALUES(embedder), body = VALUES(body)";
      await database.write((transaction) =>
        insertMariadbRows(transaction, "embedder_choices", [row], replace),
      );
    },
    async remove({ project, user = PROJECT }) {
      const keys = toMariadbScopeKeys({ project, user });
      const sql = "DELETE FROM embedder_choices WHERE project = ? AND name = ?";
      await database.write((transaction) => transaction.run(sql, ...keys));
    },
  };
}

/** The columns of a choice. */
export function toChoiceRow(choice: EmbedderChoice): MariadbRow {
  const [project, name] = toMariadbScopeKeys({ project: choice.project, user: choice.user ?? PROJECT });
  return { project, name, embedder: toMariadbKey(choice.embedder), body: JSON.stringify(choice) };
}

const STALE_OF_ALL =
  "SELECT users.project, users.name, users.long_names, outside.units FROM (SELECT person, COUNT(*) AS units FROM units " +
  "WHERE space IN (?) GROUP BY person ORDER BY person LIMIT ?) AS outside " +
  "JOIN users ON users.number = outside.person ORDER BY users.number";
const STALE_WITHOUT_CHOICE =
  "SELECT users.project, users.name, users.long_names, outside.units FROM " +
  "(SELECT person, COUNT(*) AS units FROM units WHERE space IN (?) GROUP BY person) AS outside " +
  "JOIN users ON users.number = outside.person " +
  "LEFT JOIN embedder_choices own ON own.project = users.project AND own.name = users.name " +
  "LEFT JOIN embedder_choices common ON common.project = users.project AND common.name = '' " +
  "WHERE own.project IS NULL AND common.project IS NULL ORDER BY users.number LIMIT ?";
/** Only the users of this embedder are looked at. A user's own choice comes before the project's. */
const STALE_WITH_CHOICE =
  "SELECT users.project, users.name, users.long_names, COUNT(*) AS units FROM embedder_choices chosen " +
  "JOIN users ON users.project = chosen.project AND (chosen.name = users.name OR chosen.name = '') " +
  "LEFT JOIN embedder_choices own ON own.project = users.project AND own.name = users.name AND chosen.name = '' " +
  "JOIN units ON units.person = users.number " +
  "WHERE chosen.embedder = ? AND own.project IS NULL AND units.space IN (?) " +
  "GROUP BY users.number, users.project, users.name, users.long_names ORDER BY users.number LIMIT ?";

/** Search units without a vector of the current embedder. */
export function createMariadbStaleEmbeddings(database: MariadbDatabase): MemoryStore["staleEmbeddings"] {
  const select = async (
    spaces: readonly unknown[],
    limit: number,
    chosen: string | null | undefined,
  ): Promise<readonly MariadbRow[]> => {
    if (chosen === undefined) return database.query(STALE_OF_ALL, spaces, limit);
    if (chosen === null) return database.query(STALE_WITHOUT_CHOICE, spaces, limit);
    return database.query(STALE_WITH_CHOICE, toMariadbKey(chosen), spaces, limit);
  };
  return {
    async users(space, limit, options): Promise<UserWithStaleEmbeddings[]> {
      // Usually there are none.
      const sql = "SELECT DISTINCT space FROM units WHERE space <> ?";
      const spaces = (await database.query(sql, space.toWellFormed())).map((row) => row.space);
      if (spaces.length === 0) return [];
      const rows = await select(spaces, limit, options?.chosen);
      return rows.map((row) => ({ scope: parseMariadbScope(row), units: Number(row.units) }));
    },
    units: (scope, space, limit) =>
      database.snapshot((transaction) => selectStaleUnits(transaction, scope, space, limit)),
    count: (scope, space) =>
      database.snapshot(async (transaction) => {
        const user = await findMariadbUser(transaction, scope);
        if (!user) return { total: 0, stale: 0 };
        const sql =
          "SELECT COUNT(*) AS total, COALESCE(SUM(space <> ?), 0) AS stale FROM units WHERE person = ?";
        const [row] = await transaction.query(sql, space.toWellFormed(), user.number);
        return { total: Number(row?.total), stale: Number(row?.stale) };
      }),
  };
}

async function selectStaleUnits(transaction: MariadbTransaction, scope: Scope, space: string, limit: number) {
  const user = await findMariadbUser(transaction, scope);
  if (!user) return { revision: 0, units: [], messages: [], memories: [] };
  const units = await transaction.query(
    "SELECT id, type, owner, long_names, first, last, space, terms FROM units " +
      "WHERE person = ? AND space <> ? ORDER BY number LIMIT ?",
    user.number,
    space.toWellFormed(),
    limit,
  );
  const selectOwners = async <Body>(sql: string, type: string): Promise<Body[]> => {
    const keys = [...new Set(units.filter((row) => row.type === type).map(({ owner }) => owner))];
    if (keys.length === 0) return [];
    const found = new Map((await transaction.query(sql, user.number, keys)).map((row) => [row.id, row]));
    return keys.flatMap((key) => {
      const row = found.get(key);
      return row ? [parseBody<Body>(row)] : [];
    });
  };
  return {
    revision: user.revision,
    units: units.map(parseMariadbUnitTexts),
    messages: await selectOwners<Message>(
      "SELECT id, body FROM messages WHERE person = ? AND id IN (?)",
      "passage",
    ),
    memories: await selectOwners<Memory>(
      `SELECT heads.id, body FROM ${NEWEST_MEMORIES} WHERE heads.person = ? AND heads.id IN (?)`,
      "memory",
    ),
  };
}
