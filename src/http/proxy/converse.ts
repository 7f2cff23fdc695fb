import type { OperationRequest } from "../operation.ts";
import { injectMemory } from "./asked/inject.ts";
import type { OpenAiDialect } from "./asked/said.ts";
import { checkBuiltInUse, checkServerKeyUse } from "./asked/server-key-policy.ts";
import { readConversation } from "./asked/spoken.ts";
import { readProxyRequest, toUpstreamBody } from "./asked/take.ts";
import { createMissingUserError } from "./asked/user-id.ts";
import { resolveMemoryAccess } from "./asked/who.ts";
import { answerFromMemory, isBuiltInRequest } from "./built-in/built-in.ts";
import { createMemoryTurn, findTurnState } from "./memory/turn.ts";
import type { OpenAiProxy } from "./proxy.ts";
import { mayUseStoredObjects } from "./upstream/account.ts";
import { forwardRequest } from "./upstream/pass-on.ts";

/**
 * A conversation on its way to the model and back: take the request; recall, and put it in; pass it on; stream the answer
 * back; store the turn. Nothing that the memory does, or fails to do, stops it.
 */
export async function handleConversation(
  asked: OperationRequest,
  proxy: OpenAiProxy,
  dialect: OpenAiDialect,
): Promise<Response> {
  const request = await readProxyRequest(asked.exchange);
  const who = resolveMemoryAccess(asked, request.body, proxy.userHeaders);
  if (proxy.isUserRequired && who.user === undefined) throw createMissingUserError(proxy.userHeaders);
  const isBuiltInAsked = isBuiltInRequest(asked, proxy, request.body);
  if (isBuiltInAsked) checkBuiltInUse(request.body);
  else if (!mayUseStoredObjects(asked, proxy)) checkServerKeyUse(request, dialect.name);
  const spoken = await readConversation(request, dialect);
  const held = findTurnState(asked, proxy, who, spoken);
  if (isBuiltInAsked) return answerFromMemory(asked, proxy, { request, dialect, who, spoken, held });

  const begun = performance.now();
  const memory = createMemoryTurn(asked, proxy, { who, spoken, held });
  await memory.forgetFirst();
  const given = await memory.recall();
  const edits = injectMemory(request.json, { said: spoken.turns, dialect, given });
  proxy.meter.observe("keepsake_proxy_overhead_ms", performance.now() - begun);

  return forwardRequest(asked, proxy, {
    purpose: "chat",
    access: who,
    method: "POST",
    body: toUpstreamBody(request, edits),
    model: request.body.model,
    sentText: spoken.turns.map(({ text }) => text).join("\n"),
    reader: dialect.createReader(),
    headers: memory.headers(given),
    onFirst: memory.storeUserTurns,
    onEnd: memory.storeReply,
  });
}
