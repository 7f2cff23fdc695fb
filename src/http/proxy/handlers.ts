import type { OperationRequest } from "../operation.ts";
import { refuseField } from "../problem.ts";
import { answerFromMemory, BUILT_IN_MODEL, isBuiltInRequest } from "./built-in-model.ts";
import type { MemoryContext } from "./memory/conversations.ts";
import { createMemoryTurn, findTurnState, readConversation } from "./memory/memory-turn.ts";
import type { OpenAiProxy } from "./proxy.ts";
import type { OpenAiDialect, RequestTurn } from "./request/dialects.ts";
import { findValue, type JsonEdit } from "./request/json-edits.ts";
import { type MemoryAccess, resolveMemoryAccess } from "./request/memory-access.ts";
import { readProxyRequest, toUpstreamBody } from "./request/proxy-request.ts";
import {
  type BodyFields,
  type ReplyReader,
  toArray,
  toFields,
  toText,
  toUsage,
} from "./request/reply-reader.ts";
import { checkBuiltInUse, checkServerKeyUse } from "./request/server-key-policy.ts";
import { createMissingUserError } from "./request/user-id.ts";
import { forwardRequest } from "./upstream/forward.ts";
import { hasClientKey, mayUseStoredObjects } from "./upstream/upstream-request.ts";

/**
 * Handles a chat: reads the request, recalls and injects memory, forwards it, streams the response back and stores the
 * turn. A failure of memory never fails the chat.
 */
export async function handleConversation(
  call: OperationRequest,
  proxy: OpenAiProxy,
  dialect: OpenAiDialect,
): Promise<Response> {
  const request = await readProxyRequest(call.exchange);
  const who = resolveMemoryAccess(call, request.body, proxy.userHeaders);
  if (proxy.isUserRequired && who.user === undefined) throw createMissingUserError(proxy.userHeaders);
  const isBuiltIn = isBuiltInRequest(call, proxy, request.body);
  if (isBuiltIn) checkBuiltInUse(request.body);
  else if (!mayUseStoredObjects(call, proxy)) checkServerKeyUse(request, dialect.name);
  const spoken = await readConversation(request, dialect);
  const held = findTurnState(call, proxy, who, spoken);
  if (isBuiltIn) return answerFromMemory(call, proxy, { request, dialect, who, spoken, held });

  const startedAt = performance.now();
  const memory = createMemoryTurn(call, proxy, { who, spoken, held });
  await memory.forgetFirst();
  const context = await memory.recall();
  const edits = injectMemory(request.json, { said: spoken.turns, dialect, context });
  proxy.meter.observe("keepsake_proxy_overhead_ms", performance.now() - startedAt);

  return forwardRequest(call, proxy, {
    purpose: "chat",
    access: who,
    method: "POST",
    body: toUpstreamBody(request, edits),
    model: request.body.model,
    sentText: spoken.turns.map(({ text }) => text).join("\n"),
    reader: dialect.createReader(),
    headers: memory.headers(context),
    onFirst: memory.storeUserTurns,
    onEnd: memory.storeReply,
  });
}

/**
 * Gives the edits that inject memory into a request: the profile before the user's first message, and the recalled items
 * after the newest one. Nothing else changes.
 *
 * Memory is part of the user's messages. Stored text must not have the rank of a system message, and the templates of some
 * models refuse two user messages in a row. Each request begins with the bytes of the previous one, without the items
 * recalled at its end, so the provider's prompt cache stays warm.
 */
function injectMemory(
  json: string,
  {
    said,
    dialect,
    context,
  }: { said: readonly RequestTurn[]; dialect: OpenAiDialect; context: MemoryContext },
): JsonEdit[] {
  const users = said.filter(({ role, content }) => role === "user" && acceptsText(content));
  return [
    ...insertText(json, users[0], { text: context.profileBlock, part: dialect.textPart, isInFront: true }),
    ...insertText(json, users.at(-1), {
      text: context.recallBlock,
      part: dialect.textPart,
      isInFront: false,
    }),
  ];
}

