import type { ChangeSet, LogEntry } from "../../domain/change-set.ts";

/** What a change-set did, by id alone: the entry that a record logs for it. */
export function createLogEntry(
  revision: number,
  { at, cause, undoes, messages, memories, erase: erasure }: ChangeSet,
): LogEntry {
  return {
    revision,
    at,
    cause,
    ...(undoes === undefined ? {} : { undoes }),
    messages: (messages ?? []).map(({ id }) => id),
    memories: (memories ?? []).map(({ id, version, action }) => ({ id, version, action })),
    erased: erasure ? [...erasure.messages.map(({ id }) => id), ...erasure.memories] : [],
  };
}
