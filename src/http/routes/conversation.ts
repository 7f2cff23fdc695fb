import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import * as z from "zod";
import type { Keepsake, Reply } from "../../engine/surface.ts";
import type { App, RequestFacts } from "../app-types.ts";
import { readBody } from "../body.ts";
import { maybe, text } from "../fields.ts";
import { given, itemToWire, toWire } from "../wire.ts";

const CONVERSATION = z.strictObject({
  user_id: text,
  message: text,
  turn_number: maybe(z.int().min(0)),
  session_id: maybe(text),
  include_memories: maybe(z.boolean()),
  stream: maybe(z.boolean()),
});

/** One turn: stores the message, acts on it, replies, and says what it used and what it did. */
export function conversationRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  app.post("/conversation", async (context) => {
    const body = await readBody(context, CONVERSATION);
    const user = keepsake.scope({ project: context.get("project"), user: body.user_id });
    const reply = await user.converse(
      body.message,
      given({ session: body.session_id, idempotencyKey: context.req.header("idempotency-key") }),
    );
    const answer = answerOf(body, reply);
    if (!body.stream) return context.json(answer);
    return streamSSE(context, async (stream) => {
      // What was stored is stored by now, so that a stream that breaks off loses only words.
      for (const part of reply.text.match(/\S+\s*/g) ?? []) {
        await stream.writeSSE({ event: "part", data: JSON.stringify({ text: part }) });
      }
      await stream.writeSSE({ event: "done", data: JSON.stringify(answer) });
    });
  });
  return app;
}

function answerOf(body: z.infer<typeof CONVERSATION>, reply: Reply): object {
  const used = new Set(reply.answer?.used);
  const items = (reply.answer?.recall.items ?? []).filter(({ id }) => used.has(id));
  return {
    reply: reply.text,
    memories_used: body.include_memories === false ? [] : items.map(itemToWire),
    receipt: toWire(reply.receipt),
    turn_number: body.turn_number ?? reply.turn,
    // The reply is composed from memory: no model was asked, so no tokens were spent.
    usage: { memories_used: items.length, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}
