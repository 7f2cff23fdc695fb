import * as z from "zod";
import { CURSOR_FIELDS } from "./cursors.ts";
import { timeSchema, wholeNumberSchema, withSchemaId } from "./named.ts";

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
