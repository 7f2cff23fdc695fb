import * as z from "zod";
import type { WhereText } from "../../domain/filters/text-filter.ts";
import { type Claim, KIND_NAMES, type Kind, type KindGroup } from "../../domain/memory.ts";
import { type RankingWeights, WEIGHT_NAMES } from "../../domain/recall.ts";
import { invalid } from "../../errors.ts";
import { omitUndefined } from "./wire.ts";

/** Makes a field optional or null, as clients in other languages send it. */
export function toOptional<Shape extends z.ZodType>(schema: Shape): z.ZodType<z.output<Shape> | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/**
 * The texts that `checkText` accepts, as a portable pattern: no control characters except tabs and line breaks, and not only
 * white space. It is for the document; texts are checked when they are stored.
 */
const SPACE_CHARACTERS = " \\t\\n\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const CONTROL_CHARACTERS = "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f";
const TEXT_PATTERN = `^[${SPACE_CHARACTERS}]*[^${SPACE_CHARACTERS}${CONTROL_CHARACTERS}][^${CONTROL_CHARACTERS}]*$`;
/** The times that `toIsoTime` accepts: ISO 8601 with a zone, or a date. */
const TIME_PATTERN =
  "^[12]\\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])" +
  "(?:T(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d))?$";

/** A text. Its content is checked when it is stored, the same for every interface. */
export const textSchema: z.ZodString = z
  .string()
  .meta({ id: "Text", pattern: TEXT_PATTERN, description: "At most 1,000,000 bytes of UTF-8" });
/** The text of a message: at least one word. Characters that cannot be stored are replaced, and the receipt says so. */
export const messageTextSchema: z.ZodString = z.string().meta({
  id: "Spoken",
  pattern: `[^${SPACE_CHARACTERS}${CONTROL_CHARACTERS}]`,
  description: "At most 1,000,000 bytes of UTF-8",
});
/** The same in a batch: an empty message is left out, and the receipt says so. */
export const batchTextSchema: z.ZodString = z
  .string()
  .meta({ id: "SpokenInBatch", description: "At most 1,000,000 bytes of UTF-8" });
/** An id, a user, a session: a short text. */
export const nameSchema: z.ZodString = z
  .string()
  .meta({ id: "Name", pattern: TEXT_PATTERN, description: "At most 512 bytes of UTF-8" });
/** The same for new data: "." and ".." are refused, because they have a meaning in paths. */
export const newNameSchema: z.ZodString = z.string().meta({
  id: "NewName",
  pattern: `^(?!\\.{1,2}$)${TEXT_PATTERN.slice(1)}`,
  description: 'At most 512 bytes of UTF-8; not "." or ".."',
});
/** A time, parsed by `toIsoTime`. */
export const momentSchema: z.ZodString = z
  .string()
  .meta({ id: "Moment", pattern: TIME_PATTERN, description: "ISO 8601 with a zone, or a date" });
/** The cursor of the previous page. */
export const cursorSchema: z.ZodString = z.string().regex(/^[A-Za-z0-9_-]+$/);
/** The number of a turn. */
export const turnNumberSchema: z.ZodInt = z.int().min(0).max(1_000_000_000);
/** A kind, or a group of kinds. */
export const kindNameSchema: z.ZodType<Kind | KindGroup> = z.enum(KIND_NAMES as readonly [Kind, ...Kind[]]);
export const shareSchema: z.ZodNumber = z.number().min(0).max(1);
/** The maximum number of items. */
export const countSchema: z.ZodInt = z.int().min(1).max(1000);
const WHOLE_NUMBER_PROBLEM = "must be a whole number";
/** The same in a query string, where every value is text. */
export const countTextSchema: z.ZodType<number> = createCountTextSchema(1, 1000);

/** A whole number in a query string, within limits. */
export function createCountTextSchema(least: number, most: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,9}$/, WHOLE_NUMBER_PROBLEM)
    .transform(Number)
    .pipe(z.int().min(least).max(most));
}
const SCALAR_SCHEMA = {
  anyOf: [
    { type: "string", pattern: `^[^${CONTROL_CHARACTERS}]*$` },
    { type: ["number", "boolean", "null"] },
  ],
};
/** Flat values by name. They are checked when they are stored. */
export const metadataSchema: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown()).meta({
  propertyNames: { type: "string", pattern: `^[^$${CONTROL_CHARACTERS}][^${CONTROL_CHARACTERS}]*$` },
  additionalProperties: { anyOf: [SCALAR_SCHEMA, { type: "array", items: SCALAR_SCHEMA }] },
});
/** A filter over metadata. The engine parses it. */
export const filterSchema: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown());
/** A filter over texts. The engine parses it. */
export const textFilterSchema: z.ZodRecord<z.ZodString, z.ZodUnknown> = z
  .record(z.string(), z.unknown())
  .describe(
    "A filter over the items' own text, as Chroma's `where_document`: `$contains`, `$not_contains`, `$regex`, `$not_regex` (RE2's syntax), `$and`, `$or`",
  );
/** The same in a query string, as JSON. */
export const textFilterTextSchema: z.ZodString = z
  .string()
  .describe('A filter over the memories\' own text as JSON, such as {"$contains": "Porto"}');

/** Parses a filter over texts from a query string. Throws `invalid_input` for invalid JSON. */
export function parseTextFilter(text: string): WhereText {
  try {
    return JSON.parse(text) as WhereText;
  } catch {
    throw invalid('where_text: this is not valid JSON. Send a filter such as {"$contains": "Porto"}.');
  }
}

const weightSchema = toOptional(z.number().min(0).max(1_000_000));
/** The weights of the ranking "classic". They count by their share of the sum. */
export const weightsSchema: z.ZodType<RankingWeights> = z
  .strictObject(
    Object.fromEntries(WEIGHT_NAMES.map((name) => [name, weightSchema])) as {
      [name in keyof RankingWeights]-?: typeof weightSchema;
    },
  )
  .transform((fields) => omitUndefined(fields));

export const claimSchema: z.ZodType<Claim> = z
  .strictObject({
    subject: textSchema,
    relation: textSchema,
    value: textSchema,
    qualifier: toOptional(textSchema),
  })
  .transform((fields) => omitUndefined(fields));

/** Gives a schema an id: the document contains it once, and refers to it elsewhere. */
export function withSchemaId<Shape extends z.ZodType>(id: string, schema: Shape): Shape {
  return schema.meta({ id });
}

/** A time in responses: ISO 8601 with a zone. */
export const timeSchema: z.ZodString = z.string().describe("ISO 8601");
/** Free fields of the caller. */
export const anyFieldsSchema: z.ZodType = z.record(z.string(), z.unknown());
export const wholeNumberSchema: z.ZodInt = z.int().min(0);

/** A number from 0 to 1 in a query string. */
export const shareTextSchema: z.ZodType<number> = z
  .string()
  .regex(/^\d(?:\.\d{1,40})?(?:e-\d{1,3})?$/i, "must be a number from 0 to 1")
  .transform(Number)
  .pipe(z.number().min(0).max(1));

interface CursorFields {
  readonly cursor: z.ZodOptional<z.ZodString>;
  readonly next_cursor: z.ZodOptional<z.ZodString>;
}

/** The schema of the cursor fields of a page. */
export const CURSOR_FIELDS: CursorFields = {
  cursor: z.string().describe("Send as `cursor` of the next request; absent on the last page").optional(),
  next_cursor: z
    .string()
    .meta({ deprecated: true, description: "Deprecated, to be removed in the next release: use `cursor`" })
    .optional(),
};
