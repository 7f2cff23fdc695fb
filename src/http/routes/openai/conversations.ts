import * as z from "zod";
import { noteErasures } from "../../idempotency.ts";
import { defineOperation, type Operation, type OperationRequest } from "../../operation.ts";
import {
  addConversationItems,
  createConversation,
  eraseConversation,
  eraseConversationItem,
  findConversationItem,
  type IsKnownItem,
  readStoredConversation,
  type StoredConversation,
  updateConversationMetadata,
} from "../../proxy/conversation/conversation-store.ts";
import { ITEM_LIMITS } from "../../proxy/conversation/response-items.ts";
import { extractText } from "../../proxy/request/dialects.ts";
import { nameSchema, toOptional } from "../../schemas/fields.ts";
import {
  findItemOwner,
  INCLUDE_QUERY,
  ITEM_LIST_SCHEMA,
  ITEM_PAGE_QUERY,
  ITEM_SCHEMA,
  openNamedMemory,
  showItemPage,
  toItemList,
} from "./items.ts";

const METADATA_SCHEMA = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, "must have at most 16 pairs");
const ITEMS_SCHEMA = z.array(z.looseObject({ type: z.string().optional() })).max(ITEM_LIMITS.perRequest);

const CONVERSATION_SCHEMA = z.strictObject({
  id: z.string(),
  object: z.literal("conversation"),
  created_at: z.int(),
  metadata: z.record(z.string(), z.string()),
});
const CONVERSATION_PATH = z.strictObject({ conversation_id: nameSchema });
const ITEM_PATH = z.strictObject({ conversation_id: nameSchema, item_id: nameSchema });
const USER_HINT =
  "Name the user by a key for one user, or by `x-keepsake-user` or another configured header, in every request.";

/**
 * Gives a function that tells what the user or the model has just said through the proxy. Agents send each turn to the model,
 * and add it to their conversation afterwards.
 */
function createKnownCheck(call: OperationRequest): IsKnownItem {
  const { conversations } = call.services.proxy;
  const agent = call.agent === undefined ? {} : { agent: call.agent };
  const scope = { project: call.project(), user: findItemOwner(call), ...agent };
  return ({ type, role, content }) =>
    type === "message" &&
    (role === "user" || role === "assistant") &&
    conversations.hasWords(scope, role, extractText(content));
}

function toConversation({ id, createdAt, metadata }: StoredConversation): object {
  return { id, object: "conversation", created_at: createdAt, metadata };
}

