import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { VectorIndex } from "../../ports/vector-index.ts";
import {
  EAST,
  expectHits,
  findNearestIds,
  INDEX_ANN,
  INDEX_BOB,
  makeEntry,
  makeUnitVector,
  NORTH,
  NORTH_EAST,
  readIds,
  SPACE,
  type VectorIndexCases,
  WEST,
  waitUntilPassing,
} from "./index-fixtures.ts";
import { VECTOR_SEARCH_CASES } from "./search-cases.ts";

/** What the suite needs of a vector index. */
export interface VectorIndexHarness {
  /** Shown in the test output: "chroma", "pinecone". */
  readonly name: string;
  /** Starts what the index needs, once. */
  setup?(): Promise<void>;
  /** Opens an empty index in a place of its own (a collection, a prefix). The suite prepares it. */
  open(): Promise<VectorIndex>;
  /** Closes an index and opens its stored data, as another process would. Absent if it stores nothing. */
  reopen?(vectorIndex: VectorIndex): Promise<VectorIndex>;
  /** Opens a second handle on the same place, as another process would. Absent if there can be none. */
  second?(vectorIndex: VectorIndex): Promise<VectorIndex>;
  /** Stops the server, and restarts it with its data. Absent if the suite may not do that. */
  readonly outage?: { begin(): Promise<void>; end(): Promise<void> };
  /** Removes what `open` created apart from the index itself: its collection, its folder. */
  remove?(vectorIndex: VectorIndex): Promise<void>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /** Timeout of one case, in ms (default 30,000). */
  readonly timeoutMs?: number;
  /** Case title -> reason. Each case runs and must fail; a case that passes breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/** The time in ms within which a stopped server must be reported. */
const GONE_MS = 15_000;

/** Runs the whole contract of `ports/vector-index.ts` against one adapter. Call it at the top level of a test file. */
export function vectorIndexConformance(harness: VectorIndexHarness): void {
  const gaps = harness.knownGaps ?? {};
  const timeout = harness.timeoutMs ?? 30_000;
  describe(`Vector index: ${harness.name}`, () => {
    let vectorIndex: VectorIndex;
    beforeAll(() => harness.setup?.(), 120_000);
    afterAll(() => harness.teardown?.(), 120_000);
    beforeEach(async () => {
      vectorIndex = await harness.open();
      await vectorIndex.prepare(SPACE);
    }, timeout);
    afterEach(async () => {
      await harness.remove?.(vectorIndex);
      await vectorIndex.close();
    }, timeout);

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in VECTOR_INDEX_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(VECTOR_INDEX_CASES)) {
      const test = title in gaps ? it.fails : it;
      const shown = title in gaps ? `${title} [known gap: ${gaps[title]}]` : title;
      test(shown, { timeout }, () => run(vectorIndex));
    }

    const { reopen, second, outage } = harness;
    if (reopen) {
      it("keeps all entries after a reopening", { timeout }, async () => {
        await vectorIndex.put(INDEX_ANN, [makeEntry("east", [1]), makeEntry("north", [0, 1])]);
        await vectorIndex.drop(INDEX_ANN, ["north"]);
        vectorIndex = await reopen(vectorIndex);
        await vectorIndex.prepare(SPACE);
        await waitUntilPassing(async () => {
          expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["east"]);
          expect(await vectorIndex.nearest(INDEX_ANN, makeUnitVector([1]), { limit: 9 })).toHaveLength(1);
        });
      });
    }
    if (second) {
      it("shows stored and dropped entries to every handle", { timeout }, async () => {
        const other = await second(vectorIndex);
        await other.prepare(SPACE);
        await vectorIndex.put(INDEX_ANN, [makeEntry("east", [1]), makeEntry("north", [0, 1])]);
        await waitUntilPassing(async () =>
          expect(await readIds(other, INDEX_ANN)).toEqual(["east", "north"]),
        );
        await other.drop(INDEX_ANN, ["east"]);
        await waitUntilPassing(async () =>
          expect(await vectorIndex.held(INDEX_ANN, ["east", "north"])).toEqual(["north"]),
        );
        await other.close();
        expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["north"]);
      });
    }
    if (outage) {
      it("reports within its deadline that its server is down, and works again when it is back", {
        timeout: timeout + 4 * GONE_MS,
      }, async () => {
        await vectorIndex.put(INDEX_ANN, [makeEntry("east", [1])]);
        await outage.begin();
        try {
          for (const call of [
            () => vectorIndex.put(INDEX_ANN, [makeEntry("north", [0, 1])]),
            () => vectorIndex.nearest(INDEX_ANN, makeUnitVector([1]), { limit: 1 }),
            () => vectorIndex.held(INDEX_ANN, ["east"]),
          ]) {
            const begun = performance.now();
            await expect(call()).rejects.toMatchObject({ code: "unavailable" });
            expect(performance.now() - begun).toBeLessThan(GONE_MS);
          }
        } finally {
          await outage.end();
        }
        await waitUntilPassing(async () => {
          await vectorIndex.put(INDEX_ANN, [makeEntry("north", [0, 1])]);
          expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["east", "north"]);
        });
      });
    }
  });
}

