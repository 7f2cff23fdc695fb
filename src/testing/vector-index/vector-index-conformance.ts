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

export interface VectorIndexHarness {
  /** Shown in the test output: "chroma", "pinecone". */
  readonly name: string;
  /** Starts what the follower needs, once. */
  setup?(): Promise<void>;
  /** A follower that holds nothing, in a place of its own (a collection, a prefix). It is prepared by the suite. */
  open(): Promise<VectorIndex>;
  /** Closes a follower and opens what it kept, as another process would; absent where it keeps nothing. */
  reopen?(follower: VectorIndex): Promise<VectorIndex>;
  /** A second handle on the same place, as another process would have; absent where there can be none. */
  second?(follower: VectorIndex): Promise<VectorIndex>;
  /** Takes the server away, and gives it back with what it had; absent where the suite may not do that. */
  readonly outage?: { begin(): Promise<void>; end(): Promise<void> };
  /** Frees what `open` took beyond the follower itself: its collection, its folder. */
  remove?(follower: VectorIndex): Promise<void>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /** For one case, in ms (30,000). */
  readonly timeoutMs?: number;
  /** Case title -> why. Each runs and must fail; one that passes again breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/** A server that is gone is said to be so within this time, in ms. */
const GONE_MS = 15_000;

/** Runs the whole contract of `ports/vector-index.ts` against one adapter. Call it at the top level of a test file. */
export function vectorIndexConformance(harness: VectorIndexHarness): void {
  const gaps = harness.knownGaps ?? {};
  const timeout = harness.timeoutMs ?? 30_000;
  describe(`Follower: ${harness.name}`, () => {
    let follower: VectorIndex;
    beforeAll(() => harness.setup?.(), 120_000);
    afterAll(() => harness.teardown?.(), 120_000);
    beforeEach(async () => {
      follower = await harness.open();
      await follower.prepare(SPACE);
    }, timeout);
    afterEach(async () => {
      await harness.remove?.(follower);
      await follower.close();
    }, timeout);

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in VECTOR_INDEX_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(VECTOR_INDEX_CASES)) {
      const test = title in gaps ? it.fails : it;
      const shown = title in gaps ? `${title} [known gap: ${gaps[title]}]` : title;
      test(shown, { timeout }, () => run(follower));
    }

    const { reopen, second, outage } = harness;
    if (reopen) {
      it("keeps everything over a reopening", { timeout }, async () => {
        await follower.put(INDEX_ANN, [makeEntry("east", [1]), makeEntry("north", [0, 1])]);
        await follower.drop(INDEX_ANN, ["north"]);
        follower = await reopen(follower);
        await follower.prepare(SPACE);
        await waitUntilPassing(async () => {
          expect(await readIds(follower, INDEX_ANN)).toEqual(["east"]);
          expect(await follower.nearest(INDEX_ANN, makeUnitVector([1]), { limit: 9 })).toHaveLength(1);
        });
      });
    }
    if (second) {
      it("shows what is put and dropped to every handle", { timeout }, async () => {
        const other = await second(follower);
        await other.prepare(SPACE);
        await follower.put(INDEX_ANN, [makeEntry("east", [1]), makeEntry("north", [0, 1])]);
        await waitUntilPassing(async () =>
          expect(await readIds(other, INDEX_ANN)).toEqual(["east", "north"]),
        );
        await other.drop(INDEX_ANN, ["east"]);
        await waitUntilPassing(async () =>
          expect(await follower.held(INDEX_ANN, ["east", "north"])).toEqual(["north"]),
        );
        await other.close();
        expect(await readIds(follower, INDEX_ANN)).toEqual(["north"]);
      });
    }
    if (outage) {
      it("says within its deadline that its server is gone, and goes on when it is back", {
        timeout: timeout + 4 * GONE_MS,
      }, async () => {
        await follower.put(INDEX_ANN, [makeEntry("east", [1])]);
        await outage.begin();
        try {
          for (const call of [
            () => follower.put(INDEX_ANN, [makeEntry("north", [0, 1])]),
            () => follower.nearest(INDEX_ANN, makeUnitVector([1]), { limit: 1 }),
            () => follower.held(INDEX_ANN, ["east"]),
          ]) {
            const begun = performance.now();
            await expect(call()).rejects.toMatchObject({ code: "unavailable" });
            expect(performance.now() - begun).toBeLessThan(GONE_MS);
          }
        } finally {
          await outage.end();
        }
        await waitUntilPassing(async () => {
          await follower.put(INDEX_ANN, [makeEntry("north", [0, 1])]);
          expect(await readIds(follower, INDEX_ANN)).toEqual(["east", "north"]);
        });
      });
    }
  });
}

