import * as z from "zod";
import { ASSOCIATION_TYPES } from "../../domain/change-set.ts";
import { MEMORY_KINDS } from "../../domain/memory.ts";
import { anyFieldsSchema, CURSOR_FIELDS, timeSchema, wholeNumberSchema, withSchemaId } from "./fields.ts";

const HELD_BACKUP_SCHEMA = z.object({ name: z.string(), at: timeSchema, until: timeSchema.optional() });

/** An `ErasureReceipt` after `toWire`. */
const PREVIEW_FIELDS = {
  memories: z.array(z.object({ id: z.string(), text: z.string() })),
  quotes: z
    .array(z.object({ message: z.string(), at: timeSchema, quote: z.string() }))
    .describe("The words as they were said, message by message"),
};

const UNSURE_SCHEMA = z
  .array(z.object({ about: z.string(), ...PREVIEW_FIELDS }))
  .optional()
  .describe("What the description may mean too; nothing of it is touched. Not part of the signed receipt");

export const ERASURE_RECEIPT_SCHEMA: z.ZodType = withSchemaId(
  "ErasureReceipt",
  z
    .object({
      version: z.literal(2).optional(),
      id: z.string().describe("Empty if nothing was found: such a receipt is not stored"),
      at: timeSchema,
      project: z.string(),
      user: z.string(),
      revision: wholeNumberSchema,
      erased: z.record(z.string(), wholeNumberSchema).describe("Number of erased items of each kind"),
      ids: z.array(z.string()).describe("Ids of the erased memories"),
      backups: z.array(HELD_BACKUP_SCHEMA).describe("Known backups that contain the erased data").optional(),
      remains: z
        .array(z.object({ place: z.string(), until: timeSchema.optional() }))
        .describe("Where bytes remained after the erasure, and until when at the latest")
        .optional(),
      trace: z.string().optional(),
      replays: z.string().optional(),
      verified: z
        .array(
          z.object({
            place: z.string(),
            found: wholeNumberSchema,
            until: timeSchema.describe("When remaining data disappears by itself at the latest").optional(),
            why: z.literal("not reached").describe("The store is checked again until it responds").optional(),
          }),
        )
        .describe("Each re-scanned store, and the number of traces found in it"),
      complete: z.boolean(),
      previous: z.string(),
      hash: z.string(),
      key: z.string().optional(),
      signature: z.string(),
      unsure: UNSURE_SCHEMA,
    })
    .describe("What was erased, from where, and the proof. It contains no erased text."),
);

const RECEIPT_LINE_SCHEMA = z.object({
  id: z.string(),
  action: z.enum(["added", "merged", "superseded", "retracted", "erased", "refused", "quarantined"]),
  text: z.string(),
  display: z.string(),
  by: z.string().describe("The memory that replaced it, or into which it was merged").optional(),
  why: z.string().optional(),
});

const PENDING_CONSENT_SCHEMA = z.object({
  action: z.enum(["erase", "supersede", "retract"]),
  ...PREVIEW_FIELDS,
});

/** A receipt after `receiptToWire`. */
export const RECEIPT_SCHEMA: z.ZodType = withSchemaId(
  "Receipt",
  z
    .object({
      revision: wholeNumberSchema,
      messages: z.array(z.string()).describe("Ids of the messages stored"),
      memories: z.array(RECEIPT_LINE_SCHEMA),
      pending: wholeNumberSchema.describe("Number of messages that are not processed yet"),
      hindered: z
        .enum(["over_quota", "unavailable"])
        .optional()
        .describe("Why they wait longer: the budget is used up, or the model's server is down"),
      erasures: z.array(ERASURE_RECEIPT_SCHEMA).optional(),
      waiting: z
        .array(PENDING_CONSENT_SCHEMA)
        .describe("The action that a plain yes in the same session would execute")
        .optional(),
    })
    .describe("The result of a write, by ids."),
);

