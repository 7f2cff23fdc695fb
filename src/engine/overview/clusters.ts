import { checkCount } from "../../domain/limits.ts";
import { expandKinds, KIND_NAMES, type Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { runInSlices } from "../../domain/time-slicing.ts";
import { invalid } from "../../errors.ts";
import { toShownMemory } from "../admin/listings.ts";
import type { ClusterOptions, MemoryClusters } from "../api/association-types.ts";
import type { Ports } from "../ports.ts";
import { dotProduct } from "../recall/retrievers/vector-retriever.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { nameClusters } from "./cluster-names.ts";
import { selectPresent } from "./present-memories.ts";

/** The newest memories that are grouped; older ones are counted as left out. */
const MAX_MEMORIES = 5000;
const VECTORS_AT_ONCE = 200;
const MAX_ROUNDS = 8;
/** The number of memories for each cluster, roughly. */
const MEMORIES_PER_CLUSTER = 8;
/** A memory with a smaller cosine with the middle of its cluster has little to do with it. */
const LEAST_COSINE = 0.1;
/** Characters of a name that is the beginning of a memory. */
const MAX_NAME_LENGTH = 60;

/**
 * Groups current memories by topic, by the vectors of the embedder, largest group first. The name of a group is made of words
 * that its memories have and others lack; without such words, it is the beginning of the most typical memory. Nothing is stored:
 * each call computes it, so that it contains only what is current.
 */
export async function listClusters(
  ports: Pick<Ports, "states" | "store" | "embedder" | "clock">,
  scope: Scope,
  options: ClusterOptions = {},
): Promise<MemoryClusters> {
  const { limit, shown, kinds } = parseClusterOptions(options);
  options.signal?.throwIfAborted();
  const state = await ports.states.of(scope);
  const all = selectPresent(state, scope, ports.clock().toISOString(), kinds);
  const points = await readPoints(ports, scope, all.slice(0, MAX_MEMORIES), options.signal);
  const groups = await runInSlices(groupPoints(points, limit));
  const named = nameClusters(groups.map((group) => group.map(({ memory }) => memory.text)));
  return {
    items: groups.map((group, i) => ({
      name: named[i]?.join(", ") || toName(group[0]?.memory.text ?? ""),
      words: named[i] ?? [],
      size: group.length,
      memories: group.slice(0, shown).map(({ memory }) => toShownMemory(state, memory)),
    })),
    total: all.length,
    left: all.length - groups.reduce((sum, { length }) => sum + length, 0),
  };
}

/** The beginning of a text, up to the end of a word. */
function toName(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= MAX_NAME_LENGTH) return line;
  const cut = line.slice(0, MAX_NAME_LENGTH);
  const end = cut.lastIndexOf(" ");
  return `${(end > 0 ? cut.slice(0, end) : cut).toWellFormed()}…`;
}

function parseClusterOptions({ limit = 12, memories = 5, kind }: ClusterOptions) {
  if (kind !== undefined && !KIND_NAMES.includes(kind))
    throw invalid(`kind must be one of ${KIND_NAMES.join(", ")}.`);
  return {
    limit: checkCount(limit, "limit", 1, 50),
    shown: checkCount(memories, "memories", 0, 100),
    kinds: kind === undefined ? undefined : expandKinds([kind]),
  };
}

interface Point {
  readonly memory: Memory;
  /** Of unit length, after the mean of all was subtracted. */
  readonly vector: Float32Array;
}

/** The memories with a vector. What all of them have in common ("the user") is subtracted. */
async function readPoints(
  { store, embedder }: Pick<Ports, "store" | "embedder">,
  scope: Scope,
  memories: readonly Memory[],
  signal: AbortSignal | undefined,
): Promise<Point[]> {
  const found: Point[] = [];
  for (let at = 0; at < memories.length; at += VECTORS_AT_ONCE) {
    signal?.throwIfAborted();
    const some = memories.slice(at, at + VECTORS_AT_ONCE);
    const vectors = await store.vectors(
      scope,
      some.map(({ id }) => id),
      spaceOf(embedder),
    );
    for (const [i, memory] of some.entries()) {
      const vector = vectors[i];
      if (vector?.some((part) => part !== 0)) found.push({ memory, vector: vector.slice() });
    }
  }
  const mean = sumVectors(found, embedder.dimensions).map((part) => part / Math.max(1, found.length));
  for (const { vector } of found) {
    for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] as number) - (mean[i] as number);
    normalize(vector);
  }
  return found;
}

function sumVectors(points: readonly Point[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const { vector } of points)
    for (let i = 0; i < dimensions; i += 1) sum[i] = (sum[i] as number) + (vector[i] ?? 0);
  return sum;
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dotProduct(vector, vector));
  if (length > 0) for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] as number) / length;
  return vector;
}

/** Spherical k-means that begins with points far from each other, so that the same memories give the same groups. */
function* groupPoints(points: readonly Point[], limit: number): Generator<void, Point[][], void> {
  const count = Math.min(limit, Math.ceil(points.length / MEMORIES_PER_CLUSTER));
  let centres = yield* chooseFarPoints(points, count);
  let groups: Point[][] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    groups = centres.map(() => []);
    for (const [i, point] of points.entries()) {
      if (i % 50 === 49) yield;
      const { at, cosine } = findNearestCentre(centres, point);
      if (cosine >= LEAST_COSINE || centres.length === 1) groups[at]?.push(point);
    }
    groups = groups.filter(({ length }) => length > 0);
    centres = groups.map((group) => normalize(sumVectors(group, centres[0]?.length ?? 0)));
  }
  return groups
    .map((group, i) => sortByNearness(group, centres[i] ?? new Float32Array(0)))
    .sort((one, other) => other.length - one.length);
}

function* chooseFarPoints(points: readonly Point[], count: number): Generator<void, Float32Array[], void> {
  const [first] = points;
  const chosen = first ? [first.vector] : [];
  const nearest = new Float32Array(points.length).fill(-1);
  while (chosen.length < count) {
    let farthest = 0;
    for (const [i, { vector }] of points.entries()) {
      if (i % 200 === 199) yield;
      nearest[i] = Math.max(nearest[i] as number, dotProduct(vector, chosen.at(-1) as Float32Array));
      if ((nearest[i] as number) < (nearest[farthest] as number)) farthest = i;
    }
    chosen.push((points[farthest] as Point).vector);
  }
  return chosen;
}

function findNearestCentre(
  centres: readonly Float32Array[],
  { vector }: Point,
): { at: number; cosine: number } {
  let best = { at: 0, cosine: -1 };
  for (const [at, centre] of centres.entries()) {
    const cosine = dotProduct(centre, vector);
    if (cosine > best.cosine) best = { at, cosine };
  }
  return best;
}

/** The most typical first. */
function sortByNearness(group: readonly Point[], centre: Float32Array): Point[] {
  return group
    .map((point) => ({ point, cosine: dotProduct(centre, point.vector) }))
    .sort((one, other) => other.cosine - one.cosine)
    .map(({ point }) => point);
}
