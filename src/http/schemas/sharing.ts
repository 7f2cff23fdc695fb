import * as z from "zod";
import { anyFieldsSchema, kindNameSchema, timeSchema, wholeNumberSchema, withSchemaId } from "./fields.ts";
import { KIND_SCHEMA } from "./memory.ts";

const CONTENT_SCHEMA = z.object({
  everything: z.literal(true).optional(),
  kinds: z.array(kindNameSchema).optional(),
  about: z.array(z.string()).optional(),
  where: anyFieldsSchema.optional(),
  where_text: anyFieldsSchema.optional(),
  ids: z.array(z.string()).optional(),
  sensitive: z.literal(true).optional(),
  messages: z.literal(true).optional(),
});

/** A grant after `grantToWire`. */
export const GRANT_SCHEMA: z.ZodType = withSchemaId(
  "Grant",
  z.object({
    id: z.string(),
    owner: z.string().describe("The user whose memories they are"),
    to_user: z.string().describe("The user who may read; absent for a group").optional(),
    to_group: z.object({ id: z.string(), name: z.string() }).optional(),
    what: CONTENT_SCHEMA,
    at: timeSchema.describe("When it was given"),
    until: timeSchema.describe("When it ends, exclusive").optional(),
    state: z
      .enum(["active", "declined", "expired", "withdrawn"])
      .describe("For its owner, `declined` once everybody did to whom it was given"),
    declined_by: z
      .array(z.string())
      .describe("For the owner of a grant to a group: the members who declined it")
      .optional(),
    withdrawn_at: timeSchema.optional(),
  }),
);

export const GRANTS_SCHEMA: z.ZodType = withSchemaId(
  "Grants",
  z.object({
    given: z.array(GRANT_SCHEMA).describe("Newest first"),
    received: z.array(GRANT_SCHEMA).describe("Newest first"),
  }),
);

export const GROUP_SCHEMA: z.ZodType = withSchemaId(
  "Group",
  z.object({
    id: z.string(),
    owner: z.string().describe("The user who made it, and alone may change it"),
    name: z.string(),
    members: z.array(z.string()),
    at: timeSchema,
  }),
);

export const GROUPS_SCHEMA: z.ZodType = z.object({ groups: z.array(GROUP_SCHEMA) });

export const SHARED_MEMORIES_SCHEMA: z.ZodType = withSchemaId(
  "SharedMemories",
  z.object({
    items: z
      .array(
        z.object({
          id: z.string(),
          text: z.string(),
          kind: KIND_SCHEMA,
          at: timeSchema,
          when: z.string().optional(),
          owner: z.string(),
          grant: z.string().describe("The id of the grant"),
        }),
      )
      .describe("Newest first"),
    total: wholeNumberSchema,
  }),
);
