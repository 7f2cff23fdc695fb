import * as z from "zod";
import { toStorableText } from "../../domain/limits.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import { messageTextSchema, nameSchema, newNameSchema, textSchema, toOptional } from "../fields.ts";
import { noteErasures } from "../once.ts";
import { defineOperation, type Operation } from "../operation.ts";

/** Whom it is about, by either name, and what is said. */
const createMessageSchema = (user: z.ZodString) =>
  z
    .strictObject({ userId: toOptional(user), user_id: toOptional(user), message: messageTextSchema })
    .refine(({ userId, user_id }) => (userId === undefined) !== (user_id === undefined), {
      message: "give either userId or user_id",
    })
    .meta({ oneOf: ["userId", "user_id"].map(requireField) })
    .transform(({ userId, user_id, message }) => ({
      userId: userId ?? user_id,
      message: toStorableText(message).text,
    }))
    .pipe(z.object({ userId: textSchema, message: textSchema }));

const SAY_BODY = createMessageSchema(newNameSchema);
/** What is stored under a name that is refused today can still be taken back. */
const FORGET_BODY = createMessageSchema(nameSchema);

/** The schema of an object that has this field, and not null in it. */
function requireField(field: string): object {
  return { required: [field], properties: { [field]: { type: "string" } } };
}

const SIMPLE_REPLY = z.object({ reply: z.string() });

/** The two calls that a first experiment needs: say something, and take something back. */
export const simpleOperations: readonly Operation[] = [
  defineOperation({
    id: "say",
    method: "POST",
    path: "/message",
    tag: "First steps",
    summary: "Says something, and gets a reply",
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
    summary: "Forgets what is named, by its name or in a sentence",
    scope: "erase",
    body: FORGET_BODY,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "What went, without naming it.", schema: SIMPLE_REPLY } },
    async handle({ exchange, body, memoryOf }) {
      const receipt = await memoryOf(body.userId).forget(body.message);
      noteErasures(exchange, [receipt]);
      return exchange.json({ reply: formatErasureReply(receipt) });
    },
  }),
];

/** Says what went, and names nothing of it. */
function formatErasureReply({ erased, complete }: ErasureReceipt): string {
  const { memories, messages, rewritten = 0 } = erased;
  if (memories + messages + rewritten === 0)
    return "I know nothing about that, so there was nothing to forget.";
  const gone = `${formatCount(erased.memories, "memory", "memories")} and the words in ${formatCount(erased.messages, "message", "messages")}`;
  if (!complete)
    return `Forgotten: ${gone}. Some traces could not be removed yet: ask for it again in a moment.`;
  return `Forgotten: ${gone}.`;
}

function formatCount(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
