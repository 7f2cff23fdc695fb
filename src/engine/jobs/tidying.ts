import type { Ports } from "../ports.ts";
import type { Job } from "./job.ts";

const DAY_MS = 86_400_000;

/** Lets go of what is kept beside the record for a time alone: calls to models. */
export function tidying({ costs }: Pick<Ports, "costs">): Job {
  return {
    name: "tidying",
    about: "lets go of calls to models that have been kept for long enough",
    everyMs: DAY_MS,
    rest: 9,
    async *run() {
      const done = (await costs?.cleanUp()) ?? 0;
      if (done > 0) yield { done };
    },
  };
}
