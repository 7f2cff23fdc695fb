import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/record.ts";

/** The same record, which tells of each commit of this process once it is durable. */
export function notifyOnCommit(record: MemoryStore, written: (scope: Scope) => void): MemoryStore {
  return {
    ...record,
    async commit(scope, changes) {
      const revision = await record.commit(scope, changes);
      written(scope);
      return revision;
    },
  };
}
