import type { Memory } from "../../domain/memory.ts";
import type { Block } from "../block/block.ts";
import { addRow, noMemories, putMemory } from "../block/memories.ts";

/** The memories as they were known at a time (ISO 8601): of each, the newest version stored by then. */
export function knownThen(versions: readonly Memory[], at: string): ReadonlyMap<string, Memory> {
  const known = new Map<string, Memory>();
  for (const memory of versions) {
    const held = known.get(memory.id);
    if (memory.storedAt <= at && (!held || held.version < memory.version)) known.set(memory.id, memory);
  }
  return known;
}

/** The block with its memories as they were known; those that were not known yet count as stored after all time. */
export function blockThen(block: Block, known: ReadonlyMap<string, Memory>): Block {
  const memories = noMemories();
  const sources = new Int32Array(block.turns.columns.sources.length).fill(-1);
  const turns = { ...block.turns, columns: { ...block.turns.columns, sources } };
  for (const id of block.memoryIds.all()) {
    const row = addRow(memories);
    const memory = known.get(id);
    if (memory) putMemory(memories, row, memory, { names: block.names, turns });
    else memories.columns.storedAt[row] = Number.POSITIVE_INFINITY;
  }
  return Object.create(block, {
    memories: { value: memories },
    turns: { value: turns },
  }) as Block;
}
