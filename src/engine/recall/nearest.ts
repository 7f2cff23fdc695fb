import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call.ts";
import { type Block, unitId } from "../block/block.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../space.ts";
import { centreOf } from "./centre.ts";
import type { Scratch } from "./scratch.ts";
import { cosine, doubtful, type Nearness, nearnessOf, scanVectors } from "./vector-arm.ts";

/** Of so many nearest it is made sure that they are the nearest. */
const NEAREST = 10;
const TRIES = 3;

type NearestPorts = Pick<Ports, "record" | "states" | "embedder" | "following">;

/** Whose units are compared with what, and what is done meanwhile. */
export interface Comparing<Meanwhile> {
  readonly scope: Scope;
  readonly vector: Float32Array | undefined;
  readonly scratch: Scratch;
  readonly call: CallOptions;
  /** Worked out of the block, with the cosines of its codes, while the record is asked; perhaps for nothing, and once more of another block. */
  meanwhile(block: Block, near: Nearness | undefined): Meanwhile;
  /** Begun where the vectors have a long way, by the cosines of their codes: those hardly ever change what is chosen. */
  ahead?(block: Block, near: Nearness, meanwhile: Meanwhile): void;
}

/** A block, and how near each of its units is; valid until the next wait. */
export interface Nearest<Meanwhile> {
  readonly block: Block;
  readonly near: Nearness | undefined;
  readonly meanwhile: Meanwhile;
  /** Whether a unit of the block was not in the record any more: what was begun ahead may hold it. */
  readonly isGone?: boolean;
}

/**
 * The block, and how near each of its units is: all by their 8-bit codes, the nearest by their vectors themselves.
 * Where somebody writes in between, the codes have to do. A block that is held is compared before the record has said that
 * it is the newest: mostly it is, and the record is far away.
 */
export async function nearest<Meanwhile>(
  ports: NearestPorts,
  comparing: Comparing<Meanwhile>,
): Promise<Nearest<Meanwhile>> {
  const { scope, vector } = comparing;
  const held = vector && !ports.following ? ports.states.held(scope) : undefined;
  if (held) {
    const { revision } = held;
    // Both go to the record in one piece, which takes it and this process less than two; each may fail while the other is waited for.
    const asked = ports.states.block(scope);
    const guess = held.isReleased ? undefined : compared(ports, held, comparing);
    const [newest, guessed] = await Promise.all([asked, guess]);
    if (guessed && newest === held && held.revision === revision && !held.isReleased) return guessed;
  }
  for (let tries = TRIES; ; tries -= 1) {
    let block = await ports.states.block(scope);
    // Let go of by another recall in the moment before this one went on.
    while (block.isReleased) block = await ports.states.block(scope);
    const found = await compared(ports, block, comparing, tries === 0);
    if (found) return found;
  }
}

/** Nothing where the block was written to, or let go of, while the record or an index was asked. */
async function compared<Meanwhile>(
  ports: NearestPorts,
  block: Block,
  { scope, vector, scratch, call, meanwhile, ahead }: Comparing<Meanwhile>,
  byCodesAlone = false,
): Promise<Nearest<Meanwhile> | undefined> {
  const { revision } = block;
  const isStale = (): boolean => block.revision !== revision || block.isReleased;
  const slots = vector && (await ports.following?.nearest(scope, block, vector, call));
  if (isStale()) return undefined;
  const near =
    vector && (slots ? nearnessOf(block, scratch, vector, slots) : scanVectors(block, scratch, vector));
  if (!near || !vector || byCodesAlone) return { block, near, meanwhile: meanwhile(block, near) };
  // The slot of a unit that was replaced or dropped stays, with a cosine of 0: among the nearest where there are few.
  const best = doubtful(near, NEAREST).filter((slot) => block.words.isAlive(slot));
  const ids = best.map((slot) => unitId(block, slot));
  let isThere = false;
  const asked = ports.record.vectors(scope, ids, spaceOf(ports.embedder)).finally(() => {
    isThere = true;
  });
  const work = underWay().then(() => {
    if (isStale()) return undefined;
    // Of a block that is new it takes as long as all the rest.
    centreOf(block);
    const done = meanwhile(block, near);
    if (!isThere) ahead?.(block, near, done);
    return { done };
  });
  const [exact, worked] = await Promise.all([asked, work]);
  if (isStale() || !worked) return undefined;
  for (const [i, slot] of best.entries()) {
    const own = exact[i];
    if (own) near.near[slot] = cosine(vector, own);
  }
  return { block, near, meanwhile: worked.done, isGone: exact.some((own) => !own) };
}

/** When all that was begun has gone as far as it can by itself: what it asks the world outside is on its way. */
export function underWay(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
