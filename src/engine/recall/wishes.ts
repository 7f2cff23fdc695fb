import { KINDS } from "../../domain/memory.ts";
import type { Block } from "../block/block.ts";

const PREFERENCE = KINDS.indexOf("preference");
const INSTRUCTION = KINDS.indexOf("instruction");
const CURRENT = 0;

/**
 * Above this share of the embedder's floor, a preference has to do with a request for advice: "I prefer hostels" lies
 * nearer to "Where should I stay?" than other preferences do, but far below what two statements of one thing share. Of
 * 15 preferences and 15 requests, 6 in 10 of those that belong together pass among a few memories, and 1 in 8 of the others.
 */
const NEAR_ENOUGH = 0.3;

/**
 * How sure it is that what the user prefers has to do with a request for advice, by slot: 0 to 1, from its cosine with
 * the request. 0 for all that is no preference or instruction in force.
 */
export function wishEvidence(block: Block, near: Float32Array, floor: number): (slot: number) => number {
  const { row } = block.units.columns;
  const { kind, status } = block.memories.columns;
  const least = NEAR_ENOUGH * floor;
  return (slot) => {
    const memory = row[slot] as number;
    if (memory < 0 || status[memory] !== CURRENT) return 0;
    if (kind[memory] !== PREFERENCE && kind[memory] !== INSTRUCTION) return 0;
    return Math.max(0, ((near[slot] as number) - least) / (1 - floor));
  };
}