function acceptsText(content: unknown): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.length > 0);
}

interface TextInsertion {
  readonly text: string;
  readonly part: OpenAiDialect["textPart"];
  readonly isInFront: boolean;
}

function insertText(
  json: string,
  said: RequestTurn | undefined,
  { text, part, isInFront }: TextInsertion,
): JsonEdit[] {
  const place = text === "" || !said ? undefined : findValue(json, said.path);
  if (!said || !place) return [];
  const at = isInFront ? place.start + 1 : place.end - 1;
  if (typeof said.content === "string") {
    const letters = JSON.stringify(isInFront ? `${text}\n\n` : `\n\n${text}`).slice(1, -1);
    return [{ start: at, end: at, put: letters }];
  }
  const one = JSON.stringify({ type: part, text });
  return [{ start: at, end: at, put: isInFront ? `${one},` : `,${one}` }];
}

const NO_MEMORY: MemoryAccess = { mode: "off" };

/** Forwards a request for embeddings. Memory is not involved. */
export async function handleEmbeddings(call: OperationRequest, proxy: OpenAiProxy): Promise<Response> {
  const request = await readProxyRequest(call.exchange);
  const { body } = request;
  if (hasNoUpstream(call, proxy))
    throw refuseField("model", "Embeddings need an upstream: set OPENAI_API_KEY or OPENAI_BASE_URL.", 404);
  if (!mayUseStoredObjects(call, proxy)) checkServerKeyUse(request, "embeddings");
  const { user } = resolveMemoryAccess(call, body, proxy.userHeaders);
  return forwardRequest(call, proxy, {
    purpose: "embed",
    access: user === undefined ? NO_MEMORY : { user, mode: "off" },
    method: "POST",
    body: toUpstreamBody(request, []),
    model: body.model,
    sentText: typeof body.input === "string" ? body.input : toArray(body.input).filter(isText).join("\n"),
    reader: createEmbeddingReader(),
  });
}

/** Lists the upstream's models; without an upstream, the built-in one. */
export async function handleModelList(call: OperationRequest, proxy: OpenAiProxy): Promise<Response> {
  if (hasNoUpstream(call, proxy))
    return call.exchange.json({ object: "list", data: [describeBuiltInModel()] });
  return forwardRequest(call, proxy, { access: NO_MEMORY, method: "GET" });
}

export async function handleModel(
  call: OperationRequest,
  proxy: OpenAiProxy,
  model: string,
): Promise<Response> {
  if (model === BUILT_IN_MODEL) return call.exchange.json(describeBuiltInModel());
  if (hasNoUpstream(call, proxy))
    throw refuseField("model", `Model not found: "${BUILT_IN_MODEL}" is the only one here.`, 404);
  return forwardRequest(call, proxy, { access: NO_MEMORY, method: "GET" });
}

/** Whether there is no upstream for this request. */
function hasNoUpstream(call: OperationRequest, { upstream }: OpenAiProxy): boolean {
  return upstream === undefined && !hasClientKey(call);
}

/** Describes the built-in model, with the date of its introduction. */
function describeBuiltInModel(): object {
  return { id: BUILT_IN_MODEL, object: "model", created: 1_767_225_600, owned_by: "keepsake" };
}

function isText(one: unknown): one is string {
  return typeof one === "string";
}

function createEmbeddingReader(): ReplyReader {
  let fields: BodyFields = {};
  return {
    readDocument(value) {
      fields = toFields(value);
    },
    readEvent() {},
    getReply() {
      const { prompt_tokens: tokens } = toFields(fields.usage);
      const usage = toUsage({ in: tokens, out: 0 }, { in: "in", out: "out" });
      const model = toText(fields.model);
      return {
        text: "",
        calls: [],
        isComplete: true,
        ...(usage ? { usage } : {}),
        ...(model === "" ? {} : { model }),
      };
    },
  };
}
