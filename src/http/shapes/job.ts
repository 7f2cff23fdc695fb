import * as z from "zod";
import { JOBS } from "../../domain/job.ts";
import { named, time, whole } from "./named.ts";

const NAME = named("JobName", z.union([z.enum(JOBS), z.string().regex(/^following .+$/)]));

export const JOB_LIST: z.ZodType = z.object({
  items: z.array(
    named(
      "Job",
      z.object({
        name: NAME,
        about: z.string(),
        state: z
          .enum(["running", "failing", "scheduled", "idle"])
          .describe("`failing`: it broke off and tries again; `idle`: it runs when there is something to do"),
        last_run: time.optional(),
        took_ms: whole.optional(),
        next_run: time.optional(),
        done: whole.describe("Pieces of work in this run, or in the last one"),
        left: whole.describe("What waits, where that is known").optional(),
        found: whole.describe("What it found and leaves to people to decide").optional(),
        problem: z.string().describe("Why it broke off last").optional(),
        attempts: whole.describe("Runs that broke off, one after the other"),
        set_aside: whole.describe("Users with whom it failed too often, who are left out").optional(),
      }),
    ),
  ),
});

export const OPTIMIZED: z.ZodType = named(
  "Optimized",
  z.object({
    dry_run: z.boolean(),
    revision: whole.describe("The user's revision after it"),
    jobs: z.array(
      z.object({
        name: NAME,
        revisions: z.array(whole).describe("What it made; `undo` takes each back").optional(),
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
