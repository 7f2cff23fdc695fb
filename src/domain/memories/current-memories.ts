import type { Memory } from "../memory.ts";

/** A memory, and whether it is true at a given time. */
export interface MemoryAtTime {
  readonly memory: Memory;
  /** Whether it is true at that time; otherwise it was true before. */
  readonly holds: boolean;
  /** Set for a past event with an end ("used to live in Rome") that was going on at that time. */
  readonly isThen?: boolean;
}

/**
 * The memories that can be used at a time (ISO 8601), and whether each is true then. `asOf` asks about validity at that
 * time; without it, a memory is true if it is true now. Retracted, quarantined and expired memories are left out.
 */
export function selectMemoriesAt(
  memories: Iterable<Memory>,
  now: string,
  asOf: string | undefined,
): MemoryAtTime[] {
  const selected: MemoryAtTime[] = [];
  for (const memory of memories) {
    if (memory.status === "retracted" || memory.quarantined) continue;
    if (memory.expiresAt !== undefined && memory.expiresAt <= (asOf ?? now)) continue;
    if (
      asOf !== undefined &&
      getValidityStart(memory) > asOf &&
      !(memory.kind === "event" && memory.at <= asOf)
    )
      continue;
    selected.push(
      asOf === undefined ? { memory, holds: isTrueAt(memory, now) } : toMemoryAtTime(memory, asOf),
    );
  }
  return selected;
}

/** When a memory began to be true (ISO 8601); empty, which sorts before every time, if only its end is known. */
export function getValidityStart({ validFrom, validTo, at }: Memory): string {
  if (validFrom !== undefined) return validFrom;
  return validTo !== undefined && validTo <= at ? "" : at;
}

/** Whether a memory becomes true only after a time: "from Monday I work in Graz". */
export function isAboutLater({ kind, validFrom, at }: Memory, now: string): boolean {
  return (
    kind !== "event" && kind !== "commitment" && validFrom !== undefined && validFrom > now && validFrom > at
  );
}

/** An event that happened stays true, even if it has an end. */
function isPastEvent({ kind, status }: Memory): boolean {
  return kind === "event" && status === "current";
}

/** Whether a memory is true at a time (ISO 8601): current and not over, or ending later. */
export function isTrueAt(memory: Memory, now: string): boolean {
  if (isPastEvent(memory)) return true;
  if (memory.status === "retracted") return false;
  // What a later statement ended may end only then: "from Monday I work in Graz". One that ended it at once did so whatever
  // the clock says now: it may have run back since, or be another server's.
  if (memory.status === "superseded") {
    return memory.validTo !== undefined && memory.validTo > now && memory.validTo > memory.storedAt;
  }
  return memory.validTo === undefined || memory.validTo > now;
}

function toMemoryAtTime(memory: Memory, asOf: string): MemoryAtTime {
  const isWithin =
    getValidityStart(memory) <= asOf && (memory.validTo === undefined || memory.validTo > asOf);
  const isOpen = memory.status === "superseded" && memory.validTo === undefined;
  return {
    memory,
    holds: isPastEvent(memory) || (isWithin && !isOpen),
    ...(memory.kind === "event" && memory.validTo !== undefined && isWithin ? { isThen: true } : {}),
  };
}
