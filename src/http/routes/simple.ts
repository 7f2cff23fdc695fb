import * as z from "zod";
import { storableText } from "../../domain/limits.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import { maybe, name, newName, spoken, text } from "../fields.ts";
import { noteErasures } from "../once.ts";
import { type Operation, operation } from "../operation.ts";

/** Whom it is about, by either name, and what is said. */
const saidBy = (user: z.ZodString) =>
  z
    .strictObject({ userId: maybe(user), user_id: maybe(user), message: spoken })
    .refine(({ userId, user_id }) => (userId === undefined) !== (user_id === undefined), {
      message: "give either userId or user_id",
    })
    .meta({ oneOf: ["userId", "user_id"].map(given) })
    .transform(({ userId, user_id, message }) => ({
      userId: userId ?? user_id,
      message: storableText(message).text,
    }))
    .pipe(z.object({ userId: text, message: text }));

const SAY = saidBy(newName);
/** What is stored under a name that is refused today can still be taken back. */
const TAKE_BACK = saidBy(name);

/** The schema of an object that has this field, and not null in it. */
function given(field: string): object {
  return { required: [field], properties: { [field]: { type: "string" } } };
}

const REPLY = z.object({ reply: z.string() });

/** The two calls that a first experiment needs: say something, and take something back. */
export const simpleOperations: readonly Operation[] = [
  operation({
    id: "say",
    method: "POST",
    path: "/message",
    tag: "First steps",
    summary: "Says something, and gets a reply",
    scope: ["read", "write"],
    body: SAY,
    takesKey: true,
    answers: { 200: { says: "The reply.", schema: REPLY } },
    async handle({ exchange, body, signal, memoryOf }) {
      const { text, receipt } = await memoryOf(body.userId).converse(body.message, { signal });
      noteErasures(exchange, receipt.erasures);
      return exchange.json({ reply: text });
    },
  }),
  operation({
    id: "takeBack",
    method: "POST",
    path: "/forget",
    tag: "First steps",
    summary: "Forgets what is named, by its name or in a sentence",
    scope: "erase",
    body: TAKE_BACK,
    takesKey: true,
    answers: { 200: { says: "What went, without naming it.", schema: REPLY } },
    async handle({ exchange, body, memoryOf }) {
      const receipt = await memoryOf(body.userId).forget(body.message);
      noteErasures(exchange, [receipt]);
      return exchange.json({ reply: replyOf(receipt) });
    },
  }),
];

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
