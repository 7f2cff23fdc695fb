import * as z from "zod";
import { KINDS } from "../../domain/memory.ts";
import { CURSORS } from "./cursors.ts";
import { anyFields, named, time, whole } from "./named.ts";
import { RECEIPT } from "./receipt.ts";

export const KIND: z.ZodType = named("Kind", z.enum(KINDS));
export const STATUS: z.ZodType = named("Status", z.enum(["current", "superseded", "retracted"]));
export const ROLE: z.ZodType = named("Role", z.enum(["user", "assistant", "system", "tool"]));
export const ORIGIN: z.ZodType = named(
  "Origin",
  z
    .enum(["user_message", "assistant_message", "tool_result", "document", "import", "api"])
    .describe("Who said it. Written once; nothing raises it later."),
);
export const ACTION: z.ZodType = z.enum([
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

export const CLAIM: z.ZodType = named(
  "Claim",
  z.object({
    subject: z.string().describe("`user`, what is theirs (`user/sister`), or a name"),
    relation: z.string().describe("An English verb phrase in its base form: `use`, `live in`"),
    value: z.string(),
    qualifier: z.string().optional(),
  }),
);

const SPAN = {
  message: z.string().describe("The message's id"),
  quote: z.string().describe("The exact words, from `start` to `end` of the message's content"),
  start: whole,
  end: whole,
};

export const SOURCE: z.ZodType = named(
  "Source",
  z.object({
    ...SPAN,
    role: ROLE.optional(),
    at: time.optional(),
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
  type: KIND.describe("The same as `kind`"),
  kind: KIND,
  claim: CLAIM.optional(),
  status: STATUS,
  version: z.int().min(1),
  confidence: z.number().min(0).max(1),
  importance: z.number().min(0).max(1),
  evidence: z.int().min(0).describe("How often the same claim was made"),
  origin: ORIGIN,
  agent: z.string().optional(),
  session: z.string().optional(),
  source_turn: z.unknown().describe("What the metadata says").optional(),
  at: time.describe("When it was said"),
  created_at: time.describe("The same as `at`"),
  stored_at: time.describe("When this version was stored"),
  updated_at: time.describe("The same as `stored_at`"),
  valid_from: time.optional(),
  valid_to: time.optional(),
  when: z.string().describe("When an event takes place, as a date or a time in ISO 8601").optional(),
  expires_at: time.optional(),
  quarantined: z.boolean().optional(),
  archived: z.boolean().describe("Merged into another, or cleaned up; no less true for it").optional(),
  sensitive: z.boolean().optional(),
  metadata: anyFields.optional(),
  sources: z.array(SOURCE),
  superseded_by: z.string().optional(),
  revision: whole,
  action: ACTION,
  why: z.string().optional(),
};

/** As `memoryToWire` gives it. */
export const MEMORY: z.ZodType = named("Memory", z.object(MEMORY_FIELDS));

/** A memory, and the write that made or changed it. */
export const WRITTEN_MEMORY: z.ZodType = named(
  "WrittenMemory",
  z.object({ ...MEMORY_FIELDS, receipt: RECEIPT }),
);

export const MEMORY_PAGE: z.ZodType = named(
  "MemoryPage",
  z.object({
    items: z.array(MEMORY),
    total: whole.describe("How many there are in all"),
    ...CURSORS,
  }),
);

export const VERSIONS: z.ZodType = z.object({
  items: z.array(MEMORY),
  ...CURSORS,
});