/** What every follower does; the title says it. */
export const VECTOR_INDEX_CASES: VectorIndexCases = {
  ...VECTOR_SEARCH_CASES,

  "holds nothing at first": async (follower) => {
    expect(await follower.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([]);
    expect(await follower.held(INDEX_ANN, ["a"])).toEqual([]);
    expect(await readIds(follower, INDEX_ANN)).toEqual([]);
  },

  "gives the nearest first, with the cosine as the score": async (follower) => {
    await follower.put(INDEX_ANN, [
      makeEntry("west", WEST),
      makeEntry("north", NORTH),
      makeEntry("east", EAST),
      makeEntry("ne", NORTH_EAST),
    ]);
    await waitUntilPassing(async () => {
      const hits = await follower.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 });
      expectHits(hits, [
        { id: "east", score: 1 },
        { id: "ne", score: Math.SQRT1_2 },
        { id: "north", score: 0.01 },
        { id: "west", score: -1 },
      ]);
      for (const { score } of hits) expect(Math.abs(score)).toBeLessThanOrEqual(1);
    });
  },

  "gives no more than asked for": async (follower) => {
    await follower.put(INDEX_ANN, [
      makeEntry("east", EAST),
      makeEntry("north", NORTH),
      makeEntry("ne", NORTH_EAST),
    ]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector(EAST), { limit: 2 })).toEqual([
        "east",
        "ne",
      ]);
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector(NORTH), { limit: 1 })).toEqual([
        "north",
      ]);
    });
  },

  "puts an entry in place of the one of the same id": async (follower) => {
    await follower.put(INDEX_ANN, [makeEntry("one", EAST, { at: 1000 }), makeEntry("other", NORTH_EAST)]);
    await follower.put(INDEX_ANN, [makeEntry("one", NORTH, { at: 2000 })]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([
        "other",
        "one",
      ]);
      expect(await readIds(follower, INDEX_ANN)).toEqual(["one", "other"]);
    });
  },

  "keeps the last of two entries of one id in one go": async (follower) => {
    await follower.put(INDEX_ANN, [
      makeEntry("one", EAST),
      makeEntry("two", NORTH_EAST),
      makeEntry("one", NORTH),
    ]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector(NORTH), { limit: 10 })).toEqual([
        "one",
        "two",
      ]);
    });
  },

  "does nothing where nothing is to be done": async (follower) => {
    await follower.put(INDEX_ANN, []);
    await follower.drop(INDEX_ANN, []);
    await follower.drop(INDEX_ANN, ["never"]);
    await follower.dropUser(INDEX_ANN);
    expect(await follower.held(INDEX_ANN, [])).toEqual([]);
    expect(await readIds(follower, INDEX_ANN)).toEqual([]);
  },

  "drops what it is told to, and nothing else": async (follower) => {
    await follower.put(INDEX_ANN, [
      makeEntry("east", EAST),
      makeEntry("north", NORTH),
      makeEntry("ne", NORTH_EAST),
    ]);
    await follower.put(INDEX_BOB, [makeEntry("east", EAST)]);
    await follower.drop(INDEX_ANN, ["east", "never"]);
    await waitUntilPassing(async () => {
      expect(await follower.held(INDEX_ANN, ["east", "north", "ne"])).toHaveLength(2);
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([
        "ne",
        "north",
      ]);
      expect(await readIds(follower, INDEX_ANN)).toEqual(["ne", "north"]);
      expect(await follower.held(INDEX_BOB, ["east"])).toEqual(["east"]);
    });
  },

  "drops a user whole, and nobody else": async (follower) => {
    await follower.put(INDEX_ANN, [makeEntry("east", EAST), makeEntry("north", NORTH)]);
    await follower.put(INDEX_BOB, [makeEntry("east", EAST)]);
    await follower.dropUser(INDEX_ANN);
    await waitUntilPassing(async () => {
      expect(await readIds(follower, INDEX_ANN)).toEqual([]);
      expect(await follower.held(INDEX_ANN, ["east", "north"])).toEqual([]);
      expect(await follower.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([]);
      expect(await readIds(follower, INDEX_BOB)).toEqual(["east"]);
    });
  },

  "takes back in what it dropped": async (follower) => {
    await follower.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await follower.drop(INDEX_ANN, ["east"]);
    await follower.put(INDEX_ANN, [makeEntry("east", NORTH)]);
    await follower.dropUser(INDEX_ANN);
    await follower.put(INDEX_ANN, [makeEntry("east", WEST)]);
    await waitUntilPassing(async () => {
      const hits = await follower.nearest(INDEX_ANN, makeUnitVector(WEST), { limit: 10 });
      expectHits(hits, [{ id: "east", score: 1 }]);
    });
  },

  "refuses vectors of another length": async (follower) => {
    await expect(follower.put(INDEX_ANN, [makeEntry("short", makeUnitVector([1], 3))])).rejects.toMatchObject(
      {
        code: "invalid_input",
      },
    );
    await expect(follower.nearest(INDEX_ANN, makeUnitVector([1], 3), { limit: 1 })).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect(await readIds(follower, INDEX_ANN)).toEqual([]);
  },

  "keeps what it has when it is prepared once more": async (follower) => {
    await follower.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await follower.prepare(SPACE);
    await waitUntilPassing(async () => expect(await readIds(follower, INDEX_ANN)).toEqual(["east"]));
  },

  "lets go of entries of another space": async (follower) => {
    await follower.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await follower.prepare({ fingerprint: "another/8 2", dimensions: 8 });
    await waitUntilPassing(async () => {
      expect(await readIds(follower, INDEX_ANN)).toEqual([]);
      expect(await follower.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toEqual([]);
    });
    await follower.prepare({ fingerprint: "another/12 2", dimensions: 12 });
    await follower.put(INDEX_ANN, [makeEntry("wide", makeUnitVector([1, 1], 12))]);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector([1, 1], 12), { limit: 10 })).toEqual([
        "wide",
      ]);
    });
    await follower.prepare(SPACE);
    expect(await readIds(follower, INDEX_ANN)).toEqual([]);
  },

  "clears everything of everybody, and takes in anew": async (follower) => {
    await follower.put(INDEX_ANN, [makeEntry("east", EAST)]);
    await follower.put({ project: "another", user: "ann" }, [makeEntry("east", EAST)]);
    await follower.clear();
    await follower.prepare(SPACE);
    await waitUntilPassing(async () => {
      expect(await readIds(follower, INDEX_ANN)).toEqual([]);
      expect(await readIds(follower, { project: "another", user: "ann" })).toEqual([]);
    });
    await follower.put(INDEX_ANN, [makeEntry("north", NORTH)]);
    await waitUntilPassing(async () => expect(await readIds(follower, INDEX_ANN)).toEqual(["north"]));
  },

  "takes in several users at once": async (follower) => {
    const users = Array.from({ length: 12 }, (_one, i) => ({ project: "default", user: `user ${i}` }));
    await Promise.all(
      users.map((user, i) => follower.put(user, [makeEntry("east", EAST), makeEntry(`own ${i}`, NORTH)])),
    );
    await waitUntilPassing(async () => {
      for (const [i, user] of users.entries())
        expect(await readIds(follower, user)).toEqual(["east", `own ${i}`]);
    });
  },

  "keeps a copy of what it is given": async (follower) => {
    const given = makeEntry("east", EAST);
    await follower.put(INDEX_ANN, [given]);
    given.vector.fill(0.1);
    await waitUntilPassing(async () => {
      const hits = await follower.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 1 });
      expectHits(hits, [{ id: "east", score: 1 }]);
    });
  },

  "passes on the reason of whoever breaks off": async (follower) => {
    await follower.put(INDEX_ANN, [makeEntry("east", EAST)]);
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(follower.put(INDEX_ANN, [makeEntry("north", NORTH)], { signal })).rejects.toBe(reason);
    await expect(follower.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 1, signal })).rejects.toBe(
      reason,
    );
    await expect(follower.held(INDEX_ANN, ["east"], { signal })).rejects.toBe(reason);
    await expect(follower.drop(INDEX_ANN, ["east"], { signal })).rejects.toBe(reason);
    await expect(follower.dropUser(INDEX_ANN, { signal })).rejects.toBe(reason);
    await expect(readIds(follower, INDEX_ANN, { signal })).rejects.toBe(reason);
    await waitUntilPassing(async () => expect(await readIds(follower, INDEX_ANN)).toEqual(["east"]));
  },

  "is not to be had once it is closed": async (follower) => {
    await follower.close();
    await expect(follower.put(INDEX_ANN, [makeEntry("east", EAST)])).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(follower.nearest(INDEX_ANN, makeUnitVector(EAST), { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(follower.held(INDEX_ANN, ["east"])).rejects.toMatchObject({ code: "unavailable" });
    await follower.close();
  },
};
