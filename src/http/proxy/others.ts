import type { OperationRequest } from "../operation.ts";
import { checkServerKeyUse } from "./asked/server-key-policy.ts";
import { readProxyRequest, toUpstreamBody } from "./asked/take.ts";
import { type MemoryAccess, resolveMemoryAccess } from "./asked/who.ts";
import { BUILT_IN_MODEL } from "./built-in/built-in-answer.ts";
import { refuseField } from "./problems.ts";
import type { OpenAiProxy } from "./proxy.ts";
import { type BodyFields, type ReplyReader, toArray, toFields, toText, toUsage } from "./replies/reply.ts";
import { hasClientKey, mayUseStoredObjects } from "./upstream/account.ts";
import { forwardRequest } from "./upstream/pass-on.ts";

const NO_MEMORY: MemoryAccess = { mode: "off" };

/** Vectors, from the upstream. The memory has no part in it. */
export async function handleEmbeddings(asked: OperationRequest, proxy: OpenAiProxy): Promise<Response> {
  const request = await readProxyRequest(asked.exchange);
  const { body } = request;
  if (hasNoUpstream(asked, proxy))
    throw refuseField("model", "There are no embeddings here: set OPENAI_API_KEY or OPENAI_BASE_URL.", 404);
  if (!mayUseStoredObjects(asked, proxy)) checkServerKeyUse(request, "embeddings");
  const { user } = resolveMemoryAccess(asked, body, proxy.userHeaders);
  return forwardRequest(asked, proxy, {
    purpose: "embed",
    access: user === undefined ? NO_MEMORY : { user, mode: "off" },
    method: "POST",
    body: toUpstreamBody(request, []),
    model: body.model,
    sentText: typeof body.input === "string" ? body.input : toArray(body.input).filter(isText).join("\n"),
    reader: createEmbeddingReader(),
  });
}

/** The upstream's models; without an upstream, the built-in one. */
export async function handleModelList(asked: OperationRequest, proxy: OpenAiProxy): Promise<Response> {
  if (hasNoUpstream(asked, proxy))
    return asked.exchange.json({ object: "list", data: [describeBuiltInModel()] });
  return forwardRequest(asked, proxy, { access: NO_MEMORY, method: "GET" });
}

export async function handleModel(
  asked: OperationRequest,
  proxy: OpenAiProxy,
  model: string,
): Promise<Response> {
  if (model === BUILT_IN_MODEL) return asked.exchange.json(describeBuiltInModel());
  if (hasNoUpstream(asked, proxy))
    throw refuseField("model", `There is no such model here: "${BUILT_IN_MODEL}" is the only one.`, 404);
  return forwardRequest(asked, proxy, { access: NO_MEMORY, method: "GET" });
}

/** Whether there is no upstream to ask. */
function hasNoUpstream(asked: OperationRequest, { upstream }: OpenAiProxy): boolean {
  return upstream === undefined && !hasClientKey(asked);
}

/** Of the day on which it was first there. */
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
