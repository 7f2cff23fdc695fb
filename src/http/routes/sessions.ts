import { noteErasures } from "../once.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { PAGE_QUERY, toCursorFields } from "../pages.ts";
import { ERASURE_RECEIPT_SCHEMA } from "../shapes/receipt.ts";
import { SESSION_PAGE_SCHEMA, SESSION_SCHEMA } from "../shapes/session.ts";
import { omitUndefined, toWire } from "../wire.ts";

/** Conversations, by the names that their messages were given. */
export const sessionOperations: readonly Operation[] = [
  defineOperation({
    id: "listSessions",
    method: "GET",
    path: "/api/v1/sessions/{user_id}",
    tag: "Sessions",
    summary: "A user's sessions, the one that was last spoken in first",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: PAGE_QUERY,
    answers: { 200: { says: "A page.", schema: SESSION_PAGE_SCHEMA } },
    async handle({ exchange, path, query, signal, memoryOf }) {
      const { items, total, cursor } = await memoryOf(path.user_id).sessions({
        ...omitUndefined(query),
        signal,
      });
      return exchange.json({ items, total, ...toCursorFields(cursor) });
    },
  }),
  defineOperation({
    id: "getSession",
    method: "GET",
    path: "/api/v1/sessions/{user_id}/{id}",
    tag: "Sessions",
    summary: "What was said in a session",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    query: PAGE_QUERY,
    answers: { 200: { says: "A page of its messages.", schema: SESSION_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, query, signal, memoryOf }) {
      const found = await memoryOf(path.user_id).session(path.id, { ...omitUndefined(query), signal });
      const { id, items, total, cursor } = found;
      const page = { id, user_id: path.user_id, items: items.map(toWire), total };
      return exchange.json({ ...page, ...toCursorFields(cursor) });
    },
  }),
  defineOperation({
    id: "eraseSession",
    method: "DELETE",
    path: "/api/v1/sessions/{user_id}/{id}",
    tag: "Erasure",
    summary: "Erases all that was said in a session, and what was learnt from it alone",
    description: "This is an erasure, not the bin: nothing brings it back.",
    scope: "erase",
    parameters: ITEM_PATH_PARAMETERS,
    acceptsIdempotencyKey: true,
    answers: {
      200: { says: "The receipt.", schema: ERASURE_RECEIPT_SCHEMA },
    },
    problems: [404, 409],
    async handle({ exchange, path, memoryOf }) {
      const memory = memoryOf(path.user_id);
      // Not found where there is nothing: an erasure that found nothing would look like one that did.
      await memory.session(path.id, { limit: 1 });
      const receipt = await memory.forget({ session: path.id });
      noteErasures(exchange, [receipt]);
      return exchange.json(toWire(receipt) as object);
    },
  }),
];
