import type { JobProgress } from "../../domain/operations/job.ts";
import { describeAttachments } from "../attachments/describe-attachments.ts";
import type { Ports } from "../ports.ts";
import type { Job, JobStep } from "./job.ts";
import { isVisitDue } from "./maintenance-job.ts";
import { toFailedProgress } from "./quarantine.ts";

const EVERY_MS = 60_000;
const USERS = 200;
const NAME = "describing";

/** Describes images and recordings user by user, where something has changed. The progress of each user is in the store. */
export function createDescribingJob(ports: Ports): Job {
  return {
    name: NAME,
    about: "describes images and transcribes recordings",
    everyMs: EVERY_MS,
    restFactor: 0,
    async *run(signal) {
      let done = 0;
      let after: string | undefined;
      do {
        const page = await ports.store.jobs.jobProgress(NAME, {
          limit: USERS,
          ...(after === undefined ? {} : { after }),
        });
        for (const user of page.users) {
          signal.throwIfAborted();
          done += await visitUser(ports, user, signal);
          yield { done } satisfies JobStep;
        }
        after = page.cursor;
      } while (after !== undefined);
    },
  };
}

type VisitedUser = Awaited<ReturnType<Ports["store"]["jobs"]["jobProgress"]>>["users"][number];

async function visitUser(
  ports: Ports,
  { scope, revision, visit }: VisitedUser,
  signal: AbortSignal,
): Promise<number> {
  const at = ports.clock().toISOString();
  if (!isVisitDue(revision, visit, at)) return 0;
  const { done, failure } = await describeAttachments(ports, scope, signal);
  // If another process wrote meanwhile, the user is visited again.
  const now = revision + done;
  const progress: JobProgress =
    failure === undefined
      ? { revision: now }
      : toFailedProgress(failure, { before: visit, revision: now, at });
  await ports.store.jobs.saveProgress(NAME, [{ scope, visit: progress }]);
  return done;
}
