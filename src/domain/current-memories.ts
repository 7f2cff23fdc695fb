import type { Memory } from "./memory.ts";

/** How a memory stands at the time that is asked about. */
export interface HeldMemory {
  readonly memory: Memory;
  /** True at that time; else it was so before. */
  readonly holds: boolean;
  /** What is told of the past ("used to live in Rome"), and was so at that very time. */
  readonly isThen?: boolean;
}

/**
 * The memories that can speak at a time (ISO 8601), and whether they hold then. `asOf` reads the validity; without
 * it, what is true now holds. What was never true, is held back or has expired is left out.
 */
export function heldAt(memories: Iterable<Memory>, now: string, asOf: string | undefined): HeldMemory[] {
  const held: HeldMemory[] = [];
  for (const memory of memories) {
    if (memory.status === "retracted" || memory.quarantined) continue;
    if (memory.expiresAt !== undefined && memory.expiresAt <= (asOf ?? now)) continue;
    if (asOf !== undefined && beginOf(memory) > asOf && !(memory.kind === "event" && memory.at <= asOf))
      continue;
    held.push(asOf === undefined ? { memory, holds: holdsNow(memory, now) } : heldThen(memory, asOf));
  }
  return held;
}

/** From when on a memory was true (ISO 8601); the beginning of time where only its end is known. */
export function beginOf({ validFrom, validTo, at }: Memory): string {
  if (validFrom !== undefined) return validFrom;
  return validTo !== undefined && validTo <= at ? "" : at;
}

/** Whether a memory tells of what will only be so later than at a time: "from Monday I work in Graz". */
export function isAhead({ kind, validFrom, at }: Memory, now: string): boolean {
  return (
    kind !== "event" && kind !== "commitment" && validFrom !== undefined && validFrom > now && validFrom > at
  );
}

/** What happened stays so: that it lasted until then makes it no less true. */
function isTold({ kind, status }: Memory): boolean {
  return kind === "event" && status === "current";
}

/** Whether a memory is true at a time (ISO 8601): current and not over, or ending later. */
export function holdsNow(memory: Memory, now: string): boolean {
  if (isTold(memory)) return true;
  if (memory.status === "retracted") return false;
  // What a later statement ended may end only then: "from Monday I work in Graz". One that ended it at once did so whatever
  // the clock says now: it may have run back since, or be another server's.
  if (memory.status === "superseded") {
    return memory.validTo !== undefined && memory.validTo > now && memory.validTo > memory.storedAt;
  }
  return memory.validTo === undefined || memory.validTo > now;
}

function heldThen(memory: Memory, asOf: string): HeldMemory {
  const isWithin = beginOf(memory) <= asOf && (memory.validTo === undefined || memory.validTo > asOf);
  const isOpen = memory.status === "superseded" && memory.validTo === undefined;
  return {
    memory,
    holds: isTold(memory) || (isWithin && !isOpen),
    ...(memory.kind === "event" && memory.validTo !== undefined && isWithin ? { isThen: true } : {}),
  };
}
