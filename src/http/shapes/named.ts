import * as z from "zod";

/** A shape that the document names once, and refers to everywhere else. */
export function withSchemaId<Shape extends z.ZodType>(id: string, schema: Shape): Shape {
  return schema.meta({ id });
}

/** A time in ISO 8601 with its zone, as it stands in answers. */
export const timeSchema: z.ZodString = z.string().describe("ISO 8601");
/** What the caller gave, by the caller's own names. */
export const anyFieldsSchema: z.ZodType = z.record(z.string(), z.unknown());
export const wholeNumberSchema: z.ZodInt = z.int().min(0);
