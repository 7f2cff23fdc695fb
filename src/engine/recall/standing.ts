import type { Unit } from "../../domain/change-set.ts";
import type { Memory, Status } from "../../domain/memory.ts";
import type { Bounds } from "./bounds.ts";

/** What a memory was, or is, at the time that the recall asks about. */
export function statusOf(memory: Memory, bounds: Pick<Bounds, "now" | "asOf" | "knownAt">): Status {
  if (memory.status === "retracted") return "retracted";
  const at = bounds.asOf ?? bounds.knownAt ?? bounds.now;
  if (memory.validTo !== undefined && memory.validTo <= at) return "superseded";
  return bounds.asOf !== undefined && memory.validTo !== undefined ? "current" : memory.status;
}

/** The memories that a message is a source of: message id -> ids of memories. */
export type Said = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * What a passage has to say now: where every memory read from it has ended, so has the passage. One that nothing was
 * read from speaks for the time at which it was said, and is current.
 */
export function passageStatus(
  passage: Unit,
  said: Said,
  memoryOf: (id: string) => Memory | undefined,
  bounds: Pick<Bounds, "now" | "asOf" | "knownAt">,
): Status {
  let ended: Status | undefined;
  for (const id of said.get(passage.owner) ?? []) {
    const memory = memoryOf(id);
    if (!memory || memory.quarantined || !isGround(memory, passage)) continue;
    const status = statusOf(memory, bounds);
    if (status === "current") return "current";
    if (ended !== "superseded") ended = status;
  }
  return ended ?? "current";
}

/** Whether the memory was read from this passage; the words that ended a memory are no ground of it. */
function isGround(memory: Memory, passage: Unit): boolean {
  const { sources } = memory;
  const isEndedByWords =
    memory.status !== "current" && memory.supersededBy === undefined && sources.length > 1;
  const grounds = isEndedByWords ? sources.slice(0, -1) : sources;
  return grounds.some(
    ({ message, start, end }) => message === passage.owner && start < passage.end && end > passage.start,
  );
}