/** The behaviour of every vector index, one rule per case. */
export const VECTOR_INDEX_CASES: VectorIndexCases = {
  ...VECTOR_SEARCH_CASES,

  "is empty at first": async (vectorIndex) => {
    expect(await vectorIndex.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([]);
    expect(await vectorIndex.held(INDEX_ANN, ["a"])).toEqual([]);
    expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([]);
  },

  "returns the nearest first, with the cosine as the score": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [
      makeEntry("west", WEST),
      makeEntry("north", NORTH),
      makeEntry("east", EAST),
      makeEntry("ne", NORTH_EAST),
    ]);
    await waitUntilPassing(async () => {
      const hits = await vectorIndex.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 });
      expectHits(hits, [
        { id: "east", score: 1 },
        { id: "ne", score: Math.SQRT1_2 },
        { id: "north", score: 0.01 },
        { id: "west", score: -1 },
      ]);
      for (const { score } of hits) expect(Math.abs(score)).toBeLessThanOrEqual(1);
    });
  },

  "returns at most the requested number": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [
      makeEntry("east", EAST),
      makeEntry("north", NORTH),
      makeEntry("ne", NORTH_EAST),
    ]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector(EAST), { limit: 2 })).toEqual([
        "east",
        "ne",
      ]);
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector(NORTH), { limit: 1 })).toEqual([
        "north",
      ]);
    });
  },

  "replaces an entry with the same id": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [makeEntry("one", EAST, { at: 1000 }), makeEntry("other", NORTH_EAST)]);
    await vectorIndex.put(INDEX_ANN, [makeEntry("one", NORTH, { at: 2000 })]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([
        "other",
        "one",
      ]);
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["one", "other"]);
    });
  },

  "keeps the last of two entries with the same id in one call": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [
      makeEntry("one", EAST),
      makeEntry("two", NORTH_EAST),
      makeEntry("one", NORTH),
    ]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector(NORTH), { limit: 10 })).toEqual([
        "one",
        "two",
      ]);
    });
  },

  "does nothing for empty calls": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, []);
    await vectorIndex.drop(INDEX_ANN, []);
    await vectorIndex.drop(INDEX_ANN, ["never"]);
    await vectorIndex.dropUser(INDEX_ANN);
    expect(await vectorIndex.held(INDEX_ANN, [])).toEqual([]);
    expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([]);
  },

  "drops the given entries and no others": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [
      makeEntry("east", EAST),
      makeEntry("north", NORTH),
      makeEntry("ne", NORTH_EAST),
    ]);
    await vectorIndex.put(INDEX_BOB, [makeEntry("east", EAST)]);
    await vectorIndex.drop(INDEX_ANN, ["east", "never"]);
    await waitUntilPassing(async () => {
      expect(await vectorIndex.held(INDEX_ANN, ["east", "north", "ne"])).toHaveLength(2);
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([
        "ne",
        "north",
      ]);
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["ne", "north"]);
      expect(await vectorIndex.held(INDEX_BOB, ["east"])).toEqual(["east"]);
    });
  },

  "drops all entries of a user and no one else's": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", EAST), makeEntry("north", NORTH)]);
    await vectorIndex.put(INDEX_BOB, [makeEntry("east", EAST)]);
    await vectorIndex.dropUser(INDEX_ANN);
    await waitUntilPassing(async () => {
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([]);
      expect(await vectorIndex.held(INDEX_ANN, ["east", "north"])).toEqual([]);
      expect(await vectorIndex.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([]);
      expect(await readIds(vectorIndex, INDEX_BOB)).toEqual(["east"]);
    });
  },

  "stores an entry again after it was dropped": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await vectorIndex.drop(INDEX_ANN, ["east"]);
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", NORTH)]);
    await vectorIndex.dropUser(INDEX_ANN);
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", WEST)]);
    await waitUntilPassing(async () => {
      const hits = await vectorIndex.nearest(INDEX_ANN, makeUnitVector(WEST), { limit: 10 });
      expectHits(hits, [{ id: "east", score: 1 }]);
    });
  },

  "rejects vectors of another length": async (vectorIndex) => {
    await expect(
      vectorIndex.put(INDEX_ANN, [makeEntry("short", makeUnitVector([1], 3))]),
    ).rejects.toMatchObject({
      code: "invalid_input",
    });
    await expect(vectorIndex.nearest(INDEX_ANN, makeUnitVector([1], 3), { limit: 1 })).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([]);
  },

  "keeps its entries when it is prepared again": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await vectorIndex.prepare(SPACE);
    await waitUntilPassing(async () => expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["east"]));
  },

  "deletes entries of another space": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await vectorIndex.prepare({ fingerprint: "another/8 2", dimensions: 8 });
    await waitUntilPassing(async () => {
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([]);
      expect(await vectorIndex.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([]);
    });
    await vectorIndex.prepare({ fingerprint: "another/12 2", dimensions: 12 });
    await vectorIndex.put(INDEX_ANN, [makeEntry("wide", makeUnitVector([1, 1], 12))]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector([1, 1], 12), { limit: 10 })).toEqual(
        ["wide"],
      );
    });
    await vectorIndex.prepare(SPACE);
    expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([]);
  },

  "clears all entries of all users, and stores new ones": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await vectorIndex.put({ project: "another", user: "ann" }, [makeEntry("east", EAST)]);
    await vectorIndex.clear();
    await vectorIndex.prepare(SPACE);
    await waitUntilPassing(async () => {
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([]);
      expect(await readIds(vectorIndex, { project: "another", user: "ann" })).toEqual([]);
    });
    await vectorIndex.put(INDEX_ANN, [makeEntry("north", NORTH)]);
    await waitUntilPassing(async () => expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["north"]));
  },

  "stores entries of several users at once": async (vectorIndex) => {
    const users = Array.from({ length: 12 }, (_one, i) => ({ project: "default", user: `user ${i}` }));
    await Promise.all(
      users.map((user, i) => vectorIndex.put(user, [makeEntry("east", EAST), makeEntry(`own ${i}`, NORTH)])),
    );
    await waitUntilPassing(async () => {
      for (const [i, user] of users.entries())
        expect(await readIds(vectorIndex, user)).toEqual(["east", `own ${i}`]);
    });
  },

  "keeps a copy of its input": async (vectorIndex) => {
    const given = makeEntry("east", EAST);
    await vectorIndex.put(INDEX_ANN, [given]);
    given.vector.fill(0.1);
    await waitUntilPassing(async () => {
      const hits = await vectorIndex.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 1 });
      expectHits(hits, [{ id: "east", score: 1 }]);
    });
  },

  "rejects with the reason of an aborted signal": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, [makeEntry("east", EAST)]);
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(vectorIndex.put(INDEX_ANN, [makeEntry("north", NORTH)], { signal })).rejects.toBe(reason);
    await expect(vectorIndex.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 1, signal })).rejects.toBe(
      reason,
    );
    await expect(vectorIndex.held(INDEX_ANN, ["east"], { signal })).rejects.toBe(reason);
    await expect(vectorIndex.drop(INDEX_ANN, ["east"], { signal })).rejects.toBe(reason);
    await expect(vectorIndex.dropUser(INDEX_ANN, { signal })).rejects.toBe(reason);
    await expect(readIds(vectorIndex, INDEX_ANN, { signal })).rejects.toBe(reason);
    await waitUntilPassing(async () => expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(["east"]));
  },

  "is unavailable after it was closed": async (vectorIndex) => {
    await vectorIndex.close();
    await expect(vectorIndex.put(INDEX_ANN, [makeEntry("east", EAST)])).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(vectorIndex.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(vectorIndex.held(INDEX_ANN, ["east"])).rejects.toMatchObject({ code: "unavailable" });
    await vectorIndex.close();
  },
};
