import type { JobName, Visit } from "../../domain/job.ts";
import { checkCount } from "../../domain/limits.ts";
import { scopeKey } from "../../domain/scope.ts";
import type { FailedVisit } from "../../ports/house-keeping.ts";
import { MOST_ATTEMPTS } from "../../ports/queue.ts";
import type { Ports } from "../ports.ts";
import type { JobState, Keepsake, WorkSetAside } from "../surface.ts";

type SetAsidePorts = Pick<Ports, "record" | "queue" | "secret">;

/** So many are looked through for one that is to run again. */
const MOST = 10_000;
const SHOWN = 100;

/** What can be done about work that failed too often. */
export function workSetAside(
  ports: SetAsidePorts,
  work: { readonly again: (job: JobName) => void },
  check: () => void,
): Pick<Keepsake, "setAside" | "again"> {
  return {
    async setAside({ limit = SHOWN } = {}) {
      check();
      return shown(ports, checkCount(limit, "limit", 1, MOST));
    },
    async again(id) {
      check();
      const job = await letAgain(ports, id);
      if (job !== undefined) work.again(job);
      return job !== undefined;
    },
  };
}

/** How it stands with each job, and with how many users it fails. */
export async function withSetAside(
  { record }: Pick<Ports, "record">,
  states: readonly JobState[],
): Promise<JobState[]> {
  const failed = await record.failedVisits({ attempts: MOST_ATTEMPTS, limit: MOST });
  return states.map((state) => {
    const setAside = failed.filter(({ job }) => job === state.name).length;
    return setAside === 0 ? state : { ...state, setAside };
  });
}

/** Work that failed too often, the last first: users with whom a job fails, and whole runs that a queue has given up. */
async function shown(ports: SetAsidePorts, limit: number): Promise<WorkSetAside[]> {
  const failed = await ports.record.failedVisits({ attempts: MOST_ATTEMPTS, limit });
  // What the queue knows cannot be asked while its server is gone; what the record knows can.
  const runs = (await ports.queue?.setAside(limit).catch(() => [])) ?? [];
  const users = failed.flatMap((one) => {
    const { failed: failure } = one.visit;
    if (!failure) return [];
    const { project, user } = one.scope;
    return { id: idOf(ports, one), job: one.job, project, user, ...failure };
  });
  return [...users, ...runs].toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, limit);
}

/** Lets one run again. Which job it is of; nothing where none has this id. */
async function letAgain(ports: SetAsidePorts, id: string): Promise<JobName | undefined> {
  const failed = await ports.record.failedVisits({ attempts: MOST_ATTEMPTS, limit: MOST });
  const found = failed.find((one) => idOf(ports, one) === id);
  if (!found) {
    const runs = (await ports.queue?.setAside(MOST)) ?? [];
    const run = runs.find((one) => one.id === id);
    return run && (await ports.queue?.again(id)) ? run.job : undefined;
  }
  // As after a revision that is none: it is due whatever was seen.
  const visit: Visit = { revision: 0 };
  await ports.record.noteVisits(found.job, [{ scope: found.scope, visit }]);
  return found.job;
}

/** The same in every process, and nothing that can be read. */
function idOf({ secret }: Pick<Ports, "secret">, { job, scope }: FailedVisit): string {
  return `${job}.${secret.sign(`set aside ${job} ${scopeKey(scope)}`).slice(0, 16)}`;
}
