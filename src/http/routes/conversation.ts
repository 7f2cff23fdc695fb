import { streamSSE } from "hono/streaming";
import * as z from "zod";
import type { Item } from "../../domain/recall.ts";
import type { Reply, ScopedMemory } from "../../engine/surface.ts";
import { isMemoryError } from "../../errors.ts";
import type { RequestContext } from "../app-types.ts";
import { messageTextSchema, newNameSchema, toOptional, turnNumberSchema } from "../fields.ts";
import { noteErasures } from "../once.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { CONVERSATION_REPLY_SCHEMA } from "../shapes/recall.ts";
import { itemToWire, omitUndefined, receiptToWire } from "../wire.ts";

const CONVERSATION_BODY = z.strictObject({
  user_id: newNameSchema,
  message: messageTextSchema,
  turn_number: toOptional(turnNumberSchema),
  session_id: toOptional(newNameSchema),
  include_memories: toOptional(z.boolean()),
  stream: toOptional(z.boolean()),
});

/** One turn: stores the message, acts on it, replies, and says what it used and what it did. */
export const conversationOperations: readonly Operation[] = [
  defineOperation({
    id: "converse",
    method: "POST",
    path: "/api/v1/conversation",
    tag: "Conversation",
    summary: "One turn: stores what was said, acts on it, and replies",
    description:
      "With `stream`, the reply comes in parts as server-sent events `part`, and the whole answer as `done`; `error` with a `code` " +
      "where it broke off. Everything is stored before the first part.",
    scope: ["read", "write"],
    body: CONVERSATION_BODY,
    acceptsIdempotencyKey: true,
    answers: {
      200: {
        says: "The reply, what it rests on, and what became of what was said.",
        schema: CONVERSATION_REPLY_SCHEMA,
        others: {
          "text/event-stream":
            "events `part` with `{ text }`, then `done` with the whole answer, or `error` with `{ code }`",
        },
      },
    },
    problems: [409],
    async handle({ exchange, body, signal, memoryOf }) {
      const user = memoryOf(body.user_id);
      const asked = { exchange, memory: user };
      const key = exchange.req.header("idempotency-key");
      const options = { ...omitUndefined({ session: body.session_id, idempotencyKey: key }), signal };
      if (!body.stream)
        return exchange.json(
          await toConversationReply(body, await user.converse(body.message, options), asked),
        );
      const parts = user.converseStream(body.message, options);
      // With the first part everything is stored: what was wrong is told by then, and a stream that breaks off loses only words.
      const first = await parts.next();
      return streamSSE(exchange, async (stream) => {
        try {
          let next = first;
          for (; !next.done; next = await parts.next())
            await stream.writeSSE({ event: "part", data: JSON.stringify({ text: next.value }) });
          const answer = await toConversationReply(body, next.value, asked);
          await stream.writeSSE({ event: "done", data: JSON.stringify(answer) });
        } catch (error) {
          // Who has gone needs to be told nothing; the model has stopped with the signal.
          if (exchange.req.raw.signal.aborted) return;
          const code = isMemoryError(error) ? error.code : "unavailable";
          await stream.writeSSE({ event: "error", data: JSON.stringify({ code }) });
        }
      });
    },
  }),
];

async function toConversationReply(
  body: z.infer<typeof CONVERSATION_BODY>,
  reply: Reply,
  { exchange, memory }: { readonly exchange: RequestContext; readonly memory: ScopedMemory },
): Promise<object> {
  noteErasures(exchange, reply.receipt.erasures);
  const used = await findUsedItems(reply, memory);
  const { text, by, model, trouble, usage: { tokensIn, tokensCached, tokensOut } = NO_USAGE } = reply;
  return {
    reply: text,
    by,
    ...omitUndefined({ model, trouble }),
    memories_used: body.include_memories === false ? [] : used,
    receipt: receiptToWire(reply.receipt),
    turn_number: body.turn_number ?? reply.turn,
    usage: {
      memories_used: used.length,
      prompt_tokens: tokensIn,
      cached_tokens: tokensCached,
      completion_tokens: tokensOut,
      total_tokens: tokensIn + tokensOut,
    },
  };
}

/** Where no model was asked. */
const NO_USAGE = { tokensIn: 0, tokensCached: 0, tokensOut: 0 };

/** What the answer rests on, best first. An answer may rest on memories that its recall did not rank. */
async function findUsedItems({ answer, receipt }: Reply, memory: ScopedMemory): Promise<object[]> {
  // The answer was found before the erasure, and may hold what is erased by now.
  if (!answer || receipt.erasures) return [];
  const items = new Map(answer.recall.items.map((item) => [item.id, item]));
  const used = await Promise.all(
    answer.used.map(async (id) => {
      const item = items.get(id) ?? (await findMemoryItem(memory, id));
      return item ? [itemToWire(item)] : [];
    }),
  );
  return used.flat();
}

async function findMemoryItem(
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
