import * as z from "zod";
import { MEMORY_KINDS } from "../../domain/memory.ts";
import { CURSOR_FIELDS } from "../pagination.ts";
import { anyFieldsSchema, timeSchema, wholeNumberSchema, withSchemaId } from "./fields.ts";

const HELD_BACKUP_SCHEMA = z.object({ name: z.string(), at: timeSchema, until: timeSchema.optional() });

/** As `toWire` gives an `ErasureReceipt`. */
export const ERASURE_RECEIPT_SCHEMA: z.ZodType = withSchemaId(
  "ErasureReceipt",
  z
    .object({
      version: z.literal(2).optional(),
      id: z.string().describe("Empty where nothing was found: such a receipt is not kept"),
      at: timeSchema,
      project: z.string(),
      user: z.string(),
      revision: wholeNumberSchema,
      erased: z.record(z.string(), wholeNumberSchema).describe("How many went from each place"),
      ids: z.array(z.string()).describe("Of the memories that are gone"),
      backups: z.array(HELD_BACKUP_SCHEMA).describe("Copies that were known to hold it").optional(),
      remains: z
        .array(z.object({ place: z.string(), until: timeSchema.optional() }))
        .describe("Where its bytes stayed when it was erased, and until when at the latest")
        .optional(),
      trace: z.string().optional(),
      replays: z.string().optional(),
      verified: z
        .array(
          z.object({
            place: z.string(),
            found: wholeNumberSchema,
            until: timeSchema.describe("When what may be there is gone by itself at the latest").optional(),
            why: z.literal("not reached").describe("It is asked again until it is known").optional(),
          }),
        )
        .describe("Each place read again, and how many of the erased words were still there"),
      complete: z.boolean(),
      previous: z.string(),
      hash: z.string(),
      key: z.string().optional(),
      signature: z.string(),
    })
    .describe("What an erasure took, from where, and the proof. It holds no erased word."),
);

const RECEIPT_LINE_SCHEMA = z.object({
  id: z.string(),
  action: z.enum(["added", "merged", "superseded", "retracted", "erased", "refused", "quarantined"]),
  text: z.string(),
  display: z.string(),
  by: z.string().describe("The memory that took its place, or into which it went").optional(),
  why: z.string().optional(),
});

const PENDING_CONSENT_SCHEMA = z.object({
  action: z.enum(["erase", "supersede", "retract"]),
  memories: z.array(z.object({ id: z.string(), text: z.string() })),
});

/** As `receiptToWire` gives it. */
export const RECEIPT_SCHEMA: z.ZodType = withSchemaId(
  "Receipt",
  z
    .object({
      revision: wholeNumberSchema,
      messages: z.array(z.string()).describe("Ids of the messages stored"),
      memories: z.array(RECEIPT_LINE_SCHEMA),
      pending: wholeNumberSchema.describe("How many messages wait to be understood"),
      hindered: z
        .enum(["over_quota", "unavailable"])
        .optional()
        .describe("Why they wait longer: the budget is used up, or the model's server is down"),
      erasures: z.array(ERASURE_RECEIPT_SCHEMA).optional(),
      waiting: z
        .array(PENDING_CONSENT_SCHEMA)
        .describe("What a plain yes in the same session would carry out")
        .optional(),
    })
    .describe("What a write did, each thing by id."),
);

export const ERASURE_PLAN_SCHEMA: z.ZodType = withSchemaId(
  "ErasurePlan",
  z
    .object({
      dry_run: z.literal(true),
      memories: z.array(z.object({ id: z.string(), text: z.string(), display: z.string() })),
      messages: z.array(z.object({ id: z.string(), at: timeSchema, words: z.array(z.string()) })),
    })
    .describe("What an erasure would take. Nothing is gone yet."),
);

export const ERASURES_SCHEMA: z.ZodType = z.object({
  items: z.array(ERASURE_RECEIPT_SCHEMA),
  total: wholeNumberSchema,
  ...CURSOR_FIELDS,
});

