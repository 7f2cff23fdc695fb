import type { Memory } from "../../domain/memory.ts";

/** How a memory stands at the time that is asked about. */
export interface HeldMemory {
  readonly memory: Memory;
  /** True at that time; else it was so before. */
  readonly holds: boolean;
}

/**
 * The memories that can speak at a time (ISO 8601), and whether they hold then. `asOf` reads the validity; without
 * it, what is current now holds. What was never true, is held back or has expired is left out.
 */
export function heldAt(memories: Iterable<Memory>, now: string, asOf: string | undefined): HeldMemory[] {
  const held: HeldMemory[] = [];
  for (const memory of memories) {
    if (memory.status === "retracted" || memory.quarantined) continue;
    if (memory.expiresAt !== undefined && memory.expiresAt <= (asOf ?? now)) continue;
    const from = memory.validFrom ?? memory.at;
    if (asOf !== undefined && from > asOf && !(memory.kind === "event" && memory.at <= asOf)) continue;
    held.push({ memory, holds: asOf === undefined ? holdsNow(memory, now) : holdsThen(memory, asOf) });
  }
  return held;
}

function holdsNow(memory: Memory, now: string): boolean {
  if (memory.status !== "current") return false;
  return memory.validTo === undefined || memory.validTo > now;
}

function holdsThen(memory: Memory, at: string): boolean {
  if (memory.status === "superseded" && memory.validTo === undefined) return false;
  return memory.validTo === undefined || memory.validTo > at;
}
