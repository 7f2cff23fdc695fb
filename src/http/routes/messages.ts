import * as z from "zod";
import type { Metadata } from "../../domain/filter.ts";
import type { Part } from "../../domain/message.ts";
import { maybe, metadata, moment, name, newName, spokenInBatch, text } from "../fields.ts";
import { noteErasures } from "../once.ts";
import { type Operation, operation } from "../operation.ts";
import { RECEIPT } from "../shapes/receipt.ts";
import { given, receiptToWire } from "../wire.ts";

/** In OpenAI's shapes; what is not understood is kept as it came. */
const PART = z.looseObject({ type: text });

const MESSAGE = z
  .strictObject({
    id: maybe(name),
    role: z.enum(["user", "assistant", "system", "tool"]),
    content: z.union([spokenInBatch, z.array(PART).min(1)]),
    name: maybe(name),
    at: maybe(moment),
    session_id: maybe(newName),
    metadata: maybe(metadata),
  })
  .transform(({ role, content, session_id, metadata: held, ...rest }) => ({
    role,
    content: content as string | Part[],
    ...given({ ...rest, session: session_id, metadata: held as Metadata | undefined }),
  }));

const MESSAGES = z.strictObject({
  user_id: newName,
  session_id: maybe(newName),
  messages: z.array(MESSAGE).min(1).max(1000),
});

/** Taking in messages as they were said, all or none. */
export const messageOperations: readonly Operation[] = [
  operation({
    id: "addMessages",
    method: "POST",
    path: "/api/v1/messages",
    tag: "Conversation",
    summary: "Takes in messages as they were said, all or none",
    scope: "write",
    body: MESSAGES,
    takesKey: true,
    answers: { 201: { says: "What was stored, and what was understood.", schema: RECEIPT } },
    problems: [409],
    async handle({ exchange, body, memoryOf }) {
      const receipt = await memoryOf(body.user_id).remember(
        body.messages,
        given({ session: body.session_id, idempotencyKey: exchange.req.header("idempotency-key") }),
      );
      noteErasures(exchange, receipt.erasures);
      return exchange.json(receiptToWire(receipt), 201);
    },
  }),
];
