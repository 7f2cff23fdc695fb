import * as z from "zod";
import { CURSOR_FIELDS } from "./cursors.ts";
import { ACTION_SCHEMA, MEMORY_SCHEMA } from "./memory.ts";
import { timeSchema, wholeNumberSchema, withSchemaId } from "./named.ts";

const LOG_ENTRY_SCHEMA = withSchemaId(
  "LogEntry",
  z
    .object({
      revision: wholeNumberSchema.describe("What `undo` takes"),
      at: timeSchema,
      cause: z.string().describe("What made it: `remember`, `add`, `update`, `undo`, `forget`"),
      undoes: wholeNumberSchema.describe("The revision that it took back").optional(),
      messages: z.array(z.string()).describe("Ids of messages added"),
      memories: z
        .array(z.object({ id: z.string(), version: wholeNumberSchema, action: ACTION_SCHEMA }))
        .describe("Versions of memories made"),
      erased: z.array(z.string()).describe("Ids of messages with words taken out, and of memories gone"),
    })
    .describe("What one change did, by id."),
);

export const LOG_SCHEMA: z.ZodType = withSchemaId(
  "Log",
  z.object({ items: z.array(LOG_ENTRY_SCHEMA), ...CURSOR_FIELDS }),
);

export const PROFILE_SCHEMA: z.ZodType = withSchemaId(
  "Profile",
  z.object({
    user_id: z.string(),
    text: z.string().describe("The page, for people and for prompts: the same bytes while nothing changes"),
    sections: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        lines: z.array(
          z.object({
            text: z.string(),
            memories: z.array(z.string()).describe("Ids of the memories that it tells"),
            sources: z.array(z.string()).describe("Ids of the messages that they come from"),
            sensitive: z.boolean().optional(),
          }),
        ),
      }),
    ),
    left: wholeNumberSchema.describe("How many lines there was no room for"),
    kinds: z
      .record(z.string(), z.array(MEMORY_SCHEMA))
      .describe("What holds, by kind: of each the hundred that were stored last"),
    left_of_kinds: z
      .record(z.string(), wholeNumberSchema)
      .describe("How many more hold of a kind; the list of memories has all"),
  }),
);

export const IMPORT_RESULT_SCHEMA: z.ZodType = withSchemaId(
  "Imported",
  z.object({
    read: wholeNumberSchema.describe("Messages in it"),
    stored: wholeNumberSchema.describe("Messages that are new"),
    known: wholeNumberSchema.describe("Messages that were there already, by their ids"),
    memories: wholeNumberSchema.describe("Memories that are new"),
  }),
);

export const USER_PAGE_SCHEMA: z.ZodType = withSchemaId(
  "UserPage",
  z.object({
    items: z.array(z.object({ user_id: z.string() })).describe("By name"),
    total: wholeNumberSchema,
    ...CURSOR_FIELDS,
  }),
);
