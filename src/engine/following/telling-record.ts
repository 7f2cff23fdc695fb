import type { Scope } from "../../domain/scope.ts";
import type { Record } from "../../ports/record.ts";

/** The same record, which tells of each commit of this process once it is durable. */
export function tellingRecord(record: Record, written: (scope: Scope) => void): Record {
  return {
    ...record,
    async commit(scope, changes) {
      const revision = await record.commit(scope, changes);
      written(scope);
      return revision;
    },
  };
}
