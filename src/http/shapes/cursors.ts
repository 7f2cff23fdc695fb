import * as z from "zod";

interface CursorFields {
  readonly cursor: z.ZodOptional<z.ZodString>;
  readonly next_cursor: z.ZodOptional<z.ZodString>;
}

/** Where a list goes on, as fields of a page. */
export const CURSOR_FIELDS: CursorFields = {
  cursor: z.string().describe("Goes into `cursor` of the next request; absent on the last page").optional(),
  next_cursor: z
    .string()
    .meta({ deprecated: true, description: "Deprecated, and gone with the next release: use `cursor`" })
    .optional(),
};