export const KIND_SCHEMA: z.ZodType = withSchemaId("Kind", z.enum(MEMORY_KINDS));
export const STATUS_SCHEMA: z.ZodType = withSchemaId(
  "Status",
  z.enum(["current", "superseded", "retracted"]),
);
const ROLE_SCHEMA: z.ZodType = withSchemaId("Role", z.enum(["user", "assistant", "system", "tool"]));
const ORIGIN_SCHEMA: z.ZodType = withSchemaId(
  "Origin",
  z
    .enum(["user_message", "assistant_message", "tool_result", "document", "import", "api"])
    .describe("Who said it. Written once; nothing raises it later."),
);
const ACTION_SCHEMA: z.ZodType = z.enum([
  "added",
  "merged",
  "updated",
  "superseded",
  "retracted",
  "erased",
  "refused",
  "quarantined",
  "restored",
]);

export const CLAIM_SCHEMA: z.ZodType = withSchemaId(
  "Claim",
  z.object({
    subject: z.string().describe("`user`, what is theirs (`user/sister`), or a name"),
    relation: z.string().describe("An English verb phrase in its base form: `use`, `live in`"),
    value: z.string(),
    qualifier: z.string().optional(),
  }),
);

const SPAN_FIELDS = {
  message: z.string().describe("The message's id"),
  quote: z.string().describe("The exact words, from `start` to `end` of the message's content"),
  start: wholeNumberSchema,
  end: wholeNumberSchema,
};

export const SOURCE_SCHEMA: z.ZodType = withSchemaId(
  "Source",
  z.object({
    ...SPAN_FIELDS,
    role: ROLE_SCHEMA.optional(),
    at: timeSchema.optional(),
    session: z.string().optional(),
    name: z.string().optional(),
  }),
);

const MEMORY_FIELDS = {
  id: z.string(),
  user_id: z.string(),
  content: z.string().describe("The same as `text`"),
  text: z.string().describe("One statement, understandable alone"),
  display: z.string().describe("The text said to the user: `You use Shram.`"),
  type: KIND_SCHEMA.describe("The same as `kind`"),
  kind: KIND_SCHEMA,
  claim: CLAIM_SCHEMA.optional(),
  status: STATUS_SCHEMA,
  version: z.int().min(1),
  confidence: z.number().min(0).max(1),
  importance: z.number().min(0).max(1),
  evidence: z.int().min(0).describe("How often the same claim was made"),
  origin: ORIGIN_SCHEMA,
  agent: z.string().optional(),
  session: z.string().optional(),
  source_turn: z.unknown().describe("What the metadata says").optional(),
  at: timeSchema.describe("When it was said"),
  created_at: timeSchema.describe("The same as `at`"),
  stored_at: timeSchema.describe("When this version was stored"),
  updated_at: timeSchema.describe("The same as `stored_at`"),
  valid_from: timeSchema.optional(),
  valid_to: timeSchema.optional(),
  when: z.string().describe("When an event takes place, as a date or a time in ISO 8601").optional(),
  expires_at: timeSchema.optional(),
  quarantined: z.boolean().optional(),
  archived: z.boolean().describe("Merged into another, or cleaned up; no less true for it").optional(),
  sensitive: z.boolean().optional(),
  metadata: anyFieldsSchema.optional(),
  sources: z.array(SOURCE_SCHEMA),
  superseded_by: z.string().optional(),
  revision: wholeNumberSchema,
  action: ACTION_SCHEMA,
  why: z.string().optional(),
};

/** As `memoryToWire` gives it. */
export const MEMORY_SCHEMA: z.ZodType = withSchemaId("Memory", z.object(MEMORY_FIELDS));

/** A memory, and the write that made or changed it. */
export const WRITTEN_MEMORY_SCHEMA: z.ZodType = withSchemaId(
  "WrittenMemory",
  z.object({ ...MEMORY_FIELDS, receipt: RECEIPT_SCHEMA }),
);

export const MEMORY_PAGE_SCHEMA: z.ZodType = withSchemaId(
  "MemoryPage",
  z.object({
    items: z.array(MEMORY_SCHEMA),
    total: wholeNumberSchema.describe("How many there are in all"),
    ...CURSOR_FIELDS,
  }),
);

export const VERSIONS_SCHEMA: z.ZodType = z.object({
  items: z.array(MEMORY_SCHEMA),
  ...CURSOR_FIELDS,
});

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
