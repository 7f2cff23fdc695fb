import * as z from "zod";
import { CURSOR_FIELDS } from "./cursors.ts";
import { ROLE_SCHEMA } from "./memory.ts";
import { anyFieldsSchema, timeSchema, wholeNumberSchema, withSchemaId } from "./named.ts";

export const SESSION_PAGE_SCHEMA: z.ZodType = withSchemaId(
  "SessionPage",
  z.object({
    items: z.array(
      z.object({
        id: z.string(),
        messages: wholeNumberSchema.describe("How many messages are there"),
        from: timeSchema.describe("When the first of them was said"),
        to: timeSchema.describe("When the last of them was said"),
      }),
    ),
    total: wholeNumberSchema,
    ...CURSOR_FIELDS,
  }),
);

const MESSAGE_SCHEMA = withSchemaId(
  "Message",
  z.object({
    id: z.string(),
    turn: wholeNumberSchema.describe(
      "The message's place in the order in which the user's messages were stored",
    ),
    role: ROLE_SCHEMA,
    name: z.string().optional(),
    content: z.string().describe("All text of it; spans of sources count in it"),
    parts: z
      .array(z.looseObject({ type: z.string() }))
      .describe("As they came, where it was more than one text")
      .optional(),
    at: timeSchema.describe("When it was said"),
    metadata: anyFieldsSchema.optional(),
  }),
);

export const SESSION_SCHEMA: z.ZodType = withSchemaId(
  "Session",
  z.object({
    id: z.string(),
    user_id: z.string(),
    items: z.array(MESSAGE_SCHEMA).describe("In the order in which they were stored"),
    total: wholeNumberSchema,
    ...CURSOR_FIELDS,
  }),
);
