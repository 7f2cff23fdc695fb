import * as z from "zod";

/** Characters of a query, a request or a description. */
const MAX_QUERY_LENGTH = 4000;
/** Characters of one text to remember. */
const MAX_TEXT_LENGTH = 20_000;
const MAX_NAME_LENGTH = 200;

export const querySchema: z.ZodString = z.string().min(1).max(MAX_QUERY_LENGTH);
export const spokenSchema: z.ZodString = z.string().min(1).max(MAX_TEXT_LENGTH);
export const idSchema: z.ZodString = z.string().min(1).max(MAX_NAME_LENGTH);

/** The size of an answer. */
export function createTokensSchema(usual: number): z.ZodType<number> {
  return z.int().min(50).max(8000).default(usual).describe("The most tokens of the answer");
}

/** A memory or a quote on one line, as a program gets it. */
export const LINE_SCHEMA: z.ZodType = z.object({
  id: z.string(),
  at: z.string().optional().describe("Day of the statement"),
  said_by: z.string().optional().describe("The speaker of a quote; absent for a memory"),
  shared_by: z.string().optional().describe("The other user who shares it: it is about them"),
  kind: z.literal("instruction").optional().describe("The user's own wish for the style of answers"),
  until: z
    .string()
    .optional()
    .describe("Outdated since this day; past: since an unknown one; never: it was never true"),
  text: z.string(),
});
