import * as z from "zod";
import { defineOperation, type Operation } from "../operation.ts";
import { CHAT_DIALECT, RESPONSES_DIALECT } from "../proxy/asked/said.ts";
import { handleConversation } from "../proxy/converse.ts";
import { handleEmbeddings, handleModel, handleModelList } from "../proxy/others.ts";

/** What only we may say; everything else is the upstream's, passed on as it is. */
const PROXY_PROBLEMS = [400, 404, 502, 504];

const MEMORY_HEADERS = {
  "x-keepsake-memory": "on, read, off, or degraded: what the memory did.",
  "x-keepsake-memory-why": "Why it did not do more.",
  "x-keepsake-user": "The user whose memory it is, percent-encoded.",
  "x-keepsake-user-from": "What named the user: key, a header, or a field of the body.",
  "x-keepsake-recall": "The id of the recall, by which it can be explained.",
};

const MODEL_SCHEMA = z.looseObject({ id: z.string(), object: z.literal("model") });
const MODELS_SCHEMA = z.looseObject({ object: z.literal("list"), data: z.array(MODEL_SCHEMA) });
const CHAT_RESPONSE_SCHEMA = z.looseObject({ id: z.string(), object: z.string() });
const STREAM_RESPONSE = { "text/event-stream": "With `stream`: OpenAI's events." };

const createRawBody = (says: string, schema: z.ZodType) => ({ "application/json": { says, schema } });
const USER_SCHEMA = z.string().optional();

/** OpenAI's protocol: any client of it gets a memory by its base URL. What the upstream answers is passed on as it is. */
export const openAiOperations: readonly Operation[] = [
  defineOperation({
    id: "createChatCompletion",
    method: "POST",
    path: "/v1/chat/completions",
    tag: "OpenAI",
    summary: "Chat with the model, which is told what the user's memory holds",
    description:
      "The user is named by `x-keepsake-user`, another header of the settings, `user`, `safety_identifier` or `metadata.user_id`; a session may be named with `x-keepsake-session`; " +
      "`x-keepsake-memory` is off, read or on. The model `keepsake` answers from memory alone.",
    scope: "read",
    hasNoDeadline: true,
    rawBody: createRawBody(
      "As OpenAI takes it; fields that are not known are passed on.",
      z.looseObject({
        model: z.string().min(1),
        messages: z.array(z.looseObject({})).optional(),
        user: USER_SCHEMA,
      }),
    ),
    answers: {
      200: {
        says: "The model's answer.",
        schema: CHAT_RESPONSE_SCHEMA,
        others: STREAM_RESPONSE,
        headers: MEMORY_HEADERS,
      },
    },
    problems: PROXY_PROBLEMS,
    handle: (asked) => handleConversation(asked, asked.services.proxy, CHAT_DIALECT),
  }),
  defineOperation({
    id: "createResponse",
    method: "POST",
    path: "/v1/responses",
    tag: "OpenAI",
    summary: "The same through the interface of responses",
    scope: "read",
    hasNoDeadline: true,
    rawBody: createRawBody(
      "As OpenAI takes it; fields that are not known are passed on.",
      z.looseObject({ model: z.string().min(1), user: USER_SCHEMA }),
    ),
    answers: {
      200: {
        says: "The model's answer.",
        schema: CHAT_RESPONSE_SCHEMA,
        others: STREAM_RESPONSE,
        headers: MEMORY_HEADERS,
      },
    },
    problems: PROXY_PROBLEMS,
    handle: (asked) => handleConversation(asked, asked.services.proxy, RESPONSES_DIALECT),
  }),
  defineOperation({
    id: "createEmbedding",
    method: "POST",
    path: "/v1/embeddings",
    tag: "OpenAI",
    summary: "Vectors of texts, from the model's server",
    scope: "read",
    hasNoDeadline: true,
    rawBody: createRawBody("As OpenAI takes it.", z.looseObject({ model: z.string().min(1) })),
    answers: { 200: { says: "The vectors.", schema: z.looseObject({ object: z.string() }) } },
    problems: PROXY_PROBLEMS,
    handle: (asked) => handleEmbeddings(asked, asked.services.proxy),
  }),
  defineOperation({
    id: "listModels",
    method: "GET",
    path: "/v1/models",
    tag: "OpenAI",
    summary: "The models of the model's server; without one, the built-in model",
    scope: "read",
    hasNoDeadline: true,
    answers: { 200: { says: "The models.", schema: MODELS_SCHEMA } },
    problems: PROXY_PROBLEMS,
    handle: (asked) => handleModelList(asked, asked.services.proxy),
  }),
  defineOperation({
    id: "getModel",
    method: "GET",
    path: "/v1/models/{model}",
    tag: "OpenAI",
    summary: "One model",
    scope: "read",
    hasNoDeadline: true,
    parameters: z.strictObject({ model: z.string() }),
    answers: { 200: { says: "The model.", schema: MODEL_SCHEMA } },
    problems: PROXY_PROBLEMS,
    handle: (asked) => handleModel(asked, asked.services.proxy, asked.path.model),
  }),
];
