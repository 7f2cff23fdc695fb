import * as z from "zod";
import { JOB_NAMES } from "../../domain/job.ts";
import { timeSchema, wholeNumberSchema, withSchemaId } from "./named.ts";

const JOB_NAME_SCHEMA = withSchemaId(
  "JobName",
  z.union([z.enum(JOB_NAMES), z.string().regex(/^following .+$/)]),
);

export const JOB_LIST_SCHEMA: z.ZodType = z.object({
  items: z.array(
    withSchemaId(
      "Job",
      z.object({
        name: JOB_NAME_SCHEMA,
        about: z.string(),
        state: z
          .enum(["running", "failing", "scheduled", "idle"])
          .describe("`failing`: it broke off and tries again; `idle`: it runs when there is something to do"),
        last_run: timeSchema.optional(),
        took_ms: wholeNumberSchema.optional(),
        next_run: timeSchema.optional(),
        done: wholeNumberSchema.describe("Pieces of work in this run, or in the last one"),
        left: wholeNumberSchema.describe("What waits, where that is known").optional(),
        found: wholeNumberSchema.describe("What it found and leaves to people to decide").optional(),
        problem: z.string().describe("Why it broke off last").optional(),
        attempts: wholeNumberSchema.describe("Runs that broke off, one after the other"),
        set_aside: wholeNumberSchema
          .describe("Users with whom it failed too often, who are left out")
          .optional(),
      }),
    ),
  ),
});

export const OPTIMIZE_RESULT_SCHEMA: z.ZodType = withSchemaId(
  "Optimized",
  z.object({
    dry_run: z.boolean(),
    revision: wholeNumberSchema.describe("The user's revision after it"),
    jobs: z.array(
      z.object({
        name: JOB_NAME_SCHEMA,
        revisions: z.array(wholeNumberSchema).describe("What it made; `undo` takes each back").optional(),
        memories: z.array(
          z.object({
            id: z.string(),
            action: z
              .enum(["expired", "merged", "archived", "faded"])
              .describe("`faded` stays as it is, and ranks lower by its age alone"),
            text: z.string(),
            by: z.string().describe("The memory that it was merged into").optional(),
            why: z.string(),
          }),
        ),
      }),
    ),
  }),
);
