import { tryStore } from "../beside/troubles.ts";
import { dropExpiredAnswers } from "../kept-answers.ts";
import type { Ports } from "../ports.ts";
import type { Job } from "./job.ts";

const HOUR_MS = 3_600_000;

/**
 * Lets go of what is kept beside the record for a time alone: calls to models, answers under idempotency keys, and sessions that
 * are over. What the
 * record's own storage needs is done with it.
 */
export function createTidyingJob(
  ports: Pick<Ports, "costs" | "record" | "clock" | "sessions" | "meter">,
): Job {
  return {
    name: "tidying",
    about: "lets go of calls to models and of answers that have been kept for long enough",
    everyMs: HOUR_MS,
    restFactor: 9,
    async *run() {
      const done = ((await ports.costs?.cleanUp()) ?? 0) + (await dropExpiredAnswers(ports));
      // Nobody waits for it, and nobody misses it: what is over is not read, and most of it goes by itself.
      await tryStore(ports, "sessions", async () => ports.sessions?.cleanUp());
      const tidied = (await ports.record.tidy?.()) ?? 0;
      if (done + tidied > 0) yield { done: done + tidied };
    },
  };
}
