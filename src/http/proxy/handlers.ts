import { estimateTokens } from "../../domain/text/split-text.ts";
import { runInSlices } from "../../domain/time-slicing.ts";
import type { OperationRequest } from "../operation.ts";
import { isRefusal, refuseField } from "../problem.ts";
import { answerFromMemory, BUILT_IN_MODEL, isBuiltInRequest } from "./built-in-model.ts";
import {
  checkReferencesOutside,
  type ReferencedInput,
  resolveItemReferences,
  withoutReferences,
} from "./conversation/item-references.ts";
import {
  EMPTY_CONTEXT,
  resolveStoredContext,
  type StoredContext,
  withStoredContext,
} from "./conversation/stored-context.ts";
import { planTurn } from "./conversation/turn-storage.ts";
import { createMemoryTurn, findTurnState, readConversation } from "./memory/memory-turn.ts";
import type { OpenAiProxy, Provider } from "./proxy.ts";
import { extractText, type ProxyDialect, type RequestTurn } from "./request/dialects.ts";
import { type MemoryAccess, resolveMemoryAccess } from "./request/memory-access.ts";
import { injectMemory } from "./request/memory-injection.ts";
import { MESSAGES_DIALECT } from "./request/messages-dialect.ts";
import { type ProxyRequest, readProxyRequest, toUpstreamBody } from "./request/proxy-request.ts";
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
import { findProvider, hasClientKey, mayUseStoredObjects } from "./upstream/upstream-request.ts";

/**
 * Handles a chat: reads the request, recalls and injects memory, forwards it, streams the response back and stores the
 * turn. A failure of memory never fails the chat.
 */
export async function handleConversation(
  call: OperationRequest,
  proxy: OpenAiProxy,
  dialect: ProxyDialect,
): Promise<Response> {
  const received = await readProxyRequest(call.exchange);
  const provider = proxy.providers[dialect.provider];
  const who = resolveMemoryAccess(call, toNamingBody(call, received.body, dialect), proxy.userHeaders);
  if (proxy.isUserRequired && who.user === undefined) throw createMissingUserError(proxy.userHeaders);
  const isBuiltIn = isBuiltInRequest(call, proxy, provider, received.body);
  const isOwnAccount = !isBuiltIn && mayUseStoredObjects(call, provider);
  if (isBuiltIn) checkBuiltInUse(received.body);
  const input = { received, who, isOwnAccount, isBuiltIn };
  const { own, request, context } = await withContext(call, proxy, dialect, input);
  const { references, resent } = own;
  if (!isBuiltIn && !isOwnAccount) checkServerKeyUse(request, dialect.name);
  const plan =
    dialect.name === "responses"
      ? await planTurn(own.request, { context, references, resent, access: who, isOwnAccount, isBuiltIn })
      : undefined;
  const spoken = await readConversation(request, dialect, { context, references });
  const held = findTurnState(call, proxy, who, spoken, { plan, context });
  if (isBuiltIn) return answerFromMemory(call, proxy, { request, dialect, who, spoken, held });

  const startedAt = performance.now();
  const memory = createMemoryTurn(call, proxy, { who, spoken, held });
  const isForgetting = await memory.forgetFirst();
  const recalled = await memory.recall();
  const current =
    (context || references.size > 0) && isForgetting
      ? await withoutErased(call, proxy, dialect, { ...input, references })
      : { request, turns: spoken.turns };
  const edits = injectMemory(current.request, { turns: current.turns, dialect, context: recalled });
  proxy.meter.observe("keepsake_proxy_overhead_ms", performance.now() - startedAt);

  return forwardRequest(call, proxy, {
    provider,
    purpose: "chat",
    access: who,
    method: "POST",
    body: toUpstreamBody(current.request, edits),
    model: request.body.model,
    sentText: current.turns.map(({ text }) => text).join("\n"),
    reader: dialect.createReader(),
    headers: memory.headers(recalled),
    onFirst: memory.storeUserTurns,
    onEnd: memory.storeReply,
  });
}

interface ContextInput {
  readonly received: ProxyRequest;
  readonly who: MemoryAccess;
  readonly isOwnAccount: boolean;
  readonly isBuiltIn: boolean;
}

interface ContinuedRequest {
  /** The request with the items that it names by ids. */
  readonly own: ReferencedInput;
  /** The request to send: also with the items that it continues. */
  readonly request: ProxyRequest;
  readonly context?: StoredContext;
}

/** Gives the request with the stored items that it names and continues, if there are any. */
async function withContext(
  call: OperationRequest,
  proxy: OpenAiProxy,
  dialect: ProxyDialect,
  input: ContextInput,
): Promise<ContinuedRequest> {
  const { received, who: access, isOwnAccount, isBuiltIn } = input;
  if (dialect.name !== "responses") return { own: withoutReferences(received), request: received };
  const asked = { request: received, access, isOwnAccount, isBuiltIn };
  const own = await resolveItemReferences(call, proxy.writer, asked);
  return continueRequest(call, proxy, input, own);
}

