import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import * as z from "zod";
import type { Item } from "../../domain/recall.ts";
import type { Keepsake, Reply, ScopedMemory } from "../../engine/surface.ts";
import { isMemoryError } from "../../errors.ts";
import type { App, RequestFacts } from "../app-types.ts";
import { readBody } from "../body.ts";
import { maybe, text } from "../fields.ts";
import { given, itemToWire, receiptToWire } from "../wire.ts";

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
    const answer = await answerOf(body, reply, user);
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

async function answerOf(
  body: z.infer<typeof CONVERSATION>,
  reply: Reply,
  memory: ScopedMemory,
): Promise<object> {
  const used = await usedOf(reply, memory);
  return {
    reply: reply.text,
    memories_used: body.include_memories === false ? [] : used,
    receipt: receiptToWire(reply.receipt),
    turn_number: body.turn_number ?? reply.turn,
    // The reply is composed from memory: no model was asked, so no tokens were spent.
    usage: { memories_used: used.length, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

/** What the answer rests on, best first. An answer may rest on memories that its recall did not rank. */
async function usedOf({ answer, receipt }: Reply, memory: ScopedMemory): Promise<object[]> {
  // The answer was found before the erasure, and may hold what is erased by now.
  if (!answer || receipt.erasures) return [];
  const items = new Map(answer.recall.items.map((item) => [item.id, item]));
  const used = await Promise.all(
    answer.used.map(async (id) => {
      const item = items.get(id) ?? (await heldItem(memory, id));
      return item ? [itemToWire(item)] : [];
    }),
  );
  return used.flat();
}

async function heldItem(
  memory: ScopedMemory,
  id: string,
): Promise<Pick<Item, "id" | "type" | "text"> | undefined> {
  try {
    return { type: "memory", ...(await memory.get(id)) };
  } catch (error) {
    // Another request erased it meanwhile, or it is a passage.
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
