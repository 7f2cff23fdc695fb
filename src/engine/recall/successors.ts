import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/record.ts";
import { type SearchIndex, slotOfMemory } from "../block/block.ts";
import { findExclusion, type IndexFilters } from "./bounds.ts";
import type { RankedUnit } from "./rank.ts";
import { statusOfUnit } from "./standing.ts";

interface SuccessorInput {
  readonly block: SearchIndex;
  readonly filters: IndexFilters;
  readonly limit: number;
  /** Stand for the record's, where another time is asked about or everything is held. */
  readonly memories: ReadonlyMap<string, Memory> | undefined;
}

/**
 * What was chosen, and in front of each memory that has ended the one that took its place: it may say the same in other
 * words than the query's. A second look into the record only where something has ended.
 */
export async function insertSuccessors(
  record: Pick<MemoryStore, "read">,
  scope: Scope,
  { block, filters: limits, limit, memories }: SuccessorInput,
  chosen: readonly RankedUnit[],
): Promise<readonly RankedUnit[]> {
  const ended = chosen.filter(({ type, status }) => type === "memory" && status === "superseded");
  if (ended.length === 0) return chosen;
  const ids = ended.map(({ id }) => id);
  const held =
    memories ??
    new Map((await record.read(scope, { messages: [], memories: ids })).memories.map((one) => [one.id, one]));
  const byId = new Map(chosen.map((one) => [one.id, one]));
  const given = new Set<string>();
  const all = chosen.flatMap((one): readonly RankedUnit[] => {
    if (given.has(one.id)) return [];
    given.add(one.id);
    const next = one.status === "superseded" ? held.get(one.id)?.supersededBy : undefined;
    if (next === undefined || given.has(next)) return [one];
    const successor = byId.get(next) ?? toSuccessor(block, limits, one, next);
    if (successor?.status !== "current") return [one];
    given.add(next);
    return [{ ...successor, score: Math.max(successor.score, one.score) }, one];
  });
  return all.slice(0, limit);
}

/** The successor as if it had been found in the place of the one that has ended. */
function toSuccessor(
  block: SearchIndex,
  limits: IndexFilters,
  ended: RankedUnit,
  id: string,
): RankedUnit | undefined {
  const slot = slotOfMemory(block, id);
  if (slot < 0 || findExclusion(block, slot, limits) !== undefined) return undefined;
  return { ...ended, slot, id, status: statusOfUnit(block, slot, limits) };
}
