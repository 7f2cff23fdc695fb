import * as z from "zod";
import { CURSOR_FIELDS } from "../pagination.ts";
import { timeSchema, wholeNumberSchema, withSchemaId } from "./fields.ts";

/** A `ShownAttachment` after `toWire`. */
export const ATTACHMENT_SCHEMA: z.ZodType = withSchemaId(
  "Attachment",
  z.object({
    id: z.string().describe("The SHA-256 of the bytes, hex; for a URL, a name that begins with `url-`"),
    user_id: z.string(),
    type: z.enum(["image", "audio"]),
    media_type: z.string().describe("By the bytes, not by what was said").optional(),
    size: wholeNumberSchema.describe("Number of bytes").optional(),
    url: z.string().describe("Where it is, if its bytes are not kept").optional(),
    description: z.string().describe("What it shows or says").optional(),
    described_by: z.literal("model").optional(),
    is_kept: z.boolean().describe("Whether `…/content` gives its bytes"),
    message: z.string().describe("The message's id"),
    session: z.string().optional(),
    at: timeSchema,
  }),
);

export const ATTACHMENTS_SCHEMA: z.ZodType = z.object({
  user_id: z.string(),
  items: z.array(ATTACHMENT_SCHEMA),
  total: wholeNumberSchema,
  ...CURSOR_FIELDS,
});
