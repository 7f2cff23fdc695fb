import { streamSSE } from "hono/streaming";
import * as z from "zod";
import type { Item } from "../../domain/recall.ts";
import type { Reply, ScopedMemory } from "../../engine/surface.ts";
import { isMemoryError } from "../../errors.ts";
import { maybe, text } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import { CONVERSATION_REPLY } from "../shapes/recall.ts";
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
export const conversationOperations: readonly Operation[] = [
  operation({
    id: "converse",
    method: "POST",
    path: "/api/v1/conversation",
    tag: "Conversation",
    summary: "One turn: stores what was said, acts on it, and replies",
    description:
      "With `stream`, the reply comes in parts as server-sent events `part`, and the rest as `done`.",
    scope: ["read", "write"],
    body: CONVERSATION,
    answers: {
      200: {
        says: "The reply, what it rests on, and what became of what was said.",
        schema: CONVERSATION_REPLY,
        others: { "text/event-stream": "events `part` with `{ text }`, then `done` with the whole answer" },
      },
    },
    problems: [409],
    async handle({ exchange, body, memoryOf }) {
      const user = memoryOf(body.user_id);
      const reply = await user.converse(
        body.message,
        given({ session: body.session_id, idempotencyKey: exchange.req.header("idempotency-key") }),
      );
      const answer = await answerOf(body, reply, user);
      if (!body.stream) return exchange.json(answer);
      return streamSSE(exchange, async (stream) => {
        // What was stored is stored by now, so that a stream that breaks off loses only words.
        for (const part of reply.text.match(/\S+\s*/g) ?? []) {
          await stream.writeSSE({ event: "part", data: JSON.stringify({ text: part }) });
        }
        await stream.writeSSE({ event: "done", data: JSON.stringify(answer) });
      });
    },
  }),
];

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
