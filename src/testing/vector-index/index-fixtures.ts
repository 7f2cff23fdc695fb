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

/**
 * One rule of the contract in `ports/vector-index.ts`, tested on an empty index that is prepared for `SPACE`.
 */
export type VectorIndexCases = { readonly [title: string]: (vectorIndex: VectorIndex) => Promise<void> };

export const SPACE: VectorIndexSpace = { fingerprint: "test/8 2", dimensions: 8 };
export const INDEX_ANN: VectorIndexUser = { project: "default", user: "ann" };
export const INDEX_BOB: VectorIndexUser = { project: "default", user: "bob" };

/** Directions, for vectors of `SPACE`. */
export const EAST: readonly number[] = [1, 0, 0.01];
export const NORTH: readonly number[] = [0.01, 1, 0];
export const NORTH_EAST: readonly number[] = [1, 1, 0.01];
export const WEST: readonly number[] = [-1, 0.01, 0];

/** The time in ms within which a server must show stored entries and hide dropped ones. */
const SETTLES_MS = 10_000;
const LOOKED_AGAIN_MS = 50;

/** A vector of unit length, with components of many digits. */
export function makeUnitVector(
  parts: readonly number[],
  dimensions: number = SPACE.dimensions,
): Float32Array {
  const length = Math.hypot(...parts);
  return Float32Array.from({ length: dimensions }, (_one, i) => (parts[i] ?? 0) / length);
}

/**
 * The same vectors in every run, from a seeded generator (mulberry32), so that the contract is deterministic.
 */
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

/** An entry with the given fields, and defaults for the others. */
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
  vectorIndex: VectorIndex,
  user: VectorIndexUser,
  options?: CallOptions,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of vectorIndex.entries(user, options)) ids.push(...page);
  return ids.sort();
}

export const findNearestIds = async (
  vectorIndex: VectorIndex,
  user: VectorIndexUser,
  vector: Float32Array,
  options: { readonly limit: number; readonly where?: { readonly [field: string]: unknown } },
): Promise<string[]> => (await vectorIndex.nearest(user, vector, options)).map(({ id }) => id);

/** Retries the assertion, because some servers show changes a moment later. Throws the last failure. */
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

/** Compares scores within a thousandth, because some servers keep 16 bits per number. */
export function expectHits(hits: readonly VectorIndexHit[], wanted: readonly VectorIndexHit[]): void {
  expect(hits.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
  for (const [i, { score }] of wanted.entries()) expect(hits[i]?.score).toBeCloseTo(score, 2);
}

/** An in-memory vector index that a test can make fail, delay and change behind the engine's back. */
export interface FaultyVectorIndex extends VectorIndex {
  /** `down`: every call fails. `hung`: no call returns, whatever its signal says. */
  trouble: "none" | "down" | "hung";
  /** Names of all calls, in order. */
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
  const calls: string[] = [];
  const through = async <Result>(call: string, run: () => Promise<Result>): Promise<Result> => {
    calls.push(call);
    if (vectorIndex.trouble === "hung") return new Promise(() => {});
    if (vectorIndex.trouble === "down") {
      throw new MemoryError("unavailable", `the index "${name}" is unreachable.`);
    }
    return run();
  };
  const vectorIndex: FaultyVectorIndex = {
    name,
    trouble: "none",
    calls,
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
  return vectorIndex;
}
