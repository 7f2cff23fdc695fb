import { compileTextFilter, type WhereText } from "../../domain/filters/text-filter.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { splitPassages } from "../../domain/text/split-text.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { Ports } from "../ports.ts";
import { type SearchIndex, slotOfUnit } from "../search-index/search-index.ts";
import type { UserState } from "../user-state/user-state.ts";
import { MAX_CANDIDATES } from "./retrievers/top-k.ts";

/** Texts tested between two yields. */
const MATCH_SLICE = 20;

/**
 * The ids of the units whose text matches a filter: the memories as known then if `known` is given, and the passages.
 * The store's texts alone decide, so every store and index gives the same. Throws `invalid_input` for a wrong filter.
 */
export async function findMatchingUnits(
  ports: Pick<Ports, "states">,
  scope: Scope,
  where: WhereText,
  known?: ReadonlyMap<string, Memory>,
): Promise<ReadonlySet<string>> {
  return selectMatchingUnits(await ports.states.of(scope), where, known);
}

/** The same, from texts that are there. */
export async function selectMatchingUnits(
  { messages, memories }: Pick<UserState, "messages" | "memories">,
  where: WhereText,
  known?: ReadonlyMap<string, Memory>,
): Promise<ReadonlySet<string>> {
  const matches = await compileTextFilter(where);
  const matching = new Set<string>();
  await forEachInSlices(
    (known ?? memories).values(),
    ({ id, text }) => void (matches(text) && matching.add(id)),
    MATCH_SLICE,
  );
  await forEachInSlices(
    messages.values(),
    (message) => {
      for (const { id, start, end } of splitPassages(message)) {
        if (matches(message.content.slice(start, end))) matching.add(id);
      }
    },
    MATCH_SLICE,
  );
  return matching;
}

/**
 * The slots of the matching units in rising order, to score these alone; undefined if there are too many, or if all
 * units are scored anyway. In a large memory, most of them would otherwise not be among the candidates.
 */
export function findMatchingSlots(
  searchIndex: SearchIndex,
  matching: ReadonlySet<string>,
): Int32Array | undefined {
  const isSmall = searchIndex.units.count <= MAX_CANDIDATES;
  if (isSmall || matching.size > MAX_CANDIDATES) return undefined;
  const slots: number[] = [];
  for (const id of matching) {
    const slot = slotOfUnit(searchIndex, id);
    if (slot !== undefined && slot >= 0) slots.push(slot);
  }
  return Int32Array.from(slots).sort();
}
