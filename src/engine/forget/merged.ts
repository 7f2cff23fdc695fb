import type { UserState } from "../user-state.ts";
import type { Selection } from "./select.ts";

/** What was merged into a memory says the same as it does, and goes with it. */
export function withMerged(state: UserState, selection: Selection): Selection {
  const all = new Set(selection.memories);
  const ids = new Set([...all].map(({ id }) => id));
  const merged = [...state.memories.values()].filter(
    ({ archived, supersededBy }) => archived && supersededBy,
  );
  for (let before = -1; before !== all.size; ) {
    before = all.size;
    for (const memory of merged) {
      if (!ids.has(memory.supersededBy ?? "")) continue;
      all.add(memory);
      ids.add(memory.id);
    }
  }
  return all.size === selection.memories.size ? selection : { ...selection, memories: all };
}
