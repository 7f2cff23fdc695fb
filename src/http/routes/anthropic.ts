import * as z from "zod";
import { defineOperation, type Operation } from "../operation.ts";
import { handleConversation, handleTokenCount } from "../proxy/handlers.ts";
import { MESSAGES_DIALECT } from "../proxy/request/messages-dialect.ts";
import { MEMORY_HEADERS, PROXY_PROBLEMS } from "./openai.ts";

const MESSAGE_REQUEST_SCHEMA = z.looseObject({
  model: z.string().min(1),
  messages: z.array(z.looseObject({})).optional(),
});

/** Anthropic's protocol: its clients get a memory by changing their base URL. The upstream's responses are forwarded unchanged. */
export const anthropicOperations: readonly Operation[] = [
  defineOperation({
    id: "createMessage",
    method: "POST",
    path: "/v1/messages",
    tag: "Anthropic",
    summary: "Chats with the model by Anthropic's Messages API, with the user's memory in the prompt",
    description:
      "Send Keepsake's key in `x-api-key` or `authorization`. Name the user by a key for one user, `x-keepsake-user`, another " +
      "configured header or `metadata.user_id`. The model `keepsake` answers from memory alone.",
    scope: "read",
    hasNoDeadline: true,
    problemForm: "anthropic",
    rawBody: {
      "application/json": {
        says: "In Anthropic's form; unknown fields are forwarded.",
        schema: MESSAGE_REQUEST_SCHEMA,
      },
    },
    answers: {
      200: {
        says: "The model's message.",
        schema: z.looseObject({ id: z.string(), type: z.string() }),
        others: { "text/event-stream": "With `stream`: Anthropic's events." },
        headers: MEMORY_HEADERS,
      },
    },
    problems: PROXY_PROBLEMS,
    handle: (call) => handleConversation(call, call.services.proxy, MESSAGES_DIALECT),
  }),
  defineOperation({
    id: "countMessageTokens",
    method: "POST",
    path: "/v1/messages/count_tokens",
    tag: "Anthropic",
    summary: "Counts the tokens of a request to the Messages API, without those of the memory",
    scope: "read",
    hasNoDeadline: true,
    problemForm: "anthropic",
    rawBody: { "application/json": { says: "In Anthropic's form.", schema: MESSAGE_REQUEST_SCHEMA } },
    answers: {
      200: { says: "The count.", schema: z.looseObject({ input_tokens: z.int() }) },
    },
    problems: PROXY_PROBLEMS,
    handle: (call) => handleTokenCount(call, call.services.proxy),
  }),
];
