import { type AssociationType, type MemoryLink, toLinkKey } from "../../domain/change-set.ts";
import { checkCount, checkShare } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import { isOfAgent, type Scope } from "../../domain/scope.ts";
import { invalid } from "../../errors.ts";
import { toShownMemory } from "../admin/listings.ts";
import type {
  RelatedMemories,
  RelatedMemory,
  RelatedOptions,
  RelatedStep,
} from "../api/association-types.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { checkType, requirePresent } from "./associations.ts";
import { createInference } from "./inferred-links.ts";
import { isPresent } from "./links.ts";

const MAX_DEPTH = 5;
const MAX_LIMIT = 200;
/** The most memories of one walk. */
const MAX_VISITED = 2000;

/**
 * Walks from a memory along its associations, in both directions, strongest first. The strength of what it finds is the
 * product of the strengths on the strongest way there. Throws `not_found` for an unknown memory.
 */
export async function findRelated(
  ports: Pick<Ports, "states" | "clock">,
  scope: Scope,
  id: string,
  options: RelatedOptions = {},
): Promise<RelatedMemories> {
  const { depth, minStrength, limit, types, status, inferred } = parseRelatedOptions(options);
  options.signal?.throwIfAborted();
  const state = await ports.states.of(scope);
  const now = ports.clock().toISOString();
  const start = requirePresent(state, id, now);
  const isShown = (memory: Memory | undefined): memory is Memory =>
    isPresent(memory, now) &&
    isOfAgent(scope, memory) &&
    !memory.quarantined &&
    (status === "all" || memory.status === status);
  const stepsFrom = createStepFinder(state, { types, inferred });
  const leadsTo = (way: Way, step: RelatedStep): Way[] => {
    const memory = state.memories.get(step.from === way.memory.id ? step.to : step.from);
    const strength = way.strength * step.strength;
    // A strength of 0 says that they are not associated.
    if (!isShown(memory) || memory.id === start.id || strength === 0 || strength < minStrength) return [];
    return [{ memory, strength, path: [...way.path, step] }];
  };
  const found = new Map<string, Way>();
  let frontier: readonly Way[] = [{ memory: start, strength: 1, path: [] }];
  for (let level = 1; level <= depth && frontier.length > 0; level += 1) {
    const reached = frontier.flatMap((way) => stepsFrom(way.memory).flatMap((step) => leadsTo(way, step)));
    frontier = keepStronger(found, reached);
  }
  const ways = [...found.values()].sort(compareWays);
  return { items: ways.slice(0, limit).map((way) => toRelatedMemory(state, way)), total: ways.length };
}

/** A memory that a walk reached, and how. */
interface Way {
  readonly memory: Memory;
  readonly strength: number;
  readonly path: readonly RelatedStep[];
}

/** Adds the ways that are stronger than the known ones to the same memory. Gives those that were added. */
function keepStronger(found: Map<string, Way>, reached: readonly Way[]): Way[] {
  const added = new Map<string, Way>();
  for (const way of reached) {
    const { id } = way.memory;
    const known = found.get(id);
    if (known ? known.strength >= way.strength : found.size >= MAX_VISITED) continue;
    found.set(id, way);
    added.set(id, way);
  }
  return [...added.values()];
}

function toRelatedMemory(state: UserState, { memory, strength, path }: Way): RelatedMemory {
  return { memory: toShownMemory(state, memory), strength, depth: path.length, path };
}

/** Strongest first, then the shortest way, then the newest memory. */
function compareWays(one: Way, other: Way): number {
  return (
    other.strength - one.strength ||
    one.path.length - other.path.length ||
    (one.memory.at === other.memory.at ? 0 : one.memory.at < other.memory.at ? 1 : -1) ||
    (one.memory.id < other.memory.id ? -1 : 1)
  );
}

type ParsedRelatedOptions = Required<
  Pick<RelatedOptions, "depth" | "minStrength" | "limit" | "status" | "inferred">
> & { readonly types: ReadonlySet<AssociationType> | undefined };

function parseRelatedOptions(options: RelatedOptions): ParsedRelatedOptions {
  const { depth = 1, minStrength = 0, limit = 20, types, status = "current", inferred = true } = options;
  if (!["current", "superseded", "retracted", "all"].includes(status))
    throw invalid("status must be one of current, superseded, retracted, all.");
  if (types !== undefined && !Array.isArray(types)) throw invalid("types must be a list.");
  if (typeof inferred !== "boolean") throw invalid("inferred must be true or false.");
  return {
    depth: checkCount(depth, "depth", 1, MAX_DEPTH),
    minStrength: checkShare(minStrength, "minStrength"),
    limit: checkCount(limit, "limit", 1, MAX_LIMIT),
    types: types && new Set(types.map(checkType)),
    status,
    inferred,
  };
}

/** The associations of a memory: the stored ones, and those that can be read off the memories themselves. */
function createStepFinder(
  state: UserState,
  { types, inferred }: Pick<ParsedRelatedOptions, "types" | "inferred">,
): (memory: Memory) => readonly RelatedStep[] {
  const stored = new Map<string, RelatedStep[]>();
  for (const { from, type, to, strength } of state.links) {
    if (type === "supersedes") continue;
    if (types && !types.has(type)) continue;
    for (const end of [from, to]) stored.set(end, [...(stored.get(end) ?? []), { from, type, to, strength }]);
  }
  const isInferred = inferred && (!types || types.has("related_to"));
  const infer = isInferred ? createInference(state) : undefined;
  // A stored association is what a user decided; it also replaces what would be inferred.
  const decided = new Set(state.links.filter(({ type }) => type === "related_to").map(toPairKey));
  return (memory) => [
    ...(stored.get(memory.id) ?? []),
    ...(infer?.(memory) ?? []).filter((step) => !decided.has(toPairKey(step))),
  ];
}

function toPairKey({ from, to }: Pick<MemoryLink, "from" | "to">): string {
  const [first = "", second = ""] = from < to ? [from, to] : [to, from];
  return toLinkKey({ from: first, type: "related_to", to: second, strength: 0 });
}
