import { MEMORY_KINDS, type Status } from "../../domain/memory.ts";
import type { SearchIndex } from "../block/block.ts";
import { MEMORY_FLAGS, STATUSES } from "../block/memories.ts";
import type { IndexFilters } from "./bounds.ts";

const EVENT_KIND = MEMORY_KINDS.indexOf("event");

type StatusTimes = Pick<IndexFilters, "now" | "asOf" | "knownAt">;

/** What a unit has to say now, or at the time that the recall asks about. */
export function statusOfUnit(block: SearchIndex, slot: number, times: StatusTimes): Status {
  const row = block.units.columns.row[slot] as number;
  return row >= 0 ? statusOfMemory(block, row, times) : statusOfPassage(block, slot, times);
}

/** What a memory was, or is, at that time. */
function statusOfMemory({ memories }: SearchIndex, row: number, { now, asOf, knownAt }: StatusTimes): Status {
  const { columns } = memories;
  const status = STATUSES[columns.status[row] as number] as Status;
  if (status === "retracted") return "retracted";
  const to = columns.validTo[row] as number;
  // What happened stays so: that it lasted until then makes it no less true.
  if (status === "current" && columns.kind[row] === EVENT_KIND) return status;
  if (to <= (asOf ?? knownAt ?? now)) return "superseded";
  // What was ended at once is over whatever the clock says now: it may have run back since, or be another server's.
  const isOverNow = (asOf ?? knownAt) === undefined && status === "superseded";
  if (isOverNow && to <= (columns.storedAt[row] as number)) return "superseded";
  // What ends later still holds, whatever has been said of the time after it.
  return Number.isNaN(to) ? status : "current";
}

/**
 * What a passage has to say: where every memory read from it has ended, so has the passage. One that nothing was read
 * from speaks for the time at which it was said, and is current.
 */
function statusOfPassage(block: SearchIndex, slot: number, times: StatusTimes): Status {
  const { memories, turns, units } = block;
  const { row, nextOfTurn } = memories.sources;
  const turn = units.columns.turn[slot] as number;
  let ended: Status | undefined;
  for (let place = turns.columns.sources[turn] as number; place >= 0; place = nextOfTurn[place] as number) {
    const memory = row[place] as number;
    if (memory < 0 || !isGround(block, slot, place)) continue;
    // Of what was merged or put aside, another memory or nobody speaks: the words stand as they did.
    if (
      ((memories.columns.flags[memory] as number) & (MEMORY_FLAGS.quarantined | MEMORY_FLAGS.archived)) !==
      0
    )
      continue;
    const status = statusOfMemory(block, memory, times);
    if (status === "current") return "current";
    if (ended !== "superseded") ended = status;
  }
  return ended ?? "current";
}

/** Whether a source is ground of its memory within the passage; the words that ended a memory are no ground of it. */
function isGround({ memories, units }: SearchIndex, slot: number, place: number): boolean {
  const { sources, columns } = memories;
  const row = sources.row[place] as number;
  const isLast = columns.sources[row] === place;
  const isOnly = (sources.nextOfRow[columns.sources[row] as number] as number) < 0;
  const isSucceeded = ((columns.flags[row] as number) & MEMORY_FLAGS.succeeded) !== 0;
  if (columns.status[row] !== 0 && !isSucceeded && isLast && !isOnly) return false;
  return (
    (sources.start[place] as number) < (units.columns.end[slot] as number) &&
    (sources.end[place] as number) > (units.columns.start[slot] as number)
  );
}