async function continueRequest(
  call: OperationRequest,
  proxy: OpenAiProxy,
  { who: access, isOwnAccount }: ContextInput,
  own: ReferencedInput,
): Promise<ContinuedRequest> {
  const { request, references, bytes } = own;
  const { body } = request;
  const context = await resolveStoredContext(call, proxy.writer, { body, access, isOwnAccount, bytes });
  if (context) checkReferencesOutside(references, context);
  if (context) return { own, request: withStoredContext(request, context, isOwnAccount), context };
  const isStoredHere = references.size > 0 && !isOwnAccount;
  return { own, request: isStoredHere ? withStoredContext(request, EMPTY_CONTEXT, isOwnAccount) : request };
}

/** Gives the request again after an erasure: with the stored items as they are now, or with none if all are erased. */
async function withoutErased(
  call: OperationRequest,
  proxy: OpenAiProxy,
  dialect: ProxyDialect,
  { references, ...input }: ContextInput & Pick<ReferencedInput, "references">,
): Promise<{ readonly request: ProxyRequest; readonly turns: readonly RequestTurn[] }> {
  const { received, who: access, isOwnAccount, isBuiltIn } = input;
  const known = new Set([...references.values()].map(({ id }) => id));
  const asked = { request: received, access, isOwnAccount, isBuiltIn, known };
  const own = await resolveItemReferences(call, proxy.writer, asked);
  const { request } = await continueRequest(call, proxy, input, own).catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
    return { request: withStoredContext(own.request, EMPTY_CONTEXT, isOwnAccount) };
  });
  return { request, turns: (await readConversation(request, dialect)).turns };
}

/**
 * Gives the body in which a user may be named. Programs of Anthropic put an id of their own in `metadata.user_id`, for the
 * provider. It names a user only if the key does not.
 */
function toNamingBody({ bearer }: OperationRequest, body: BodyFields, { name }: ProxyDialect): BodyFields {
  return name === "messages" && bearer?.user !== undefined ? { ...body, metadata: undefined } : body;
}

const NO_MEMORY: MemoryAccess = { mode: "off" };

/**
 * Counts the tokens of a request of Anthropic's clients, as they sent it: memory is not involved. Without an upstream, it
 * gives the built-in model's estimate.
 */
export async function handleTokenCount(call: OperationRequest, proxy: OpenAiProxy): Promise<Response> {
  const request = await readProxyRequest(call.exchange);
  const { body } = request;
  const provider = proxy.providers.anthropic;
  if (isBuiltInRequest(call, proxy, provider, body)) {
    const turns = await runInSlices(MESSAGES_DIALECT.parseTurns(body));
    const texts = [extractText(body.system), ...turns.map(({ text }) => text)];
    return call.exchange.json({ input_tokens: estimateTokens(texts.join("\n")) });
  }
  if (!mayUseStoredObjects(call, provider)) checkServerKeyUse(request, "messages");
  const content = toUpstreamBody(request, []);
  return forwardRequest(call, proxy, { provider, access: NO_MEMORY, method: "POST", body: content });
}

/** Forwards a request for embeddings. Memory is not involved. */
export async function handleEmbeddings(call: OperationRequest, proxy: OpenAiProxy): Promise<Response> {
  const request = await readProxyRequest(call.exchange);
  const { body } = request;
  const provider = proxy.providers.openai;
  if (hasNoUpstream(call, provider))
    throw refuseField("model", "Embeddings need an upstream: set OPENAI_API_KEY or OPENAI_BASE_URL.", 404);
  if (!mayUseStoredObjects(call, provider)) checkServerKeyUse(request, "embeddings");
  const { user } = resolveMemoryAccess(call, body, proxy.userHeaders);
  return forwardRequest(call, proxy, {
    provider,
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
  const provider = findProvider(call, proxy.providers);
  if (hasNoUpstream(call, provider))
    return call.exchange.json({ object: "list", data: [describeBuiltInModel()] });
  return forwardRequest(call, proxy, { provider, access: NO_MEMORY, method: "GET" });
}

export async function handleModel(
  call: OperationRequest,
  proxy: OpenAiProxy,
  model: string,
): Promise<Response> {
  if (model === BUILT_IN_MODEL) return call.exchange.json(describeBuiltInModel());
  const provider = findProvider(call, proxy.providers);
  if (hasNoUpstream(call, provider))
    throw refuseField("model", `Model not found: "${BUILT_IN_MODEL}" is the only one here.`, 404);
  return forwardRequest(call, proxy, { provider, access: NO_MEMORY, method: "GET" });
}

/** Whether there is no upstream for this request. */
function hasNoUpstream(call: OperationRequest, { name, upstream }: Provider): boolean {
  return upstream === undefined && !hasClientKey(call, name);
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
