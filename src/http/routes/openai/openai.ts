import * as z from "zod";
import { defineOperation, type Operation } from "../../operation.ts";
import { refuseField } from "../../problem.ts";
import { isOwnConversation } from "../../proxy/conversation/conversation-store.ts";
import {
  handleConversation,
  handleEmbeddings,
  handleModel,
  handleModelList,
  handleTokenCount,
} from "../../proxy/handlers.ts";
import type { Provider } from "../../proxy/proxy.ts";
import { CHAT_DIALECT, RESPONSES_DIALECT } from "../../proxy/request/dialects.ts";
import { MESSAGES_DIALECT } from "../../proxy/request/messages-dialect.ts";
import { forwardRequest } from "../../proxy/upstream/forward.ts";
import { readUpload } from "../../proxy/upstream/upstream-client.ts";
import { findProvider, hasClientKey, UPSTREAM_KEY_HEADER } from "../../proxy/upstream/upstream-request.ts";
import type { RequestContext } from "../../request-context.ts";

/** Problems of this server itself. Other responses are forwarded from the upstream. */
const PROXY_PROBLEMS: readonly number[] = [400, 404, 502, 504];

/** The response headers about the use of memory. */
const MEMORY_HEADERS: { readonly [name: string]: string } = {
  "x-keepsake-memory": "on, read, off, or degraded: the use of memory.",
  "x-keepsake-memory-why": "Why memory was not used fully.",
  "x-keepsake-user": "The user of the memory, percent-encoded.",
  "x-keepsake-user-from": "The source of the user's name: key, a header, or a field of the body.",
  "x-keepsake-recall": "The id of the recall, to explain it.",
};

const MODEL_SCHEMA = z.looseObject({ id: z.string(), object: z.literal("model") });
const MODELS_SCHEMA = z.looseObject({ object: z.literal("list"), data: z.array(MODEL_SCHEMA) });
const CHAT_RESPONSE_SCHEMA = z.looseObject({ id: z.string(), object: z.string() });
const STREAM_RESPONSE = { "text/event-stream": "With `stream`: OpenAI's events." };

const createRawBody = (says: string, schema: z.ZodType) => ({ "application/json": { says, schema } });
const USER_SCHEMA = z.string().optional();

/** OpenAI's protocol: any client gets a memory by changing its base URL. The upstream's responses are forwarded unchanged. */
export const openAiOperations: readonly Operation[] = [
  defineOperation({
    id: "createChatCompletion",
    method: "POST",
    path: "/v1/chat/completions",
    tag: "OpenAI",
    summary: "Chats with the model, with the user's memory in the prompt",
    description:
      "Name the user by `x-keepsake-user`, another configured header, `user`, `safety_identifier` or `metadata.user_id`, and optionally a session by `x-keepsake-session`. " +
      "`x-keepsake-memory` is off, read or on. The model `keepsake` answers from memory alone.",
    scope: "read",
    hasNoDeadline: true,
    rawBody: createRawBody(
      "In OpenAI's form; unknown fields are forwarded.",
      z.looseObject({
        model: z.string().min(1),
        messages: z.array(z.looseObject({})).optional(),
        user: USER_SCHEMA,
      }),
    ),
    answers: {
      200: {
        says: "The model's response.",
        schema: CHAT_RESPONSE_SCHEMA,
        others: STREAM_RESPONSE,
        headers: MEMORY_HEADERS,
      },
    },
    problems: PROXY_PROBLEMS,
    handle: (call) => handleConversation(call, call.services.proxy, CHAT_DIALECT),
  }),
  defineOperation({
    id: "createResponse",
    method: "POST",
    path: "/v1/responses",
    tag: "OpenAI",
    summary: "The same by the Responses API",
    scope: "read",
    hasNoDeadline: true,
    rawBody: createRawBody(
      "In OpenAI's form; unknown fields are forwarded.",
      z.looseObject({ model: z.string().min(1), user: USER_SCHEMA }),
    ),
    answers: {
      200: {
        says: "The model's response.",
        schema: CHAT_RESPONSE_SCHEMA,
        others: STREAM_RESPONSE,
        headers: MEMORY_HEADERS,
      },
    },
    problems: PROXY_PROBLEMS,
    handle: (call) => handleConversation(call, call.services.proxy, RESPONSES_DIALECT),
  }),
  defineOperation({
    id: "createEmbedding",
    method: "POST",
    path: "/v1/embeddings",
    tag: "OpenAI",
    summary: "Gives embeddings of texts, from the upstream",
    scope: "read",
    hasNoDeadline: true,
    rawBody: createRawBody("In OpenAI's form.", z.looseObject({ model: z.string().min(1) })),
    answers: { 200: { says: "The embeddings.", schema: z.looseObject({ object: z.string() }) } },
    problems: PROXY_PROBLEMS,
    handle: (call) => handleEmbeddings(call, call.services.proxy),
  }),
  defineOperation({
    id: "listModels",
    method: "GET",
    path: "/v1/models",
    tag: "OpenAI",
    summary: "Lists the upstream's models; without an upstream, the built-in model",
    scope: "read",
    hasNoDeadline: true,
    answers: { 200: { says: "The models.", schema: MODELS_SCHEMA } },
    problems: PROXY_PROBLEMS,
    handle: (call) => handleModelList(call, call.services.proxy),
  }),
  defineOperation({
    id: "getModel",
    method: "GET",
    path: "/v1/models/{model}",
    tag: "OpenAI",
    summary: "Gives one model",
    scope: "read",
    hasNoDeadline: true,
    parameters: z.strictObject({ model: z.string() }),
    answers: { 200: { says: "The model.", schema: MODEL_SCHEMA } },
    problems: PROXY_PROBLEMS,
    handle: (call) => handleModel(call, call.services.proxy, call.path.model),
  }),
];