export const ERASURE_PLAN_SCHEMA: z.ZodType = withSchemaId(
  "ErasurePlan",
  z
    .object({
      dry_run: z.literal(true),
      revision: wholeNumberSchema.describe("For `if_revision`"),
      memories: z.array(z.object({ id: z.string(), text: z.string(), display: z.string() })),
      messages: z.array(
        z.object({
          id: z.string(),
          at: timeSchema,
          words: z.array(z.string()),
          attachments: wholeNumberSchema
            .describe("How many images and recordings would be removed from it")
            .optional(),
        }),
      ),
      unsure: UNSURE_SCHEMA,
    })
    .describe("What an erasure would remove. Nothing is erased yet."),
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
    .describe("Who said it. Set once; nothing raises it later."),
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
    attachment: z.string().describe("The id of the image or recording that the words describe").optional(),
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
  source_turn: z.unknown().describe("The value in the metadata").optional(),
  at: timeSchema.describe("When it was said"),
  created_at: timeSchema.describe("The same as `at`"),
  stored_at: timeSchema.describe("When this version was stored"),
  updated_at: timeSchema.describe("The same as `stored_at`"),
  valid_from: timeSchema.optional(),
  valid_to: timeSchema.optional(),
  when: z.string().describe("When an event takes place, as a date or a time in ISO 8601").optional(),
  expires_at: timeSchema.optional(),
  quarantined: z.boolean().optional(),
  archived: z.boolean().describe("Merged into another or cleaned up; still true").optional(),
  sensitive: z.boolean().optional(),
  metadata: anyFieldsSchema.optional(),
  usage: z
    .object({ count: wholeNumberSchema, last_at: timeSchema.optional() })
    .describe("How often recalls returned it")
    .optional(),
  access_count: wholeNumberSchema.describe("The same as `usage.count`").optional(),
  last_accessed: timeSchema.describe("The same as `usage.last_at`").optional(),
  decay_score: z.number().min(0).max(1).describe("How new it is: halved every 90 days").optional(),
  sources: z.array(SOURCE_SCHEMA),
  superseded_by: z.string().optional(),
  review: z
    .object({
      since: timeSchema,
      revision: wholeNumberSchema.describe("The revision that changed what it depends on"),
      because: z.array(z.string()).describe("Ids of the memories that have changed"),
    })
    .describe("It depends on something that has changed, and nobody has reviewed it since")
    .optional(),
  revision: wholeNumberSchema,
  action: ACTION_SCHEMA,
  why: z.string().optional(),
};

/** A memory after `memoryToWire`. */
export const MEMORY_SCHEMA: z.ZodType = withSchemaId("Memory", z.object(MEMORY_FIELDS));

/** A memory, with the write that created or changed it. */
export const WRITTEN_MEMORY_SCHEMA: z.ZodType = withSchemaId(
  "WrittenMemory",
  z.object({ ...MEMORY_FIELDS, receipt: RECEIPT_SCHEMA }),
);

export const MEMORY_PAGE_SCHEMA: z.ZodType = withSchemaId(
  "MemoryPage",
  z.object({
    items: z.array(MEMORY_SCHEMA),
    total: wholeNumberSchema.describe("Total number"),
    ...CURSOR_FIELDS,
  }),
);

export const VERSIONS_SCHEMA: z.ZodType = z.object({
  items: z.array(MEMORY_SCHEMA),
  ...CURSOR_FIELDS,
});

const ASSOCIATION_TYPE_SCHEMA: z.ZodType = withSchemaId("AssociationType", z.enum(ASSOCIATION_TYPES));

const LINK_FIELDS = {
  from: z.string().describe("The id of the memory that depends, extends or contradicts"),
  type: ASSOCIATION_TYPE_SCHEMA,
  to: z.string().describe("The id of the other memory"),
  strength: z.number().min(0).max(1),
};

const LINK_SCHEMA = withSchemaId("Association", z.object(LINK_FIELDS));

export const LINK_RECEIPT_SCHEMA: z.ZodType = withSchemaId(
  "AssociationReceipt",
  z.object({
    revision: wholeNumberSchema.describe("The revision afterwards, which `undo` takes"),
    linked: z.array(LINK_SCHEMA).describe("Made, or given another strength"),
    unlinked: z.array(LINK_SCHEMA).describe("Removed, or given another strength"),
  }),
);

export const LINK_PAGE_SCHEMA: z.ZodType = withSchemaId(
  "AssociationPage",
  z.object({ items: z.array(LINK_SCHEMA), total: wholeNumberSchema, ...CURSOR_FIELDS }),
);

const RELATED_STEP_SCHEMA = withSchemaId(
  "AssociationStep",
  z.object({
    ...LINK_FIELDS,
    inferred: z
      .enum(["told together", "about the same"])
      .describe("Why it was inferred; absent for a stored association")
      .optional(),
  }),
);

export const RELATED_SCHEMA: z.ZodType = withSchemaId(
  "RelatedMemories",
  z.object({
    items: z.array(
      z.object({
        memory: MEMORY_SCHEMA,
        strength: z.number().min(0).max(1).describe("The product of the strengths on the way"),
        depth: z.int().min(1),
        path: z.array(RELATED_STEP_SCHEMA).describe("The way, from the memory that was named"),
      }),
    ),
    total: wholeNumberSchema.describe("Number found, before the limit"),
  }),
);

