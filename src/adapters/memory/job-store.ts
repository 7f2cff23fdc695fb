import { randomUUID } from "node:crypto";
import type { JobName, JobRun } from "../../domain/operations/job.ts";
import type { Scope } from "../../domain/scope.ts";
import type { JobStore, Leases } from "../../ports/stores/job-store.ts";
import type { MemoryUser } from "./user-data.ts";

/** The job state of all users of a store. `read` gives a user, or an empty one. */
export function createMemoryJobStore(
  users: ReadonlyMap<string, MemoryUser>,
  read: (scope: Scope) => MemoryUser,
  notes: Map<string, JobRun>,
): JobStore {
  return {
    ...createMemoryLeases(),

    async usersWithPendingMessages(storedBefore, limit) {
      return [...users.values()]
        .map(({ scope, messages }) => ({
          scope: { ...scope },
          messages: [...messages.values()].filter(
            ({ value }) => value.digest === "pending" && !value.undone && value.storedAt < storedBefore,
          ).length,
        }))
        .filter(({ messages }) => messages > 0)
        .slice(0, limit);
    },

    async jobProgress(job, { after = "0", limit }) {
      const allUsers = [...users.values()];
      const page = allUsers.slice(Number(after), Number(after) + limit).map(({ scope, revision, visits }) => {
        const visit = visits.get(job);
        return { scope: { ...scope }, revision, ...(visit ? { visit: { ...visit } } : {}) };
      });
      const end = Number(after) + page.length;
      return { users: page, ...(end < allUsers.length ? { cursor: String(end) } : {}) };
    },

    async userProgress(job, scope) {
      return structuredClone(read(scope).visits.get(job));
    },

    async saveProgress(job, visits) {
      for (const { scope, visit } of visits) {
        const user = read(scope);
        if (user.revision > 0) user.visits.set(job, { ...visit });
      }
    },

    async failedProgress({ attempts, limit }) {
      const failed = [...users.values()].flatMap(({ scope, revision, visits }) =>
        [...visits]
          .filter(([, visit]) => (visit.failed?.attempts ?? 0) >= Math.max(1, attempts))
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([job, visit]) => ({ scope, job: job as JobName, revision, visit })),
      );
      const time = ({ visit }: (typeof failed)[number]): string => visit.failed?.at ?? "";
      // The sort is stable: at the same time, the first user comes first.
      failed.sort((one, other) => (time(one) === time(other) ? 0 : time(one) > time(other) ? -1 : 1));
      return structuredClone(failed.slice(0, limit));
    },

    async currentMemories(scope, { after, limit }) {
      const { heads, revision } = read(scope);
      const ids = [...heads.keys()];
      const from = after === undefined ? 0 : ids.indexOf(after) + 1;
      if (from === 0 && after !== undefined) return { revision, memories: [], more: false };
      const rest = [...heads.values()]
        .slice(from)
        .map(({ value }) => value)
        .filter(({ status }) => status === "current");
      return structuredClone({ revision, memories: rest.slice(0, limit), more: rest.length > limit });
    },

    async findRecalled(scope, memories) {
      const recalledIds = new Set(
        [...read(scope).recalls.values()].flatMap(({ items }) => items.map(({ id }) => id)),
      );
      return [...new Set(memories)].filter((id) => recalledIds.has(id));
    },

    async jobRuns() {
      return structuredClone([...notes.values()]);
    },

    async saveJobRun(note) {
      notes.set(note.name, structuredClone(note));
    },
  };
}

interface MemoryLease {
  /** Absent during a rest period. */
  readonly token?: string;
  /** ms since 1970. */
  readonly until: number;
}

/** Leases by the clock of this machine, because all users of this store share its process. */
function createMemoryLeases(): Leases {
  const leases = new Map<string, MemoryLease>();
  const isHeldBy = (name: string, token: string): boolean => {
    const lease = leases.get(name);
    return lease?.token === token && lease.until > Date.now();
  };
  return {
    async takeLease(name, { forMs, isUrgent = false }) {
      const now = Date.now();
      const before = leases.get(name);
      if (before && before.until > now && !(isUrgent && before.token === undefined)) {
        const refused = before.token === undefined ? "resting" : "held";
        return { refused, waitMs: before.until - now };
      }
      const token = randomUUID();
      leases.set(name, { token, until: now + forMs });
      return { token };
    },

    async renewLease(name, token, forMs) {
      if (!isHeldBy(name, token)) return false;
      leases.set(name, { token, until: Date.now() + forMs });
      return true;
    },

    async releaseLease(name, token, restMs = 0) {
      if (!isHeldBy(name, token)) return false;
      if (restMs > 0) leases.set(name, { until: Date.now() + restMs });
      else leases.delete(name);
      return true;
    },
  };
}
