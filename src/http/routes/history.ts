import * as z from "zod";
import { invalid } from "../../errors.ts";
import { noteErasures } from "../idempotency.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { PAGE_QUERY, sendPage, toCursorFields } from "../pagination.ts";
import {
  ERASURE_RECEIPT_SCHEMA,
  LOG_SCHEMA,
  PROFILE_SCHEMA,
  SESSION_PAGE_SCHEMA,
  SESSION_SCHEMA,
} from "../schemas/memory.ts";
import { memoryToWire, omitUndefined, toWire } from "../wire.ts";

const tokensSchema = z
  .string()
  .regex(/^\d{1,7}$/)
  .transform(Number)
  .pipe(z.int().min(1).max(1_000_000));
const PROFILE_QUERY = z.strictObject({ max_tokens: tokensSchema.optional() });

/** The history and profile of a user. */
export const historyOperations: readonly Operation[] = [
  defineOperation({
    id: "getHistory",
    method: "GET",
    path: "/api/v1/history/{user_id}",
    tag: "History",
    summary: "Lists the revisions of a user's memory, newest first",
    description: "Contains only ids; `undo` reverts a revision.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: PAGE_QUERY,
    answers: { 200: { says: "A page.", schema: LOG_SCHEMA } },
    async handle({ exchange, path, query, memoryOf }) {
      const { limit = 50, cursor } = query;
      const before = cursor === undefined ? undefined : parseRevision(cursor);
      const entries = await memoryOf(path.user_id).history(undefined, omitUndefined({ before, limit }));
      const last = entries.at(-1)?.revision ?? 0;
      // Revisions have no gaps, so nothing precedes the first.
      const next = entries.length === limit && last > 1 ? String(last) : undefined;
      return sendPage(exchange, entries, toWire, toCursorFields(next));
    },
  }),
  defineOperation({
    id: "getProfile",
    method: "GET",
    path: "/api/v1/profile/{user_id}",
    tag: "Memories",
    summary: "Gives a short profile of what is currently known about a user",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: PROFILE_QUERY,
    answers: { 200: { says: "The profile in sections, with sources.", schema: PROFILE_SCHEMA } },
    async handle({ exchange, path, query, memoryOf }) {
      const {
        user: user_id,
        kinds,
        ...page
      } = await memoryOf(path.user_id).profile(omitUndefined({ maxTokens: query.max_tokens }));
      const byKind = Object.entries(kinds).map(([kind, held]) => [
        kind,
        held.map((memory) => memoryToWire(user_id, memory)),
      ]);
      return exchange.json({ user_id, ...(toWire(page) as object), kinds: Object.fromEntries(byKind) });
    },
  }),
];

function parseRevision(cursor: string): number {
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor);
  throw invalid("the cursor is not from a list.");
}

/** Sessions: conversations, by the name in their messages. */
export const sessionOperations: readonly Operation[] = [
  defineOperation({
    id: "listSessions",
    method: "GET",
    path: "/api/v1/sessions/{user_id}",
    tag: "Sessions",
    summary: "Lists a user's sessions, most recent first",
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
    summary: "Lists the messages of a session",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    query: PAGE_QUERY,
    answers: { 200: { says: "A page of messages.", schema: SESSION_SCHEMA } },
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
    summary: "Erases the messages of a session, and memories that come only from it",
    description: "This is an erasure: it cannot be undone.",
    scope: "erase",
    parameters: ITEM_PATH_PARAMETERS,
    acceptsIdempotencyKey: true,
    answers: {
      200: { says: "The receipt.", schema: ERASURE_RECEIPT_SCHEMA },
    },
    problems: [404, 409],
    async handle({ exchange, path, memoryOf }) {
      const memory = memoryOf(path.user_id);
      // Throws `not_found` for an empty session: an erasure of nothing would look like a successful one.
      await memory.session(path.id, { limit: 1 });
      const receipt = await memory.forget({ session: path.id });
      noteErasures(exchange, [receipt]);
      return exchange.json(toWire(receipt) as object);
    },
  }),
];
