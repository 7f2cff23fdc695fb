import * as z from "zod";
import { CURSORS } from "./cursors.ts";
import { ACTION, MEMORY } from "./memory.ts";
import { named, time, whole } from "./named.ts";

const ENTRY = named(
  "LogEntry",
  z
    .object({
      revision: whole.describe("What `undo` takes"),
      at: time,
      cause: z.string().describe("What made it: `remember`, `add`, `update`, `undo`, `forget`"),
      undoes: whole.describe("The revision that it took back").optional(),
      messages: z.array(z.string()).describe("Ids of messages added"),
      memories: z
        .array(z.object({ id: z.string(), version: whole, action: ACTION }))
        .describe("Versions of memories made"),
      erased: z.array(z.string()).describe("Ids of messages with words taken out, and of memories gone"),
    })
    .describe("What one change did, by id."),
);

export const LOG: z.ZodType = named("Log", z.object({ items: z.array(ENTRY), ...CURSORS }));

export const PROFILE: z.ZodType = named(
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
    left: whole.describe("How many lines there was no room for"),
    kinds: z
      .record(z.string(), z.array(MEMORY))
      .describe("What holds, by kind: of each the hundred that were stored last"),
    left_of_kinds: z
      .record(z.string(), whole)
      .describe("How many more hold of a kind; the list of memories has all"),
  }),
);

export const IMPORTED: z.ZodType = named(
  "Imported",
  z.object({
    read: whole.describe("Messages in it"),
    stored: whole.describe("Messages that are new"),
    known: whole.describe("Messages that were there already, by their ids"),
    memories: whole.describe("Memories that are new"),
  }),
);

export const USER_PAGE: z.ZodType = named(
  "UserPage",
  z.object({
    items: z.array(z.object({ user_id: z.string() })).describe("By name"),
    total: whole,
    ...CURSORS,
  }),
);