export const LOG_ENTRY_SCHEMA: z.ZodType = withSchemaId(
  "LogEntry",
  z
    .object({
      revision: wholeNumberSchema.describe("What `undo` takes"),
      at: timeSchema,
      cause: z.string().describe("Its cause: `remember`, `add`, `update`, `undo`, `forget`"),
      undoes: wholeNumberSchema.describe("The revision that it undid").optional(),
      import_id: z
        .string()
        .describe("The import that it is a part of; undoing one part undoes all")
        .optional(),
      extractor: z
        .enum(["local", "model"])
        .describe("Who read stored messages, for the cause `digest`")
        .optional(),
      messages: z.array(z.string()).describe("Ids of messages added"),
      memories: z
        .array(z.object({ id: z.string(), version: wholeNumberSchema, action: ACTION_SCHEMA }))
        .describe("New versions of memories"),
      erased: z.array(z.string()).describe("Ids of messages with removed words, and of erased memories"),
      linked: z.array(LINK_SCHEMA).describe("Associations made or changed").optional(),
      unlinked: z.array(LINK_SCHEMA).describe("Associations removed, or as they were before").optional(),
    })
    .describe("The effect of one change, by ids."),
);

export const LOG_SCHEMA: z.ZodType = withSchemaId(
  "Log",
  z.object({ items: z.array(LOG_ENTRY_SCHEMA), ...CURSOR_FIELDS }),
);

export const PROFILE_SCHEMA: z.ZodType = withSchemaId(
  "Profile",
  z.object({
    user_id: z.string(),
    text: z
      .string()
      .describe("The profile as text, for people and prompts: the same bytes while nothing changes"),
    sections: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        lines: z.array(
          z.object({
            text: z.string(),
            memories: z.array(z.string()).describe("Ids of the memories in it"),
            sources: z.array(z.string()).describe("Ids of their source messages"),
            sensitive: z.boolean().optional(),
          }),
        ),
      }),
    ),
    left: wholeNumberSchema.describe("Number of lines left out"),
    kinds: z
      .record(z.string(), z.array(MEMORY_SCHEMA))
      .describe("Current memories by kind: the hundred stored last of each"),
    left_of_kinds: z
      .record(z.string(), wholeNumberSchema)
      .describe("Number of further current memories by kind; the list of memories contains all"),
  }),
);

export const IMPORT_RESULT_SCHEMA: z.ZodType = withSchemaId(
  "Imported",
  z.object({
    read: wholeNumberSchema.describe("Messages in it"),
    stored: wholeNumberSchema.describe("New messages"),
    known: wholeNumberSchema.describe("Messages already known, by id"),
    memories: wholeNumberSchema.describe("New memories"),
    import_id: z.string().describe("Names the import; another one with this `import_id` goes on with it"),
    revision: wholeNumberSchema.describe("What `undo` takes, to take back the whole import").optional(),
    learnt: z
      .array(RECEIPT_LINE_SCHEMA.omit({ display: true }))
      .describe("What was learnt, at most 1,000 lines"),
    passed_over: z
      .array(z.object({ why: z.string(), count: wholeNumberSchema }))
      .describe("What was passed over, by reason"),
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
        messages: wholeNumberSchema.describe("Number of messages"),
        from: timeSchema.describe("Time of the first message"),
        to: timeSchema.describe("Time of the last message"),
      }),
    ),
    total: wholeNumberSchema,
    ...CURSOR_FIELDS,
  }),
);

const MESSAGE_FIELDS = {
  id: z.string(),
  turn: wholeNumberSchema.describe(
    "The message's position in the order in which the user's messages were stored",
  ),
  role: ROLE_SCHEMA,
  name: z.string().optional(),
  content: z.string().describe("All its text; spans of sources refer to it"),
  parts: z
    .array(z.looseObject({ type: z.string() }))
    .describe("The original parts, if there was more than one text")
    .optional(),
  at: timeSchema.describe("When it was said"),
  metadata: anyFieldsSchema.optional(),
};

const MESSAGE_SCHEMA = withSchemaId("Message", z.object(MESSAGE_FIELDS));

/** A message by itself. */
export const STORED_MESSAGE_SCHEMA: z.ZodType = withSchemaId(
  "StoredMessage",
  z.object({
    ...MESSAGE_FIELDS,
    user_id: z.string(),
    session: z.string().describe("Absent for a message without a session").optional(),
  }),
);

export const SESSION_SCHEMA: z.ZodType = withSchemaId(
  "Session",
  z.object({
    id: z.string(),
    user_id: z.string(),
    items: z.array(MESSAGE_SCHEMA).describe("In the order of storing"),
    total: wholeNumberSchema,
    ...CURSOR_FIELDS,
  }),
);

/** How many memories have each value. */
export const FACETS_SCHEMA: z.ZodType = withSchemaId(
  "MemoryFacets",
  z.object({
    items: z.array(
      z.object({
        value: z.string().describe("A value for the filter of that name; a month: `2026-03`"),
        count: wholeNumberSchema,
      }),
    ),
    total: wholeNumberSchema.describe("Number of memories that pass the filters"),
    left: wholeNumberSchema.describe("How many of them have no value"),
  }),
);
