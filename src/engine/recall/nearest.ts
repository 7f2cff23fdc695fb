import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Ports } from "../ports.ts";
import { type SearchIndex, unitIdAt } from "../search-index/search-index.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { getMeanCentering } from "./retrievers/mean-centering.ts";
import type { Scratch } from "./retrievers/signals.ts";
import {
  dotProduct,
  findUncertain,
  type QuerySimilarity,
  scanVectors,
  toQuerySimilarity,
} from "./retrievers/vector-retriever.ts";

/** Number of nearest units that are verified by their full vectors. */
const EXACT_NEAREST = 10;
const MAX_TRIES = 3;

type NearestPorts = Pick<Ports, "store" | "states" | "embedder" | "indexSync">;

/** The user whose units are compared, the query, and the work done meanwhile. */
interface VectorComparison<Meanwhile> {
  readonly scope: Scope;
  readonly vector: Float32Array | undefined;
  readonly scratch: Scratch;
  readonly call: CallOptions;
  /**
   * Runs on the index with the cosines of its codes while the store is asked. The result may be discarded,
   * and the call repeated on another index.
   */
  meanwhile(searchIndex: SearchIndex, near: QuerySimilarity | undefined): Meanwhile;
  /**
   * Starts early if the vectors are far away, with the cosines of their codes, which hardly ever change the
   * choice.
   */
  ahead?(searchIndex: SearchIndex, near: QuerySimilarity, meanwhile: Meanwhile): void;
}

/** An index and the similarity of each of its units; valid until the next await. */
interface NearestResult<Meanwhile> {
  readonly searchIndex: SearchIndex;
  readonly near: QuerySimilarity | undefined;
  readonly meanwhile: Meanwhile;
  /** Whether the store no longer had a unit of the index; work that was started early may contain it. */
  readonly isGone?: boolean;
}

/**
 * The index and the similarity of each unit: all by their 8-bit codes, the nearest by their full vectors. If
 * another process writes in between, only the codes are used. A cached index is compared before the store
 * confirms that it is the newest: mostly it is, and the store is far away.
 */
export async function findNearest<Meanwhile>(
  ports: NearestPorts,
  comparing: VectorComparison<Meanwhile>,
): Promise<NearestResult<Meanwhile>> {
  const { scope, vector } = comparing;
  const cachedIndex = vector && !ports.indexSync ? ports.states.peekIndex(scope) : undefined;
  if (cachedIndex) {
    const { revision } = cachedIndex;
    // Both requests reach the store together, which costs it and this process less than two. Each may fail
    // while the other is awaited.
    const indexRead = ports.states.searchIndex(scope);
    const guess = cachedIndex.isReleased ? undefined : compareVectors(ports, cachedIndex, comparing);
    const [newest, guessed] = await Promise.all([indexRead, guess]);
    if (guessed && newest === cachedIndex && cachedIndex.revision === revision && !cachedIndex.isReleased)
      return guessed;
  }
  for (let tries = MAX_TRIES; ; tries -= 1) {
    let searchIndex = await ports.states.searchIndex(scope);
    // Another recall may have evicted the index just before.
    while (searchIndex.isReleased) searchIndex = await ports.states.searchIndex(scope);
    const found = await compareVectors(ports, searchIndex, comparing, tries === 0);
    if (found) return found;
  }
}

/** Undefined if the index was changed or evicted while the store or a vector index was asked. */
async function compareVectors<Meanwhile>(
  ports: NearestPorts,
  searchIndex: SearchIndex,
  { scope, vector, scratch, call, meanwhile, ahead }: VectorComparison<Meanwhile>,
  byCodesAlone = false,
): Promise<NearestResult<Meanwhile> | undefined> {
  const { revision } = searchIndex;
  const isStale = (): boolean => searchIndex.revision !== revision || searchIndex.isReleased;
  const slots = vector && (await ports.indexSync?.nearest(scope, searchIndex, vector, call));
  if (isStale()) return undefined;
  const near =
    vector &&
    (slots
      ? toQuerySimilarity(searchIndex, scratch, vector, slots)
      : scanVectors(searchIndex, scratch, vector));
  if (!near || !vector || byCodesAlone) return { searchIndex, near, meanwhile: meanwhile(searchIndex, near) };
  // The slot of a replaced or deleted unit remains, with a cosine of 0: among the nearest if there are few.
  const best = findUncertain(near, EXACT_NEAREST).filter((slot) => searchIndex.words.isAlive(slot));
  const ids = best.map((slot) => unitIdAt(searchIndex, slot));
  let isThere = false;
  const vectorsRead = ports.store.vectors(scope, ids, spaceOf(ports.embedder)).finally(() => {
    isThere = true;
  });
  const work = yieldToPendingWork().then(() => {
    if (isStale()) return undefined;
    // For a new index this takes as long as everything else.
    getMeanCentering(searchIndex);
    const result = meanwhile(searchIndex, near);
    if (!isThere) ahead?.(searchIndex, near, result);
    return { done: result };
  });
  const [exact, worked] = await Promise.all([vectorsRead, work]);
  if (isStale() || !worked) return undefined;
  for (const [i, slot] of best.entries()) {
    const exactVector = exact[i];
    if (exactVector) near.near[slot] = dotProduct(vector, exactVector);
  }
  return { searchIndex, near, meanwhile: worked.done, isGone: exact.some((vector) => !vector) };
}

/** Waits until all started work is pending on outside calls, so that those calls are on their way. */
export function yieldToPendingWork(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
