import * as z from "zod";
import type { Claim, Kind } from "../domain/memory.ts";
import { KINDS } from "../domain/memory.ts";
import { given } from "./wire.ts";

/** May be left out, or null, as clients in other languages send it. */
export function maybe<Shape extends z.ZodType>(schema: Shape): z.ZodType<z.output<Shape> | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A text or a name. What it may hold is checked where it is stored, the same for every surface. */
export const text: z.ZodString = z.string();
export const kind: z.ZodType<Kind> = z.enum(KINDS);
export const share: z.ZodNumber = z.number().min(0).max(1);
/** How many things to give. */
export const count: z.ZodInt = z.int().min(1).max(1000);
/** As `count`, from behind the "?" of an address, where everything is text. */
export const countText: z.ZodType<number> = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number)
  .pipe(count);
/** Flat values by name; what they may hold is checked where they are stored. */
export const metadata: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown());

export const claim: z.ZodType<Claim> = z
  .strictObject({ subject: text, relation: text, value: text, qualifier: maybe(text) })
  .transform((fields) => given(fields));
