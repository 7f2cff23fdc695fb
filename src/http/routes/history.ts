import * as z from "zod";
import type { JsonObject, SessionStateChanges } from "../../domain/conversation/session-state.ts";
import type { ActiveSessionState, NewSession } from "../../engine/api/session-types.ts";
import { invalid } from "../../errors.ts";
import { noteErasures } from "../idempotency.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { PAGE_QUERY, sendPage, toCursorFields } from "../pagination.ts";
import {
  countTextSchema,
  cursorSchema,
  nameSchema,
  newNameSchema,
  textSchema,
  timeSchema,
  toOptional,
} from "../schemas/fields.ts";
import {
  ERASURE_RECEIPT_SCHEMA,
  LOG_SCHEMA,
  PROFILE_SCHEMA,
  SESSION_PAGE_SCHEMA,
  SESSION_SCHEMA,
  STORED_MESSAGE_SCHEMA,
} from "../schemas/memory.ts";
import { memoryToWire, omitUndefined, toWire } from "../schemas/wire.ts";

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
    async handle({ exchange, path, query, memoryOf, services }) {
      const {
        user: user_id,
        kinds,
        ...page
      } = await memoryOf(path.user_id).profile(omitUndefined({ maxTokens: query.max_tokens }));
      const byKind = Object.entries(kinds).map(([kind, held]) => [
        kind,
        held.map((memory) => memoryToWire(user_id, memory, services.keepsake.receiptWriter)),
      ]);
      return exchange.json({ user_id, ...(toWire(page) as object), kinds: Object.fromEntries(byKind) });
    },
  }),
];

function parseRevision(cursor: string): number {
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor);
  throw invalid("the cursor is not from a list.");
}

/** A small object of JSON. Its depth and size are checked when it is stored. */
const STATE_OBJECT_SCHEMA = z
  .record(z.string(), z.json())
  .describe("At most 8,192 bytes as JSON, and 8 levels");
const TOPIC_SCHEMA = textSchema.max(500);

const SESSION_CHANGES_BODY = z.strictObject({
  topic: TOPIC_SCHEMA.nullish(),
  context: STATE_OBJECT_SCHEMA.nullish(),
  preferences: STATE_OBJECT_SCHEMA.nullish(),
});
const NEW_SESSION_BODY = SESSION_CHANGES_BODY.extend({ session_id: toOptional(newNameSchema) });

const SESSION_STATE_SCHEMA: z.ZodType = z.object({
  id: z.string(),
  user_id: z.string(),
  topic: z.string().optional(),
  context: z.record(z.string(), z.unknown()).optional(),
  preferences: z.record(z.string(), z.unknown()).optional(),
  started_at: timeSchema,
  last_at: timeSchema.describe("When it was last changed, or when a message was said after that"),
  expires_at: timeSchema.describe("A day after `last_at`"),
});
const ENDED_SESSION_SCHEMA: z.ZodType = z.object({
  id: z.string(),
  user_id: z.string(),
  ended: z.literal(true),
});

const SESSION_QUERY = z.strictObject({
  sort: z.enum(["oldest", "newest"]).optional(),
  start_at: nameSchema.optional(),
  cursor: cursorSchema.optional(),
  limit: countTextSchema.optional(),
});

