import { streamSSE } from "hono/streaming";
import * as z from "zod";
import type { Metadata } from "../../domain/filters/metadata-filter.ts";
import { toStorableText } from "../../domain/limits.ts";
import type { Part } from "../../domain/message.ts";
import type { Item } from "../../domain/recall.ts";
import type { Reply, ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { isMemoryError } from "../../errors.ts";
import type { ReceiptWriter } from "../../ports/language/reply-writer.ts";
import { noteErasures } from "../idempotency.ts";
import { defineOperation, type Operation } from "../operation.ts";
import type { RequestContext } from "../request-context.ts";
import {
  batchTextSchema,
  messageTextSchema,
  metadataSchema,
  momentSchema,
  nameSchema,
  newNameSchema,
  textSchema,
  toOptional,
  turnNumberSchema,
} from "../schemas/fields.ts";
import { RECEIPT_SCHEMA } from "../schemas/memory.ts";
import { CONVERSATION_REPLY_SCHEMA } from "../schemas/recall.ts";
import { itemToWire, omitUndefined, receiptToWire } from "../schemas/wire.ts";

const CONVERSATION_BODY = z.strictObject({
  user_id: newNameSchema,
  message: messageTextSchema,
  turn_number: toOptional(turnNumberSchema),
  session_id: toOptional(newNameSchema),
  include_memories: toOptional(z.boolean()),
  stream: toOptional(z.boolean()),
});

/** One turn: stores and executes a message, and replies with its sources and changes. */
export const conversationOperations: readonly Operation[] = [
  defineOperation({
    id: "converse",
    method: "POST",
    path: "/api/v1/conversation",
    tag: "Conversation",
    summary: "Runs one turn: stores the message, acts on it, and replies",
    description:
      "With `stream`, the reply arrives as server-sent events `part`, followed by `done` with the whole response, or `error` with a " +
      "`code` if it fails. Everything is stored before the first part.",
    scope: ["read", "write"],
    body: CONVERSATION_BODY,
    acceptsIdempotencyKey: true,
    answers: {
      200: {
        says: "The reply, its sources, and the result of the write.",
        schema: CONVERSATION_REPLY_SCHEMA,
        others: {
          "text/event-stream":
            "events `part` with `{ text }`, then `done` with the whole response, or `error` with `{ code }`",
        },
      },
    },
    problems: [409],
    async handle({ exchange, body, signal, memoryOf, services }) {
      const user = memoryOf(body.user_id);
      const asked = { exchange, memory: user, writer: services.keepsake.receiptWriter };
      const key = exchange.req.header("idempotency-key");
      const options = { ...omitUndefined({ session: body.session_id, idempotencyKey: key }), signal };
      if (!body.stream)
        return exchange.json(
          await toConversationReply(body, await user.converse(body.message, options), asked),
        );
      const parts = user.converseStream(body.message, options);
      // Everything is stored before the first part, so earlier errors become problems, and a broken stream loses only text.
      const first = await parts.next();
      return streamSSE(exchange, async (stream) => {
        try {
          let next = first;
          for (; !next.done; next = await parts.next())
            await stream.writeSSE({ event: "part", data: JSON.stringify({ text: next.value }) });
          const answer = await toConversationReply(body, next.value, asked);
          await stream.writeSSE({ event: "done", data: JSON.stringify(answer) });
        } catch (error) {
          // The client has disconnected; the signal has stopped the model.
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
  {
    exchange,
    memory,
    writer,
  }: {
    readonly exchange: RequestContext;
    readonly memory: ScopedMemory;
    readonly writer: ReceiptWriter;
  },
): Promise<object> {
  noteErasures(exchange, reply.receipt.erasures);
  const used = await findUsedItems(reply, memory, writer);
  const { text, by, model, trouble, usage: { tokensIn, tokensCached, tokensOut } = NO_USAGE } = reply;
  return {
    reply: text,
    by,
    ...omitUndefined({ model, trouble }),
    memories_used: body.include_memories === false ? [] : used,
    receipt: receiptToWire(reply.receipt, writer),
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

/** The usage without a model call. */
const NO_USAGE = { tokensIn: 0, tokensCached: 0, tokensOut: 0 };

/** Gives the sources of an answer, best first. They may include memories that its recall did not rank. */
async function findUsedItems(
  { answer, receipt }: Reply,
  memory: ScopedMemory,
  writer: ReceiptWriter,
): Promise<object[]> {
  // The answer is older than the erasure, and may contain erased data.
  if (!answer || receipt.erasures) return [];
  const items = new Map(answer.recall.items.map((item) => [item.id, item]));
  const used = await Promise.all(
    answer.used.map(async (id) => {
      const item = items.get(id) ?? (await findMemoryItem(memory, id));
      return item ? [itemToWire(item, writer)] : [];
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
    // Another request has erased it meanwhile, or it is a passage.
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

/** A part in OpenAI's form. Unknown parts are stored unchanged. */
const PART_BODY = z.looseObject({ type: textSchema });

const MESSAGE_BODY = z
  .strictObject({
    id: toOptional(nameSchema),
    role: z.enum(["user", "assistant", "system", "tool"]),
    content: z.union([batchTextSchema, z.array(PART_BODY).min(1)]),
    name: toOptional(nameSchema),
    at: toOptional(momentSchema),
    session_id: toOptional(newNameSchema),
    metadata: toOptional(metadataSchema),
  })
  .transform(({ role, content, session_id, metadata: held, ...rest }) => ({
    role,
    content: content as string | Part[],
    ...omitUndefined({ ...rest, session: session_id, metadata: held as Metadata | undefined }),
  }));

const MESSAGES_BODY = z.strictObject({
  user_id: newNameSchema,
  session_id: toOptional(newNameSchema),
  messages: z.array(MESSAGE_BODY).min(1).max(1000),
});

/** Storing messages, all or none. */
export const messageOperations: readonly Operation[] = [
  defineOperation({
    id: "addMessages",
    method: "POST",
    path: "/api/v1/messages",
    tag: "Conversation",
    summary: "Stores messages, all or none",
    scope: "write",
    body: MESSAGES_BODY,
    acceptsIdempotencyKey: true,
    answers: { 201: { says: "The stored messages and extracted memories.", schema: RECEIPT_SCHEMA } },
    problems: [409],
    async handle({ exchange, body, memoryOf, services }) {
      const receipt = await memoryOf(body.user_id).remember(
        body.messages,
        omitUndefined({ session: body.session_id, idempotencyKey: exchange.req.header("idempotency-key") }),
      );
      noteErasures(exchange, receipt.erasures);
      return exchange.json(receiptToWire(receipt, services.keepsake.receiptWriter), 201);
    },
  }),
];

/** The schema of a user, by either name, and a message. */
const createMessageSchema = (user: z.ZodString) =>
  z
    .strictObject({ userId: toOptional(user), user_id: toOptional(user), message: messageTextSchema })
    .refine(({ userId, user_id }) => (userId === undefined) !== (user_id === undefined), {
      message: "set either userId or user_id",
    })
    .meta({ oneOf: ["userId", "user_id"].map(requireField) })
    .transform(({ userId, user_id, message }) => ({
      userId: userId ?? user_id,
      message: toStorableText(message).text,
    }))
    .pipe(z.object({ userId: textSchema, message: textSchema }));

const SAY_BODY = createMessageSchema(newNameSchema);
/** Accepts old user names that are refused for new data, so that they can still be forgotten. */
const FORGET_BODY = createMessageSchema(nameSchema);

/** Gives the schema of an object with this field, not null. */
function requireField(field: string): object {
  return { required: [field], properties: { [field]: { type: "string" } } };
}

const SIMPLE_REPLY = z.object({ reply: z.string() });

/** The two calls for first experiments: send a message, and forget something. */
export const simpleOperations: readonly Operation[] = [
  defineOperation({
    id: "say",
    method: "POST",
    path: "/message",
    tag: "First steps",
    summary: "Sends a message and gets a reply",
    scope: ["read", "write"],
    body: SAY_BODY,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The reply.", schema: SIMPLE_REPLY } },
    async handle({ exchange, body, signal, memoryOf }) {
      const { text, receipt } = await memoryOf(body.userId).converse(body.message, { signal });
      noteErasures(exchange, receipt.erasures);
      return exchange.json({ reply: text });
    },
  }),
  defineOperation({
    id: "takeBack",
    method: "POST",
    path: "/forget",
    tag: "First steps",
    summary: "Forgets what the message names, by a name or in a sentence",
    scope: "erase",
    body: FORGET_BODY,
    acceptsIdempotencyKey: true,
    answers: {
      200: {
        says: "The number of erased memories and messages, without their content.",
        schema: SIMPLE_REPLY,
      },
    },
    async handle({ exchange, body, signal, memoryOf, services }) {
      const receipt = await memoryOf(body.userId).forget(body.message, { signal });
      noteErasures(exchange, [receipt]);
      return exchange.json({ reply: services.keepsake.receiptWriter.reportErasure(receipt) });
    },
  }),
];