const READ_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const WRITE_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Forwards the rest of a provider's API with the client's own account. Method, path, query, body and response are unchanged. */
function createPassThrough(id: string, scope: "read" | "write"): Operation {
  return defineOperation({
    id,
    method: scope === "read" ? "GET" : "POST",
    path: "/v1/*",
    tag: "OpenAI",
    summary: "The rest of OpenAI's API, with the client's own upstream key",
    scope,
    hasNoDeadline: true,
    isHidden: true,
    answers: {},
    async handle(call) {
      const { exchange, services } = call;
      const provider = findProvider(call, services.proxy.providers);
      if (!provider.hasClientAccounts) throw refuseField(UPSTREAM_KEY_HEADER, NO_ACCOUNTS_PROBLEM, 404);
      const body = await readUpload(exchange);
      const { method } = exchange.req;
      return forwardRequest(call, services.proxy, {
        provider,
        access: { mode: "off" },
        method,
        ...(body ? { body } : {}),
      });
    },
  });
}

const PASS_THROUGH_READ = createPassThrough("passThroughRead", "read");
const PASS_THROUGH_WRITE = createPassThrough("passThroughWrite", "write");

const NO_ACCOUNTS_PROBLEM =
  "This server forwards nothing else: by its settings, the upstream does not separate its clients' keys. " +
  "The operator can set KEEPSAKE_PASS_THROUGH=on.";

/**
 * Creates a function that gives the pass-through operation of a request under `/v1` with the client's own upstream key,
 * unless Keepsake serves the endpoint itself. Conversations that are not Keepsake's, and responses, are the client's own at the upstream. A
 * method that changes something needs a key with the scope `write`.
 */
export function createPassThroughFinder(
  operations: readonly Operation[],
  openai: Provider,
): (exchange: RequestContext) => Operation | undefined {
  // Patterns of "METHOD /path".
  const served = operations
    .filter(({ path }) => path.startsWith("/v1/"))
    .map(({ method, path }) => new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`));
  return (exchange) => {
    const { method, path } = exchange.req;
    const sent = `${method === "HEAD" ? "GET" : method} ${path}`;
    const isServed = served.some((pattern) => pattern.test(sent)) && !isUpstreamObject(path, openai);
    return isServed ? undefined : findPassThrough(exchange);
  };
}

/** Whether a path is that of a conversation or of a response at an upstream where clients have accounts of their own. */
function isUpstreamObject(path: string, { hasClientAccounts }: Provider): boolean {
  if (!hasClientAccounts) return false;
  if (path.startsWith("/v1/responses/")) return true;
  const id = /^\/v1\/conversations(?:\/([^/]*)|$)/.exec(path)?.[1];
  return /^\/v1\/conversations(?:\/|$)/.test(path) && !isOwnConversation(id ?? "");
}

function findPassThrough(exchange: RequestContext): Operation | undefined {
  const { method } = exchange.req;
  // Whether that header contains a key is checked after authentication.
  if (exchange.req.header(UPSTREAM_KEY_HEADER) === undefined && !hasClientKey({ exchange })) return undefined;
  if (READ_METHODS.has(method)) return PASS_THROUGH_READ;
  return WRITE_METHODS.has(method) ? PASS_THROUGH_WRITE : undefined;
}

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
