import { MEMORY_KINDS } from "../../domain/memory.ts";
import type { SearchIndex } from "../block/block.ts";

const PREFERENCE_KIND = MEMORY_KINDS.indexOf("preference");
const INSTRUCTION_KIND = MEMORY_KINDS.indexOf("instruction");
const CURRENT_STATUS = 0;

/**
 * Above this share of the embedder's floor, a preference has to do with a request for advice: "I prefer hostels" lies
 * nearer to "Where should I stay?" than other preferences do, but far below what two statements of one thing share. Of
 * 15 preferences and 15 requests, 6 in 10 of those that belong together pass among a few memories, and 1 in 8 of the others.
 */
const MIN_FLOOR_SHARE = 0.3;

/**
 * How sure it is that what the user prefers has to do with a request for advice, by slot: 0 to 1, from its cosine with
 * the request. 0 for all that is no preference or instruction in force.
 */
export function createWishEvidence(
  block: SearchIndex,
  near: Float32Array,
  floor: number,
): (slot: number) => number {
  const { row } = block.units.columns;
  const { kind, status } = block.memories.columns;
  const least = MIN_FLOOR_SHARE * floor;
  return (slot) => {
    const memory = row[slot] as number;
    if (memory < 0 || status[memory] !== CURRENT_STATUS) return 0;
    if (kind[memory] !== PREFERENCE_KIND && kind[memory] !== INSTRUCTION_KIND) return 0;
    return Math.max(0, ((near[slot] as number) - least) / (1 - floor));
  };
}
