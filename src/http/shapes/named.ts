import * as z from "zod";

/** A shape that the document names once, and refers to everywhere else. */
export function named<Shape extends z.ZodType>(id: string, schema: Shape): Shape {
  return schema.meta({ id });
}

/** A time in ISO 8601 with its zone, as it stands in answers. */
export const time: z.ZodString = z.string().describe("ISO 8601");
/** What the caller gave, by the caller's own names. */
export const anyFields: z.ZodType = z.record(z.string(), z.unknown());
export const whole: z.ZodInt = z.int().min(0);
