import { filterInSlices } from "../in-slices.ts";
import type { UserState } from "../user-state.ts";
import type { ErasureSelection } from "./select.ts";

/** After so many that are only looked at, others have their turn: about every two milliseconds. */
const MERGED_SLICE = 2000;

/** What was merged into a memory says the same as it does, and goes with it. */
export async function addMerged(state: UserState, selection: ErasureSelection): Promise<ErasureSelection> {
  const all = new Set(selection.memories);
  const ids = new Set([...all].map(({ id }) => id));
  const merged = await filterInSlices(
    state.memories.values(),
    ({ archived, supersededBy }) => archived === true && supersededBy !== undefined,
    MERGED_SLICE,
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
