import type { Memory } from "../../domain/memory.ts";
import type { SearchIndex } from "../block/block.ts";
import { addMemoryRow, createMemoryTable, putMemory } from "../block/memories.ts";

/** The memories as they were known at a time (ISO 8601): of each, the newest version stored by then. */
export function selectKnownAt(versions: readonly Memory[], at: string): ReadonlyMap<string, Memory> {
  const known = new Map<string, Memory>();
  for (const memory of versions) {
    const held = known.get(memory.id);
    if (memory.storedAt <= at && (!held || held.version < memory.version)) known.set(memory.id, memory);
  }
  return known;
}

/** The block with its memories as they were known; those that were not known yet count as stored after all time. */
export function toIndexAsKnown(block: SearchIndex, known: ReadonlyMap<string, Memory>): SearchIndex {
  const memories = createMemoryTable();
  const sources = new Int32Array(block.turns.columns.sources.length).fill(-1);
  const turns = { ...block.turns, columns: { ...block.turns.columns, sources } };
  for (const id of block.memoryIds.all()) {
    const row = addMemoryRow(memories);
    const memory = known.get(id);
    if (memory) putMemory(memories, row, memory, { names: block.names, turns });
    else memories.columns.storedAt[row] = Number.POSITIVE_INFINITY;
  }
  return Object.create(block, {
    memories: { value: memories },
    turns: { value: turns },
  }) as SearchIndex;
}
