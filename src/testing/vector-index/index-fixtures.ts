import { expect } from "vitest";
import { createInMemoryVectorIndex } from "../../adapters/memory/index.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type {
  VectorIndex,
  VectorIndexEntry,
  VectorIndexHit,
  VectorIndexMetadata,
  VectorIndexSpace,
  VectorIndexUser,
} from "../../ports/vector-index.ts";

/** One sentence of the contract in `ports/vector-index.ts`, tried on a follower that is empty and prepared for `SPACE`. */
export type VectorIndexCases = { readonly [title: string]: (follower: VectorIndex) => Promise<void> };

export const SPACE: VectorIndexSpace = { fingerprint: "test/8 2", dimensions: 8 };
export const INDEX_ANN: VectorIndexUser = { project: "default", user: "ann" };
export const INDEX_BOB: VectorIndexUser = { project: "default", user: "bob" };

/** Directions, for vectors of `SPACE`. */
export const EAST: readonly number[] = [1, 0, 0.01];
export const NORTH: readonly number[] = [0.01, 1, 0];
export const NORTH_EAST: readonly number[] = [1, 1, 0.01];
export const WEST: readonly number[] = [-1, 0.01, 0];

/** So long a server may take until what was put is found, and what was dropped is not. */
const SETTLES_MS = 10_000;
const LOOKED_AGAIN_MS = 50;

/** A vector of unit length: parts with many digits, so that none is a whole number by chance. */
export function makeUnitVector(
  parts: readonly number[],
  dimensions: number = SPACE.dimensions,
): Float32Array {
  const length = Math.hypot(...parts);
  return Float32Array.from({ length: dimensions }, (_one, i) => (parts[i] ?? 0) / length);
}

/** The same vectors in every run: a generator of our own (mulberry32), for chance has no place in a contract. */
export function makeRandomVectors(count: number, dimensions: number, seed = 1): Float32Array[] {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296 - 0.5;
  };
  return Array.from({ length: count }, () =>
    makeUnitVector(
      Array.from({ length: dimensions }, () => next() + next() + next()),
      dimensions,
    ),
  );
}

/** An entry, with what a case says of it. */
export function makeEntry(
  id: string,
  parts: readonly number[] | Float32Array,
  metadata: Partial<VectorIndexMetadata> = {},
): VectorIndexEntry {
  return {
    id,
    vector: parts instanceof Float32Array ? parts : makeUnitVector(parts),
    metadata: { type: "memory", owner: id, at: Date.parse("2026-03-01T12:00:00Z"), ...metadata },
  };
}

/** All ids of a user, in order. */
export async function readIds(
  follower: VectorIndex,
  user: VectorIndexUser,
  options?: CallOptions,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of follower.entries(user, options)) ids.push(...page);
  return ids.sort();
}

export const findNearestIds = async (
  follower: VectorIndex,
  user: VectorIndexUser,
  vector: Float32Array,
  options: { readonly limit: number; readonly where?: { readonly [field: string]: unknown } },
): Promise<string[]> => (await follower.nearest(user, vector, options)).map(({ id }) => id);

/** Tries until it holds: some servers show a moment later what they have taken in. The last failure is the test's. */
export async function waitUntilPassing(assertion: () => Promise<void>): Promise<void> {
  const end = performance.now() + SETTLES_MS;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOKED_AGAIN_MS));
    }
  }
}

/** Scores within a thousandth: some servers keep 16 bits of a number. */
export function expectHits(hits: readonly VectorIndexHit[], wanted: readonly VectorIndexHit[]): void {
  expect(hits.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
  for (const [i, { score }] of wanted.entries()) expect(hits[i]?.score).toBeCloseTo(score, 2);
}

/** A follower in memory that a test can take away, hold up, and spoil behind the engine's back. */
export interface FaultyVectorIndex extends VectorIndex {
  /** `down`: every call fails. `hung`: none comes back, whatever its signal says. */
  trouble: "none" | "down" | "hung";
  /** Names of the calls that came, in order. */
  readonly calls: string[];
  /** The same index without troubles. */
  readonly inner: VectorIndex;
}

export function createFaultyVectorIndex({
  name = "shaky",
}: {
  readonly name?: string;
} = {}): FaultyVectorIndex {
  const within = createInMemoryVectorIndex({ name });
  const asked: string[] = [];
  const through = async <Result>(call: string, run: () => Promise<Result>): Promise<Result> => {
    asked.push(call);
    if (follower.trouble === "hung") return new Promise(() => {});
    if (follower.trouble === "down") {
      throw new MemoryError("unavailable", `the index "${name}" cannot be reached.`);
    }
    return run();
  };
  const follower: FaultyVectorIndex = {
    name,
    trouble: "none",
    calls: asked,
    inner: within,
    prepare: (space, options) => through("prepare", () => within.prepare(space, options)),
    put: (of, entries, options) => through("put", () => within.put(of, entries, options)),
    drop: (of, ids, options) => through("drop", () => within.drop(of, ids, options)),
    dropUser: (of, options) => through("dropUser", () => within.dropUser(of, options)),
    nearest: (of, vector, options) => through("nearest", () => within.nearest(of, vector, options)),
    held: (of, ids, options) => through("held", () => within.held(of, ids, options)),
    async *entries(of, options) {
      const pages: (readonly string[])[] = [];
      await through("entries", async () => {
        for await (const page of within.entries(of, options)) pages.push(page);
      });
      yield* pages;
    },
    clear: (options) => through("clear", () => within.clear(options)),
    close: () => within.close(),
  };
  return follower;
}
