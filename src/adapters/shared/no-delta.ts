import type { Delta } from "../../ports/record.ts";

/** What is read of somebody who has nothing. */
export function createEmptyDelta(): Delta {
  return {
    revision: 0,
    messages: [],
    memories: [],
    units: [],
    gone: { units: [], memories: [] },
    tombstones: [],
    links: [],
  };
}
