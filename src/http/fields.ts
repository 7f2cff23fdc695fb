import * as z from "zod";
import type { Claim, Kind } from "../domain/memory.ts";
import { KINDS } from "../domain/memory.ts";
import { given } from "./wire.ts";

/** May be left out, or null, as clients in other languages send it. */
export function maybe<Shape extends z.ZodType>(schema: Shape): z.ZodType<z.output<Shape> | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/**
 * What `checkText` lets through, as a pattern that every language reads alike: no control characters but tabs and line
 * breaks, and something beside white space. The document says it; it is checked where a text is stored.
 */
const SPACE = " \\t\\n\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const CONTROL = "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f";
const WORDS = `^[${SPACE}]*[^${SPACE}${CONTROL}][^${CONTROL}]*$`;
/** What `isoTime` takes: ISO 8601 with a zone, or a bare date. */
const TIME =
  "^[12]\\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])" +
  "(?:T(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d))?$";

/** A text. What it may hold is checked where it is stored, the same for every surface. */
export const text: z.ZodString = z
  .string()
  .meta({ id: "Text", pattern: WORDS, description: "At most 1,000,000 bytes of UTF-8" });
/** What somebody said: at least one word. Characters that no store takes are replaced, and the receipt says so. */
export const spoken: z.ZodString = z
  .string()
  .meta({ id: "Spoken", pattern: `[^${SPACE}${CONTROL}]`, description: "At most 1,000,000 bytes of UTF-8" });
/** As `spoken`, in a batch: one without words is left out, and the receipt says so. */
export const spokenInBatch: z.ZodString = z
  .string()
  .meta({ id: "SpokenInBatch", description: "At most 1,000,000 bytes of UTF-8" });
/** An id, a user, a session: a short text. */
export const name: z.ZodString = z
  .string()
  .meta({ id: "Name", pattern: WORDS, description: "At most 512 bytes of UTF-8" });
/** The same, where something is stored under it: "." and ".." are steps in an address, and no names there. */
export const newName: z.ZodString = z.string().meta({
  id: "NewName",
  pattern: `^(?!\\.{1,2}$)${WORDS.slice(1)}`,
  description: 'At most 512 bytes of UTF-8; not "." or ".."',
});
/** A moment, read by `isoTime`. */
export const moment: z.ZodString = z
  .string()
  .meta({ id: "Moment", pattern: TIME, description: "ISO 8601 with a zone, or a date" });
/** Where a list goes on: what the page before gave. */
export const cursor: z.ZodString = z.string().regex(/^[A-Za-z0-9_-]+$/);
/** The number of a turn: far more than anybody ever says. */
export const turn: z.ZodInt = z.int().min(0).max(1_000_000_000);
export const kind: z.ZodType<Kind> = z.enum(KINDS);
export const share: z.ZodNumber = z.number().min(0).max(1);
/** How many things to give. */
export const count: z.ZodInt = z.int().min(1).max(1000);
const WHOLE = "must be a whole number";
/** As `count`, from behind the "?" of an address, where everything is text. */
export const countText: z.ZodType<number> = z
  .string()
  .regex(/^\d{1,9}$/, WHOLE)
  .transform(Number)
  .pipe(count);
const SCALAR = {
  anyOf: [{ type: "string", pattern: `^[^${CONTROL}]*$` }, { type: ["number", "boolean", "null"] }],
};
/** Flat values by name; what they may hold is checked where they are stored. */
export const metadata: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown()).meta({
  propertyNames: { type: "string", pattern: `^[^$${CONTROL}][^${CONTROL}]*$` },
  additionalProperties: { anyOf: [SCALAR, { type: "array", items: SCALAR }] },
});
/** A filter over metadata; the engine reads it. */
export const filter: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown());

export const claim: z.ZodType<Claim> = z
  .strictObject({ subject: text, relation: text, value: text, qualifier: maybe(text) })
  .transform((fields) => given(fields));
