import { dropOldAnswers } from "../kept-answers.ts";
import type { Ports } from "../ports.ts";
import type { Job } from "./job.ts";

const HOUR_MS = 3_600_000;

/**
 * Lets go of what is kept beside the record for a time alone: calls to models, and answers under idempotency keys. What the
 * record's own storage needs is done with it.
 */
export function tidying(ports: Pick<Ports, "costs" | "record" | "clock">): Job {
  return {
    name: "tidying",
    about: "lets go of calls to models and of answers that have been kept for long enough",
    everyMs: HOUR_MS,
    rest: 9,
    async *run() {
      const done = ((await ports.costs?.cleanUp()) ?? 0) + (await dropOldAnswers(ports));
      const tidied = (await ports.record.tidy?.()) ?? 0;
      if (done + tidied > 0) yield { done: done + tidied };
    },
  };
}
