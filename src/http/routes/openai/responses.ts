import * as z from "zod";
import { noteErasures } from "../../idempotency.ts";
import { defineOperation, type Operation } from "../../operation.ts";
import {
  eraseStoredResponse,
  readStoredResponse,
  showStoredResponse,
} from "../../proxy/conversation/stored-responses.ts";
import { nameSchema } from "../../schemas/fields.ts";
import {
  findItemOwner,
  INCLUDE_QUERY,
  ITEM_LIST_SCHEMA,
  ITEM_PAGE_QUERY,
  ITEM_SCHEMA,
  openNamedMemory,
  showItemPage,
} from "./items.ts";

const RESPONSE_PATH = z.strictObject({ response_id: nameSchema });
const RESPONSE_SCHEMA = z.looseObject({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  status: z.literal("completed"),
  model: z.string(),
  output: z.array(ITEM_SCHEMA),
  conversation: z.strictObject({ id: z.string() }).nullable(),
  previous_response_id: z.string().nullable(),
  usage: z.null(),
});

/** Responses of OpenAI's API that are stored in the user's own memory. */
export const storedResponseOperations: readonly Operation[] = [
  defineOperation({
    id: "getResponse",
    method: "GET",
    path: "/v1/responses/{response_id}",
    tag: "OpenAI",
    summary: "Gives a response that is kept in the user's memory",
    scope: "read",
    parameters: RESPONSE_PATH,
    query: z.strictObject(INCLUDE_QUERY),
    answers: { 200: { says: "The response.", schema: RESPONSE_SCHEMA } },
    problems: [404],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const found = await readStoredResponse(memory, call.path.response_id);
      return call.exchange.json(await showStoredResponse(memory, found));
    },
  }),
  defineOperation({
    id: "deleteResponse",
    method: "DELETE",
    path: "/v1/responses/{response_id}",
    tag: "OpenAI",
    summary: "Erases a response with its input and output, and memories that come only from them",
    description: "This is an erasure: it cannot be undone.",
    scope: "erase",
    parameters: RESPONSE_PATH,
    findUser: findItemOwner,
    acceptsIdempotencyKey: true,
    answers: {
      200: {
        says: "The response is erased.",
        schema: z.strictObject({
          id: z.string(),
          object: z.literal("response"),
          deleted: z.literal(true),
        }),
      },
    },
    problems: [404, 409],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const { response_id: id } = call.path;
      noteErasures(call.exchange, [await eraseStoredResponse(memory, id, call.signal)]);
      return call.exchange.json({ id, object: "response", deleted: true });
    },
  }),
  defineOperation({
    id: "listResponseInputItems",
    method: "GET",
    path: "/v1/responses/{response_id}/input_items",
    tag: "OpenAI",
    summary: "Lists the items of a response's own input, newest first",
    scope: "read",
    parameters: RESPONSE_PATH,
    query: ITEM_PAGE_QUERY,
    answers: { 200: { says: "A page of items.", schema: ITEM_LIST_SCHEMA } },
    problems: [404],
    async handle(call) {
      const memory = await openNamedMemory(call);
      const { input } = await readStoredResponse(memory, call.path.response_id);
      return call.exchange.json(await showItemPage(memory, input, call.query));
    },
  }),
];
