import { MemoryError } from "../../errors.ts";
import type { Indexes } from "../vector-indexes.ts";
import type { IndexSync } from "./index.ts";

/** The indexes of a memory as its caller sees them; `check` refuses where the memory is closed. */
export function createIndexes(follow: IndexSync | undefined, check: () => void): Indexes {
  const theirs = (name: string): IndexSync => {
    check();
    if (follow) return follow;
    throw new MemoryError(
      "not_found",
      `no index is called "${name}": this memory has none. Name one in KEEPSAKE_FOLLOWER.`,
    );
  };
  return {
    names: follow?.names ?? [],
    rebuild: (name, { signal } = {}) => theirs(name).rebuild(name, signal),
    drift: async (name, options) => theirs(name).repairInconsistencies(name, options),
  };
}
