import * as z from "zod";
import { type Claim, type Kind, MEMORY_KINDS } from "../../domain/memory.ts";
import { omitUndefined } from "../wire.ts";

/** May be left out, or null, as clients in other languages send it. */
export function toOptional<Shape extends z.ZodType>(schema: Shape): z.ZodType<z.output<Shape> | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/**
 * What `checkText` lets through, as a pattern that every language reads alike: no control characters but tabs and line
 * breaks, and something beside white space. The document says it; it is checked where a text is stored.
 */
const SPACE_CHARACTERS = " \\t\\n\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const CONTROL_CHARACTERS = "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f";
const TEXT_PATTERN = `^[${SPACE_CHARACTERS}]*[^${SPACE_CHARACTERS}${CONTROL_CHARACTERS}][^${CONTROL_CHARACTERS}]*$`;
/** What `isoTime` takes: ISO 8601 with a zone, or a bare date. */
const TIME_PATTERN =
  "^[12]\\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])" +
  "(?:T(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d))?$";

/** A text. What it may hold is checked where it is stored, the same for every surface. */
export const textSchema: z.ZodString = z
  .string()
  .meta({ id: "Text", pattern: TEXT_PATTERN, description: "At most 1,000,000 bytes of UTF-8" });
/** What somebody said: at least one word. Characters that no store takes are replaced, and the receipt says so. */
export const messageTextSchema: z.ZodString = z.string().meta({
  id: "Spoken",
  pattern: `[^${SPACE_CHARACTERS}${CONTROL_CHARACTERS}]`,
  description: "At most 1,000,000 bytes of UTF-8",
});
/** As `spoken`, in a batch: one without words is left out, and the receipt says so. */
export const batchTextSchema: z.ZodString = z
  .string()
  .meta({ id: "SpokenInBatch", description: "At most 1,000,000 bytes of UTF-8" });
/** An id, a user, a session: a short text. */
export const nameSchema: z.ZodString = z
  .string()
  .meta({ id: "Name", pattern: TEXT_PATTERN, description: "At most 512 bytes of UTF-8" });
/** The same, where something is stored under it: "." and ".." are steps in an address, and no names there. */
export const newNameSchema: z.ZodString = z.string().meta({
  id: "NewName",
  pattern: `^(?!\\.{1,2}$)${TEXT_PATTERN.slice(1)}`,
  description: 'At most 512 bytes of UTF-8; not "." or ".."',
});
/** A moment, read by `isoTime`. */
export const momentSchema: z.ZodString = z
  .string()
  .meta({ id: "Moment", pattern: TIME_PATTERN, description: "ISO 8601 with a zone, or a date" });
/** Where a list goes on: what the page before gave. */
export const cursorSchema: z.ZodString = z.string().regex(/^[A-Za-z0-9_-]+$/);
/** The number of a turn: far more than anybody ever says. */
export const turnNumberSchema: z.ZodInt = z.int().min(0).max(1_000_000_000);
export const kindSchema: z.ZodType<Kind> = z.enum(MEMORY_KINDS);
export const shareSchema: z.ZodNumber = z.number().min(0).max(1);
/** How many things to give. */
export const countSchema: z.ZodInt = z.int().min(1).max(1000);
const WHOLE_NUMBER_PROBLEM = "must be a whole number";
/** As `count`, from behind the "?" of an address, where everything is text. */
export const countTextSchema: z.ZodType<number> = z
  .string()
  .regex(/^\d{1,9}$/, WHOLE_NUMBER_PROBLEM)
  .transform(Number)
  .pipe(countSchema);
const SCALAR_SCHEMA = {
  anyOf: [
    { type: "string", pattern: `^[^${CONTROL_CHARACTERS}]*$` },
    { type: ["number", "boolean", "null"] },
  ],
};
/** Flat values by name; what they may hold is checked where they are stored. */
export const metadataSchema: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown()).meta({
  propertyNames: { type: "string", pattern: `^[^$${CONTROL_CHARACTERS}][^${CONTROL_CHARACTERS}]*$` },
  additionalProperties: { anyOf: [SCALAR_SCHEMA, { type: "array", items: SCALAR_SCHEMA }] },
});
/** A filter over metadata; the engine reads it. */
export const filterSchema: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown());

export const claimSchema: z.ZodType<Claim> = z
  .strictObject({
    subject: textSchema,
    relation: textSchema,
    value: textSchema,
    qualifier: toOptional(textSchema),
  })
  .transform((fields) => omitUndefined(fields));

/** A shape that the document names once, and refers to everywhere else. */
export function withSchemaId<Shape extends z.ZodType>(id: string, schema: Shape): Shape {
  return schema.meta({ id });
}

/** A time in ISO 8601 with its zone, as it stands in answers. */
export const timeSchema: z.ZodString = z.string().describe("ISO 8601");
/** What the caller gave, by the caller's own names. */
export const anyFieldsSchema: z.ZodType = z.record(z.string(), z.unknown());
export const wholeNumberSchema: z.ZodInt = z.int().min(0);