/** OpenAI's Conversations API over the user's own memory. */
export const conversationItemOperations: readonly Operation[] = [
  defineOperation({
    id: "createConversation",
    method: "POST",
    path: "/v1/conversations",
    tag: "OpenAI",
    summary: "Begins a conversation, which is kept in the user's memory",
    description: USER_HINT,
    scope: "write",
    isBodyOptional: true,
    body: z.looseObject({ items: toOptional(ITEMS_SCHEMA), metadata: toOptional(METADATA_SCHEMA) }),
    findUser: findItemOwner,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The conversation.", schema: CONVERSATION_SCHEMA } },
    problems: [409],
    async handle(call) {
      const { items = [], metadata = {} } = call.body ?? {};
      const made = await createConversation(
        await openNamedMemory(call),
        { items, metadata },
        createKnownCheck(call),
      );
      return call.exchange.json(toConversation(made));
    },
  }),
  defineOperation({
    id: "getConversation",
    method: "GET",
    path: "/v1/conversations/{conversation_id}",
    tag: "OpenAI",
    summary: "Gives a conversation",
    scope: "read",
    parameters: CONVERSATION_PATH,
    answers: { 200: { says: "The conversation.", schema: CONVERSATION_SCHEMA } },
    problems: [404],
    async handle(call) {
      const found = await readStoredConversation(await openNamedMemory(call), call.path.conversation_id);
      return call.exchange.json(toConversation(found));
    },
  }),
  defineOperation({
    id: "updateConversation",
    method: "POST",
    path: "/v1/conversations/{conversation_id}",
    tag: "OpenAI",
    summary: "Replaces the metadata of a conversation",
    scope: "write",
    parameters: CONVERSATION_PATH,
    body: z.looseObject({ metadata: METADATA_SCHEMA.nullable() }),
    findUser: findItemOwner,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The conversation.", schema: CONVERSATION_SCHEMA } },
    problems: [404, 409],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const found = await readStoredConversation(memory, call.path.conversation_id);
      return call.exchange.json(
        toConversation(await updateConversationMetadata(memory, found, call.body.metadata ?? {})),
      );
    },
  }),
  defineOperation({
    id: "deleteConversation",
    method: "DELETE",
    path: "/v1/conversations/{conversation_id}",
    tag: "OpenAI",
    summary: "Erases a conversation with its items, and memories that come only from it",
    description: "This is an erasure: it cannot be undone.",
    scope: "erase",
    parameters: CONVERSATION_PATH,
    findUser: findItemOwner,
    acceptsIdempotencyKey: true,
    answers: {
      200: {
        says: "The conversation is erased.",
        schema: z.strictObject({
          id: z.string(),
          object: z.literal("conversation.deleted"),
          deleted: z.literal(true),
        }),
      },
    },
    problems: [404, 409],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const found = await readStoredConversation(memory, call.path.conversation_id);
      noteErasures(call.exchange, [await eraseConversation(memory, found, call.signal)]);
      return call.exchange.json({ id: found.id, object: "conversation.deleted", deleted: true });
    },
  }),
  defineOperation({
    id: "addConversationItems",
    method: "POST",
    path: "/v1/conversations/{conversation_id}/items",
    tag: "OpenAI",
    summary: "Adds items to a conversation",
    scope: "write",
    parameters: CONVERSATION_PATH,
    query: z.strictObject(INCLUDE_QUERY),
    body: z.looseObject({ items: ITEMS_SCHEMA.min(1) }),
    findUser: findItemOwner,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The items that were added.", schema: ITEM_LIST_SCHEMA } },
    problems: [404, 409],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const found = await readStoredConversation(memory, call.path.conversation_id);
      return call.exchange.json(
        toItemList(await addConversationItems(memory, found, call.body.items, createKnownCheck(call)), false),
      );
    },
  }),
  defineOperation({
    id: "listConversationItems",
    method: "GET",
    path: "/v1/conversations/{conversation_id}/items",
    tag: "OpenAI",
    summary: "Lists the items of a conversation, newest first",
    scope: "read",
    parameters: CONVERSATION_PATH,
    query: ITEM_PAGE_QUERY,
    answers: { 200: { says: "A page of items.", schema: ITEM_LIST_SCHEMA } },
    problems: [404],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const { items } = await readStoredConversation(memory, call.path.conversation_id);
      return call.exchange.json(await showItemPage(memory, items, call.query));
    },
  }),
  defineOperation({
    id: "getConversationItem",
    method: "GET",
    path: "/v1/conversations/{conversation_id}/items/{item_id}",
    tag: "OpenAI",
    summary: "Gives an item of a conversation",
    scope: "read",
    parameters: ITEM_PATH,
    query: z.strictObject(INCLUDE_QUERY),
    answers: { 200: { says: "The item.", schema: ITEM_SCHEMA } },
    problems: [404],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const found = await readStoredConversation(memory, call.path.conversation_id);
      return call.exchange.json((await findConversationItem(memory, found, call.path.item_id)).shown);
    },
  }),
  defineOperation({
    id: "deleteConversationItem",
    method: "DELETE",
    path: "/v1/conversations/{conversation_id}/items/{item_id}",
    tag: "OpenAI",
    summary: "Erases an item of a conversation, and memories that come only from it",
    description: "This is an erasure: it cannot be undone.",
    scope: "erase",
    parameters: ITEM_PATH,
    findUser: findItemOwner,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The conversation.", schema: CONVERSATION_SCHEMA } },
    problems: [404, 409],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const found = await readStoredConversation(memory, call.path.conversation_id);
      const receipt = await eraseConversationItem(
        memory,
        await findConversationItem(memory, found, call.path.item_id),
        call.signal,
      );
      noteErasures(call.exchange, [receipt]);
      return call.exchange.json(toConversation(found));
    },
  }),
];
