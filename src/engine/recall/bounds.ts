import type { Where } from "../../domain/filter.ts";
import { type Kind, MEMORY_KINDS } from "../../domain/memory.ts";
import type { SearchIndex } from "../block/block.ts";
import { MEMORY_FLAGS } from "../block/memories.ts";
import { TURN_FLAGS } from "../block/turns.ts";

/** What a recall may give at all. Times are ISO 8601. */
export interface RecallFilters {
  readonly now: string;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly kinds?: ReadonlySet<Kind>;
  readonly types?: ReadonlySet<"memory" | "passage">;
  readonly where?: Where;
}

/** The bounds in the numbers of a block: times in milliseconds; an unknown session or agent has a number that none has. */
export interface IndexFilters {
  readonly bounds: RecallFilters;
  readonly now: number;
  readonly asOf: number | undefined;
  readonly knownAt: number | undefined;
  readonly session: number | undefined;
  readonly agent: number | undefined;
  /** Whether the filter lets a unit through, by slot. */
  readonly passes: ((slot: number) => boolean) | undefined;
}

const UNKNOWN_NAME = -2;

export function toIndexFilters(
  { names }: SearchIndex,
  bounds: RecallFilters,
  passes: ((slot: number) => boolean) | undefined,
): IndexFilters {
  const time = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : Date.parse(text);
  const number = (name: string | undefined): number | undefined =>
    name === undefined ? undefined : (names.find(name) ?? UNKNOWN_NAME);
  return {
    bounds,
    now: Date.parse(bounds.now),
    asOf: time(bounds.asOf),
    knownAt: time(bounds.knownAt),
    session: number(bounds.session),
    agent: number(bounds.agent),
    passes,
  };
}

/** Why a unit may not be given, in words for a person; nothing where it may. */
export function findExclusion(block: SearchIndex, slot: number, limits: IndexFilters): string | undefined {
  const { row, piece } = block.units.columns;
  const memory = row[slot] as number;
  if (memory < 0 && (piece[slot] as number) < 0) return "gone";
  const why =
    memory >= 0 ? findMemoryExclusion(block, memory, limits) : findPassageExclusion(block, slot, limits);
  if (why) return why;
  return limits.passes && !limits.passes(slot) ? "the filter does not let it through" : undefined;
}

function findMemoryExclusion(block: SearchIndex, row: number, limits: IndexFilters): string | undefined {
  const { bounds, now, asOf, knownAt, session, agent } = limits;
  const { columns } = block.memories;
  if (bounds.types && !bounds.types.has("memory")) return "only passages were asked for";
  if (bounds.kinds && !bounds.kinds.has(MEMORY_KINDS[columns.kind[row] as number] as Kind))
    return "another kind was asked for";
  if (((columns.flags[row] as number) & MEMORY_FLAGS.quarantined) !== 0) return "quarantined";
  if ((columns.expiresAt[row] as number) <= now) return "expired";
  const from = columns.validFrom[row] as number;
  if (isAfter(Number.isNaN(from) ? beginOf(columns, row) : from, asOf)) return "not yet true then";
  if (isAfter(columns.storedAt[row] as number, knownAt)) return "not yet known then";
  if (agent !== undefined && columns.agent[row] !== agent) return "another agent's";
  if (session !== undefined && columns.session[row] !== session && !wasSaidIn(block, row, session))
    return "another session";
  return undefined;
}

/** Of what was over when it was told, the beginning is open. */
function beginOf({ validTo, at }: SearchIndex["memories"]["columns"], row: number): number {
  const told = at[row] as number;
  return (validTo[row] as number) <= told ? Number.NEGATIVE_INFINITY : told;
}

function wasSaidIn({ memories, turns }: SearchIndex, row: number, session: number): boolean {
  const { sources } = memories;
  for (
    let place = memories.columns.sources[row] as number;
    place >= 0;
    place = sources.nextOfRow[place] as number
  ) {
    if (turns.columns.sessionId[sources.turn[place] as number] === session) return true;
  }
  return false;
}

function findPassageExclusion(
  { units, turns }: SearchIndex,
  slot: number,
  limits: IndexFilters,
): string | undefined {
  const { bounds, asOf, knownAt, session, agent } = limits;
  const turn = units.columns.turn[slot] as number;
  const { columns } = turns;
  if (bounds.types && !bounds.types.has("passage")) return "only memories were asked for";
  if (bounds.kinds) return "another kind was asked for";
  if (((columns.flags[turn] as number) & TURN_FLAGS.undone) !== 0) return "undone";
  if (isAfter(columns.at[turn] as number, asOf)) return "not yet said then";
  if (isAfter(columns.storedAt[turn] as number, knownAt)) return "not yet known then";
  if (agent !== undefined && columns.agent[turn] !== agent) return "another agent's";
  if (session !== undefined && columns.sessionId[turn] !== session) return "another session";
  return undefined;
}

function isAfter(time: number, bound: number | undefined): boolean {
  return bound !== undefined && time > bound;
}
