import * as z from "zod";
import { CURSORS } from "./cursors.ts";
import { ROLE } from "./memory.ts";
import { anyFields, named, time, whole } from "./named.ts";

export const SESSION_PAGE: z.ZodType = named(
  "SessionPage",
  z.object({
    items: z.array(
      z.object({
        id: z.string(),
        messages: whole.describe("How many messages are there"),
        from: time.describe("When the first of them was said"),
        to: time.describe("When the last of them was said"),
      }),
    ),
    total: whole,
    ...CURSORS,
  }),
);

const MESSAGE = named(
  "Message",
  z.object({
    id: z.string(),
    turn: whole.describe("The message's place in the order in which the user's messages were stored"),
    role: ROLE,
    name: z.string().optional(),
    content: z.string().describe("All text of it; spans of sources count in it"),
    parts: z
      .array(z.looseObject({ type: z.string() }))
      .describe("As they came, where it was more than one text")
      .optional(),
    at: time.describe("When it was said"),
    metadata: anyFields.optional(),
  }),
);

export const SESSION: z.ZodType = named(
  "Session",
  z.object({
    id: z.string(),
    user_id: z.string(),
    items: z.array(MESSAGE).describe("In the order in which they were stored"),
    total: whole,
    ...CURSORS,
  }),
);
