import type { Asked } from "../operation.ts";
import { injected } from "./asked/inject.ts";
import type { Dialect } from "./asked/said.ts";
import { checkBuiltInUse, checkServerKeyUse } from "./asked/server-key-policy.ts";
import { spokenIn } from "./asked/spoken.ts";
import { passedOn, taken } from "./asked/take.ts";
import { namesNobody } from "./asked/user-id.ts";
import { whoAsks } from "./asked/who.ts";
import { answeredByMemory, isBuiltIn } from "./built-in/built-in.ts";
import { heldIn, turn } from "./memory/turn.ts";
import type { OpenAiProxy } from "./proxy.ts";
import { mayReachStored } from "./upstream/account.ts";
import { passOn } from "./upstream/pass-on.ts";

/**
 * A conversation on its way to the model and back: take the request; recall, and put it in; pass it on; stream the answer
 * back; store the turn. Nothing that the memory does, or fails to do, stops it.
 */
export async function conversed(asked: Asked, proxy: OpenAiProxy, dialect: Dialect): Promise<Response> {
  const request = await taken(asked.exchange);
  const who = whoAsks(asked, request.body, proxy.userHeaders);
  if (proxy.isUserRequired && who.user === undefined) throw namesNobody(proxy.userHeaders);
  const isBuiltInAsked = isBuiltIn(asked, proxy, request.body);
  if (isBuiltInAsked) checkBuiltInUse(request.body);
  else if (!mayReachStored(asked, proxy)) checkServerKeyUse(request, dialect.name);
  const spoken = await spokenIn(request, dialect);
  const held = heldIn(asked, proxy, who, spoken);
  if (isBuiltInAsked) return answeredByMemory(asked, proxy, { request, dialect, who, spoken, held });

  const begun = performance.now();
  const memory = turn(asked, proxy, { who, spoken, held });
  await memory.forgetFirst();
  const given = await memory.recalled();
  const edits = injected(request.json, { said: spoken.said, dialect, given });
  proxy.meter.observe("keepsake_proxy_overhead_ms", performance.now() - begun);

  return passOn(asked, proxy, {
    purpose: "chat",
    who,
    method: "POST",
    body: passedOn(request, edits),
    model: request.body.model,
    sent: spoken.said.map(({ text }) => text).join("\n"),
    reader: dialect.reader(),
    headers: memory.headers(given),
    onFirst: memory.keepSaid,
    onEnd: memory.keepReply,
  });
}
