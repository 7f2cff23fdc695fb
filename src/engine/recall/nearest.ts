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

/** Of so many nearest it is made sure that they are the nearest. */
const EXACT_NEAREST = 10;
const MAX_TRIES = 3;

type NearestPorts = Pick<Ports, "record" | "states" | "embedder" | "following">;

/** Whose units are compared with what, and what is done meanwhile. */
export interface VectorComparison<Meanwhile> {
  readonly scope: Scope;
  readonly vector: Float32Array | undefined;
  readonly scratch: Scratch;
  readonly call: CallOptions;
  /** Worked out of the block, with the cosines of its codes, while the record is asked; perhaps for nothing, and once more of another block. */
  meanwhile(block: SearchIndex, near: QuerySimilarity | undefined): Meanwhile;
  /** Begun where the vectors have a long way, by the cosines of their codes: those hardly ever change what is chosen. */
  ahead?(block: SearchIndex, near: QuerySimilarity, meanwhile: Meanwhile): void;
}

/** A block, and how near each of its units is; valid until the next wait. */
export interface NearestResult<Meanwhile> {
  readonly block: SearchIndex;
  readonly near: QuerySimilarity | undefined;
  readonly meanwhile: Meanwhile;
  /** Whether a unit of the block was not in the record any more: what was begun ahead may hold it. */
  readonly isGone?: boolean;
}

/**
 * The block, and how near each of its units is: all by their 8-bit codes, the nearest by their vectors themselves.
 * Where somebody writes in between, the codes have to do. A block that is held is compared before the record has said that
 * it is the newest: mostly it is, and the record is far away.
 */
export async function findNearest<Meanwhile>(
  ports: NearestPorts,
  comparing: VectorComparison<Meanwhile>,
): Promise<NearestResult<Meanwhile>> {
  const { scope, vector } = comparing;
  const held = vector && !ports.following ? ports.states.peekIndex(scope) : undefined;
  if (held) {
    const { revision } = held;
    // Both go to the record in one piece, which takes it and this process less than two; each may fail while the other is waited for.
    const asked = ports.states.searchIndex(scope);
    const guess = held.isReleased ? undefined : compareVectors(ports, held, comparing);
    const [newest, guessed] = await Promise.all([asked, guess]);
    if (guessed && newest === held && held.revision === revision && !held.isReleased) return guessed;
  }
  for (let tries = MAX_TRIES; ; tries -= 1) {
    let block = await ports.states.searchIndex(scope);
    // Let go of by another recall in the moment before this one went on.
    while (block.isReleased) block = await ports.states.searchIndex(scope);
    const found = await compareVectors(ports, block, comparing, tries === 0);
    if (found) return found;
  }
}

/** Nothing where the block was written to, or let go of, while the record or an index was asked. */
async function compareVectors<Meanwhile>(
  ports: NearestPorts,
  block: SearchIndex,
  { scope, vector, scratch, call, meanwhile, ahead }: VectorComparison<Meanwhile>,
  byCodesAlone = false,
): Promise<NearestResult<Meanwhile> | undefined> {
  const { revision } = block;
  const isStale = (): boolean => block.revision !== revision || block.isReleased;
  const slots = vector && (await ports.following?.nearest(scope, block, vector, call));
  if (isStale()) return undefined;
  const near =
    vector &&
    (slots ? toQuerySimilarity(block, scratch, vector, slots) : scanVectors(block, scratch, vector));
  if (!near || !vector || byCodesAlone) return { block, near, meanwhile: meanwhile(block, near) };
  // The slot of a unit that was replaced or dropped stays, with a cosine of 0: among the nearest where there are few.
  const best = findUncertain(near, EXACT_NEAREST).filter((slot) => block.words.isAlive(slot));
  const ids = best.map((slot) => unitIdAt(block, slot));
  let isThere = false;
  const asked = ports.record.vectors(scope, ids, spaceOf(ports.embedder)).finally(() => {
    isThere = true;
  });
  const work = yieldToPendingWork().then(() => {
    if (isStale()) return undefined;
    // Of a block that is new it takes as long as all the rest.
    getMeanCentering(block);
    const done = meanwhile(block, near);
    if (!isThere) ahead?.(block, near, done);
    return { done };
  });
  const [exact, worked] = await Promise.all([asked, work]);
  if (isStale() || !worked) return undefined;
  for (const [i, slot] of best.entries()) {
    const own = exact[i];
    if (own) near.near[slot] = dotProduct(vector, own);
  }
  return { block, near, meanwhile: worked.done, isGone: exact.some((own) => !own) };
}

/** When all that was begun has gone as far as it can by itself: what it asks the world outside is on its way. */
export function yieldToPendingWork(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
