import * as z from "zod";
import type { Metadata } from "../../domain/filter.ts";
import type { Part } from "../../domain/message.ts";
import {
  batchTextSchema,
  metadataSchema,
  momentSchema,
  nameSchema,
  newNameSchema,
  textSchema,
  toOptional,
} from "../fields.ts";
import { noteErasures } from "../once.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { RECEIPT_SCHEMA } from "../shapes/receipt.ts";
import { omitUndefined, receiptToWire } from "../wire.ts";

/** In OpenAI's shapes; what is not understood is kept as it came. */
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

/** Taking in messages as they were said, all or none. */
export const messageOperations: readonly Operation[] = [
  defineOperation({
    id: "addMessages",
    method: "POST",
    path: "/api/v1/messages",
    tag: "Conversation",
    summary: "Takes in messages as they were said, all or none",
    scope: "write",
    body: MESSAGES_BODY,
    acceptsIdempotencyKey: true,
    answers: { 201: { says: "What was stored, and what was understood.", schema: RECEIPT_SCHEMA } },
    problems: [409],
    async handle({ exchange, body, memoryOf }) {
      const receipt = await memoryOf(body.user_id).remember(
        body.messages,
        omitUndefined({ session: body.session_id, idempotencyKey: exchange.req.header("idempotency-key") }),
      );
      noteErasures(exchange, receipt.erasures);
      return exchange.json(receiptToWire(receipt), 201);
    },
  }),
];
