import { growColumn } from "../../search-index/columns.ts";
import type { SearchIndex } from "../../search-index/search-index.ts";
import { meanVectorOf } from "../../search-index/search-index.ts";

/**
 * The mean m of all vectors of an index. A user's memories are mostly about the same few topics, so a cosine
 * with u - m separates them better.
 */
export interface MeanCentering {
  readonly mean: Float32Array;
  /** m x m. */
  readonly square: number;
  /** By slot: u x m, and 1 / |u - m|; 0 if there is no vector. */
  readonly along: Float32Array<ArrayBuffer>;
  readonly over: Float32Array<ArrayBuffer>;
}

interface CachedCentering extends MeanCentering {
  readonly revision: number;
  readonly count: number;
  /** The number of units at the time of the computation, and the count of vector changes. */
  readonly first: number;
  readonly vectorsChanged: number;
}

const cachedCenterings = new WeakMap<SearchIndex, CachedCentering>();

/** The mean is recomputed after growth by one in this many units. */
const REFRESH_DIVISOR = 50;

/**
 * The mean of an index. Computing it takes one pass over all vectors. A few new units do not move it, so only
 * their cosines are added.
 */
export function getMeanCentering(searchIndex: SearchIndex): MeanCentering {
  const cached = cachedCenterings.get(searchIndex);
  const { count } = searchIndex.units;
  const isSame = cached?.vectorsChanged === searchIndex.vectorsChanged;
  if (cached && isSame && cached.revision === searchIndex.revision && cached.count === count) return cached;
  const centre =
    cached && isSame && hasHardlyGrown(searchIndex, cached.first)
      ? extendCentering(searchIndex, cached)
      : computeCentering(searchIndex);
  cachedCenterings.set(searchIndex, centre);
  return centre;
}

function computeCentering(searchIndex: SearchIndex): CachedCentering {
  const { storedMean: before } = searchIndex;
  if (before && searchIndex.vectorsChanged === 0 && hasHardlyGrown(searchIndex, before.count))
    return resumeCentering(searchIndex, before);
  const { count } = searchIndex.units;
  const mean = meanVectorOf(searchIndex);
  const along = new Float32Array(count);
  searchIndex.vectors.dot(mean, count, along);
  return createCentering(searchIndex, { mean, along, count });
}

/** The mean cached with the index, extended by new units. */
function resumeCentering(
  searchIndex: SearchIndex,
  before: NonNullable<SearchIndex["storedMean"]>,
): CachedCentering {
  const known = createCentering(searchIndex, before);
  return before.count === searchIndex.units.count ? known : extendCentering(searchIndex, known);
}

function createCentering(
  searchIndex: SearchIndex,
  { mean, along, count }: NonNullable<SearchIndex["storedMean"]>,
): CachedCentering {
  const { revision, vectorsChanged } = searchIndex;
  const square = mean.reduce((sum, part) => sum + part * part, 0);
  const over = new Float32Array(count);
  for (let slot = 0; slot < count; slot += 1) over[slot] = inverseNormOf(along[slot] as number, square);
  return { revision, count, first: count, vectorsChanged, mean, square, along, over };
}

function hasHardlyGrown({ units }: SearchIndex, first: number): boolean {
  return units.count - first <= first / REFRESH_DIVISOR;
}

/** The same mean, with the cosines of new units. */
function extendCentering(searchIndex: SearchIndex, known: CachedCentering): CachedCentering {
  const { count } = searchIndex.units;
  const { mean, square } = known;
  const along = growColumn(known.along, count);
  const over = growColumn(known.over, count);
  for (let slot = known.count; slot < count; slot += 1) {
    const vector = new Float32Array(mean.length);
    searchIndex.vectors.addTo(vector, slot);
    along[slot] = vector.reduce((sum, part, i) => sum + part * (mean[i] as number), 0);
    over[slot] = inverseNormOf(along[slot] as number, square);
  }
  return { ...known, revision: searchIndex.revision, count, along, over };
}

function inverseNormOf(product: number, square: number): number {
  return product === 0 ? 0 : 1 / Math.sqrt(Math.max(1e-6, 1 - 2 * product + square));
}

/** The cosine of two units after mean centering. */
export function computeCenteredCosine(
  { vectors }: SearchIndex,
  { mean }: MeanCentering,
  one: number,
  other: number,
): number {
  const a = new Float32Array(mean.length);
  for (let i = 0; i < a.length; i += 1) a[i] = -(mean[i] as number);
  const b = a.slice();
  vectors.addTo(a, one);
  vectors.addTo(b, other);
  let product = 0;
  let lengths = 0;
  let others = 0;
  for (let i = 0; i < a.length; i += 1) {
    const x = a[i] as number;
    const y = b[i] as number;
    product += x * y;
    lengths += x * x;
    others += y * y;
  }
  return lengths > 0 && others > 0 ? product / Math.sqrt(lengths * others) : 0;
}
