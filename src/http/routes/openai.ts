import * as z from "zod";
import { type Operation, operation } from "../operation.ts";
import { CHAT, RESPONSES } from "../proxy/asked/said.ts";
import { conversed } from "../proxy/converse.ts";
import { embedded, listedModels, oneModel } from "../proxy/others.ts";

/** What only we may say; everything else is the upstream's, passed on as it is. */
const PROBLEMS = [400, 404, 502, 504];

const HEADERS = {
  "x-keepsake-memory": "on, read, off, or degraded: what the memory did.",
  "x-keepsake-memory-why": "Why it did not do more.",
  "x-keepsake-user": "The user whose memory it is, percent-encoded.",
  "x-keepsake-user-from": "What named the user: key, a header, or a field of the body.",
  "x-keepsake-recall": "The id of the recall, by which it can be explained.",
};

const MODEL = z.looseObject({ id: z.string(), object: z.literal("model") });
const MODELS = z.looseObject({ object: z.literal("list"), data: z.array(MODEL) });
const CHATTED = z.looseObject({ id: z.string(), object: z.string() });
const STREAM = { "text/event-stream": "With `stream`: OpenAI's events." };

const ASKED = (says: string, schema: z.ZodType) => ({ "application/json": { says, schema } });
const USER = z.string().optional();

/** OpenAI's protocol: any client of it gets a memory by its base URL. What the upstream answers is passed on as it is. */
export const openAiOperations: readonly Operation[] = [
  operation({
    id: "createChatCompletion",
    method: "POST",
    path: "/v1/chat/completions",
    tag: "OpenAI",
    summary: "Chat with the model, which is told what the user's memory holds",
    description:
      "The user is named by `x-keepsake-user`, another header of the settings, `user`, `safety_identifier` or `metadata.user_id`; a session may be named with `x-keepsake-session`; " +
      "`x-keepsake-memory` is off, read or on. The model `keepsake` answers from memory alone.",
    scope: "read",
    isUnhurried: true,
    rawBody: ASKED(
      "As OpenAI takes it; fields that are not known are passed on.",
      z.looseObject({
        model: z.string().min(1),
        messages: z.array(z.looseObject({})).optional(),
        user: USER,
      }),
    ),
    answers: {
      200: { says: "The model's answer.", schema: CHATTED, others: STREAM, headers: HEADERS },
    },
    problems: PROBLEMS,
    handle: (asked) => conversed(asked, asked.services.proxy, CHAT),
  }),
  operation({
    id: "createResponse",
    method: "POST",
    path: "/v1/responses",
    tag: "OpenAI",
    summary: "The same through the interface of responses",
    scope: "read",
    isUnhurried: true,
    rawBody: ASKED(
      "As OpenAI takes it; fields that are not known are passed on.",
      z.looseObject({ model: z.string().min(1), user: USER }),
    ),
    answers: {
      200: { says: "The model's answer.", schema: CHATTED, others: STREAM, headers: HEADERS },
    },
    problems: PROBLEMS,
    handle: (asked) => conversed(asked, asked.services.proxy, RESPONSES),
  }),
  operation({
    id: "createEmbedding",
    method: "POST",
    path: "/v1/embeddings",
    tag: "OpenAI",
    summary: "Vectors of texts, from the model's server",
    scope: "read",
    isUnhurried: true,
    rawBody: ASKED("As OpenAI takes it.", z.looseObject({ model: z.string().min(1) })),
    answers: { 200: { says: "The vectors.", schema: z.looseObject({ object: z.string() }) } },
    problems: PROBLEMS,
    handle: (asked) => embedded(asked, asked.services.proxy),
  }),
  operation({
    id: "listModels",
    method: "GET",
    path: "/v1/models",
    tag: "OpenAI",
    summary: "The models of the model's server; without one, the built-in model",
    scope: "read",
    isUnhurried: true,
    answers: { 200: { says: "The models.", schema: MODELS } },
    problems: PROBLEMS,
    handle: (asked) => listedModels(asked, asked.services.proxy),
  }),
  operation({
    id: "getModel",
    method: "GET",
    path: "/v1/models/{model}",
    tag: "OpenAI",
    summary: "One model",
    scope: "read",
    isUnhurried: true,
    parameters: z.strictObject({ model: z.string() }),
    answers: { 200: { says: "The model.", schema: MODEL } },
    problems: PROBLEMS,
    handle: (asked) => oneModel(asked, asked.services.proxy, asked.path.model),
  }),
];
