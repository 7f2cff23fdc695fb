import { Hono } from "hono";
import * as z from "zod";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Keepsake } from "../../engine/surface.ts";
import type { App, RequestFacts } from "../app-types.ts";
import { readBody } from "../body.ts";
import { maybe, text } from "../fields.ts";

const SIMPLE = z
  .strictObject({ userId: maybe(text), user_id: maybe(text), message: text })
  .transform(({ userId, user_id, message }) => ({ userId: userId ?? user_id, message }))
  .pipe(z.object({ userId: text, message: text }));

/** The two calls that a first experiment needs: say something, and take something back. */
export function simpleRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  app.post("/message", async (context) => {
    const { userId: user, message } = await readBody(context, SIMPLE);
    const { text } = await keepsake.scope({ project: context.get("project"), user }).converse(message);
    return context.json({ reply: text });
  });
  app.post("/forget", async (context) => {
    const { userId: user, message } = await readBody(context, SIMPLE);
    const receipt = await keepsake.scope({ project: context.get("project"), user }).forget(message);
    return context.json({ reply: replyOf(receipt) });
  });
  return app;
}

/** Says what went, and names nothing of it. */
function replyOf({ erased, complete }: ErasureReceipt): string {
  const { memories, messages, rewritten = 0 } = erased;
  if (memories + messages + rewritten === 0)
    return "I know nothing about that, so there was nothing to forget.";
  const gone = `${counted(erased.memories, "memory", "memories")} and the words in ${counted(erased.messages, "message", "messages")}`;
  if (!complete)
    return `Forgotten: ${gone}. Some traces could not be removed yet: ask for it again in a moment.`;
  return `Forgotten: ${gone}.`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
