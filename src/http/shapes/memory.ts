import * as z from "zod";
import { MEMORY_KINDS } from "../../domain/memory.ts";
import { CURSOR_FIELDS } from "./cursors.ts";
import { anyFieldsSchema, timeSchema, wholeNumberSchema, withSchemaId } from "./named.ts";
import { RECEIPT_SCHEMA } from "./receipt.ts";

export const KIND_SCHEMA: z.ZodType = withSchemaId("Kind", z.enum(MEMORY_KINDS));
export const STATUS_SCHEMA: z.ZodType = withSchemaId(
  "Status",
  z.enum(["current", "superseded", "retracted"]),
);
export const ROLE_SCHEMA: z.ZodType = withSchemaId("Role", z.enum(["user", "assistant", "system", "tool"]));
export const ORIGIN_SCHEMA: z.ZodType = withSchemaId(
  "Origin",
  z
    .enum(["user_message", "assistant_message", "tool_result", "document", "import", "api"])
    .describe("Who said it. Written once; nothing raises it later."),
);
export const ACTION_SCHEMA: z.ZodType = z.enum([
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
