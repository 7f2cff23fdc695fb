import type { Asked } from "../operation.ts";
import { checkServerKeyUse } from "./asked/server-key-policy.ts";
import { passedOn, taken } from "./asked/take.ts";
import { type Who, whoAsks } from "./asked/who.ts";
import { BUILT_IN } from "./built-in/built-in-answer.ts";
import { wrong } from "./problems.ts";
import type { OpenAiProxy } from "./proxy.ts";
import { type Fields, fieldsOf, listOf, type ReplyReader, textOf, usageOf } from "./replies/reply.ts";
import { bringsKey, mayReachStored } from "./upstream/account.ts";
import { passOn } from "./upstream/pass-on.ts";

const NOBODY: Who = { mode: "off" };

/** Vectors, from the upstream. The memory has no part in it. */
export async function embedded(asked: Asked, proxy: OpenAiProxy): Promise<Response> {
  const request = await taken(asked.exchange);
  const { body } = request;
  if (isAlone(asked, proxy))
    throw wrong("model", "There are no embeddings here: set OPENAI_API_KEY or OPENAI_BASE_URL.", 404);
  if (!mayReachStored(asked, proxy)) checkServerKeyUse(request, "embeddings");
  const { user } = whoAsks(asked, body, proxy.userHeaders);
  return passOn(asked, proxy, {
    purpose: "embed",
    who: user === undefined ? NOBODY : { user, mode: "off" },
    method: "POST",
    body: passedOn(request, []),
    model: body.model,
    sent: typeof body.input === "string" ? body.input : listOf(body.input).filter(isText).join("\n"),
    reader: embeddingReply(),
  });
}

/** The upstream's models; without an upstream, the built-in one. */
export async function listedModels(asked: Asked, proxy: OpenAiProxy): Promise<Response> {
  if (isAlone(asked, proxy)) return asked.exchange.json({ object: "list", data: [builtIn()] });
  return passOn(asked, proxy, { who: NOBODY, method: "GET" });
}

export async function oneModel(asked: Asked, proxy: OpenAiProxy, model: string): Promise<Response> {
  if (model === BUILT_IN) return asked.exchange.json(builtIn());
  if (isAlone(asked, proxy))
    throw wrong("model", `There is no such model here: "${BUILT_IN}" is the only one.`, 404);
  return passOn(asked, proxy, { who: NOBODY, method: "GET" });
}

/** Whether there is no upstream to ask. */
function isAlone(asked: Asked, { upstream }: OpenAiProxy): boolean {
  return upstream === undefined && !bringsKey(asked);
}

/** Of the day on which it was first there. */
function builtIn(): object {
  return { id: BUILT_IN, object: "model", created: 1_767_225_600, owned_by: "keepsake" };
}

function isText(one: unknown): one is string {
  return typeof one === "string";
}

function embeddingReply(): ReplyReader {
  let fields: Fields = {};
  return {
    document(value) {
      fields = fieldsOf(value);
    },
    event() {},
    reply() {
      const { prompt_tokens: tokens } = fieldsOf(fields.usage);
      const usage = usageOf({ in: tokens, out: 0 }, { in: "in", out: "out" });
      const model = textOf(fields.model);
      return {
        text: "",
        calls: [],
        isWhole: true,
        ...(usage ? { usage } : {}),
        ...(model === "" ? {} : { model }),
      };
    },
  };
}
