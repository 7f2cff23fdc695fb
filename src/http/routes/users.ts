import { defineOperation, type Operation } from "../operation.ts";
import { PAGE_QUERY, toCursorFields } from "../pages.ts";
import { USER_PAGE_SCHEMA } from "../shapes/history.ts";

/** The users of a project. */
export const userOperations: readonly Operation[] = [
  defineOperation({
    id: "listUsers",
    method: "GET",
    path: "/api/v1/users",
    tag: "Users",
    summary: "The users of the project, by name",
    scope: "admin",
    query: PAGE_QUERY,
    answers: { 200: { says: "A page.", schema: USER_PAGE_SCHEMA } },
    async handle({ exchange, query, services, project }) {
      const { limit = 50, cursor } = query;
      const all = await services.keepsake.users(project());
      const after = cursor === undefined ? undefined : Buffer.from(cursor, "base64url").toString("utf8");
      const rest = after === undefined ? all : all.filter((name) => name > after);
      const names = rest.slice(0, limit);
      const last = rest.length > limit ? names.at(-1) : undefined;
      const next = last === undefined ? undefined : Buffer.from(last, "utf8").toString("base64url");
      const items = names.map((user_id) => ({ user_id }));
      return exchange.json({ items, total: all.length, ...toCursorFields(next) });
    },
  }),
];