/** Sessions: conversations, by the name in their messages, and their states. */
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
    description:
      "In the order in which they were stored; `sort=newest` begins with the last one and goes back. `start_at` begins with the " +
      "message of that id, itself included, and does not go together with `cursor`.",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    query: SESSION_QUERY,
    answers: { 200: { says: "A page of messages.", schema: SESSION_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, query, signal, memoryOf }) {
      const { start_at: startAt, ...page } = query;
      const options = { ...omitUndefined({ ...page, startAt }), signal };
      const found = await memoryOf(path.user_id).session(path.id, options);
      const { id, items, total, cursor } = found;
      const shown = { id, user_id: path.user_id, items: items.map(toWire), total };
      return exchange.json({ ...shown, ...toCursorFields(cursor) });
    },
  }),
  defineOperation({
    id: "getMessage",
    method: "GET",
    path: "/api/v1/messages/{user_id}/{id}",
    tag: "Sessions",
    summary: "Gives one message, with its session",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    answers: { 200: { says: "The message.", schema: STORED_MESSAGE_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, memoryOf }) {
      const message = await memoryOf(path.user_id).message(path.id);
      return exchange.json({ user_id: path.user_id, ...(toWire(message) as object) });
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
    async handle({ exchange, path, signal, memoryOf }) {
      const memory = memoryOf(path.user_id);
      // Throws `not_found` for an empty session: an erasure of nothing would look like a successful one.
      await memory.session(path.id, { limit: 1, signal });
      const receipt = await memory.forget({ session: path.id }, { signal });
      noteErasures(exchange, [receipt]);
      return exchange.json(toWire(receipt) as object);
    },
  }),
  defineOperation({
    id: "startSession",
    method: "POST",
    path: "/api/v1/sessions/{user_id}",
    tag: "Sessions",
    summary: "Starts a session: gives it a state for a day",
    description: "Each change of the state and each message restarts the day. Reading does not.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    body: NEW_SESSION_BODY,
    acceptsIdempotencyKey: true,
    answers: { 201: { says: "The state.", schema: SESSION_STATE_SCHEMA } },
    problems: [409],
    async handle({ exchange, path, body, signal, memoryOf }) {
      const { session_id, ...state } = body;
      const session = omitUndefined({ id: session_id, ...toStateChanges(state) }) as NewSession;
      const started = await memoryOf(path.user_id).startSession(session, { signal });
      return exchange.json(stateToWire(path.user_id, started), 201);
    },
  }),
  defineOperation({
    id: "getSessionState",
    method: "GET",
    path: "/api/v1/sessions/{user_id}/{id}/state",
    tag: "Sessions",
    summary: "Gives the state of a session",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    answers: { 200: { says: "The state.", schema: SESSION_STATE_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, signal, memoryOf }) {
      const found = await memoryOf(path.user_id).sessionState(path.id, { signal });
      return exchange.json(stateToWire(path.user_id, found));
    },
  }),
  defineOperation({
    id: "updateSession",
    method: "PATCH",
    path: "/api/v1/sessions/{user_id}/{id}/state",
    tag: "Sessions",
    summary: "Changes the state of a session",
    description: "Fields left out stay; null removes one.",
    scope: "write",
    acceptsIdempotencyKey: true,
    parameters: ITEM_PATH_PARAMETERS,
    body: SESSION_CHANGES_BODY,
    answers: { 200: { says: "The state.", schema: SESSION_STATE_SCHEMA } },
    problems: [404, 409],
    async handle({ exchange, path, body, signal, memoryOf }) {
      const changed = await memoryOf(path.user_id).updateSession(path.id, toStateChanges(body), { signal });
      return exchange.json(stateToWire(path.user_id, changed));
    },
  }),
  defineOperation({
    id: "endSession",
    method: "DELETE",
    path: "/api/v1/sessions/{user_id}/{id}/state",
    tag: "Sessions",
    summary: "Ends a session: deletes its state",
    description: "Its messages stay in the memory.",
    scope: "write",
    acceptsIdempotencyKey: true,
    parameters: ITEM_PATH_PARAMETERS,
    answers: { 200: { says: "The session has no state.", schema: ENDED_SESSION_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, signal, memoryOf }) {
      const memory = memoryOf(path.user_id);
      // Throws `not_found`, so that an id of another user has the same result as an id that never existed.
      await memory.sessionState(path.id, { signal });
      await memory.endSession(path.id, { signal });
      return exchange.json({ id: path.id, user_id: path.user_id, ended: true });
    },
  }),
];

/** The objects of a state keep their own names: they are the caller's. */
function stateToWire(
  userId: string,
  { id, topic, context, preferences, ...times }: ActiveSessionState,
): object {
  return omitUndefined({
    id,
    user_id: userId,
    topic,
    context,
    preferences,
    started_at: times.startedAt,
    last_at: times.lastAt,
    expires_at: times.expiresAt,
  });
}

function toStateChanges({
  topic,
  context,
  preferences,
}: z.infer<typeof SESSION_CHANGES_BODY>): SessionStateChanges {
  return omitUndefined({
    topic,
    context: context as JsonObject | null | undefined,
    preferences: preferences as JsonObject | null | undefined,
  });
}
