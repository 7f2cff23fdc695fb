import { expect } from "vitest";
import { matchesFilter, type Where } from "../../domain/metadata-filter.ts";
import { isMemoryError } from "../../errors.ts";
import type { VectorIndex, VectorIndexEntry, VectorIndexUser } from "../../ports/vector-index.ts";
import {
  EAST,
  findNearestIds,
  INDEX_ANN,
  INDEX_BOB,
  makeEntry,
  makeRandomVectors,
  makeUnitVector,
  NORTH,
  NORTH_EAST,
  readIds,
  SPACE,
  type VectorIndexCases,
  WEST,
  waitUntilPassing,
} from "./index-fixtures.ts";

/** Users whose names fall into one where an adapter glues, folds, cuts or escapes them. */
const LIKE_EACH_OTHER: readonly VectorIndexUser[] = [
  { project: "a", user: "b:c" },
  { project: "a:b", user: "c" },
  { project: "a", user: "b/c" },
  { project: "a/b", user: "c" },
  { project: "a", user: "b_c" },
  { project: "a", user: "B:C" },
  { project: "a", user: "b%3Ac" },
  { project: "b", user: "b:c" },
  { project: "a", user: "Zoë 🦄 'x' \"y\" *{}" },
  { project: "a", user: "Zoë 🦄 'x' \"y\" *{} " },
  { project: "a", user: "u".repeat(512) },
  { project: "a", user: `${"u".repeat(511)}v` },
  { project: "default", user: "*" },
  { project: "default", user: "ann" },
  // Nobody's: where the engine marks what it has filled.
  { project: "\u0001", user: "\u0001" },
];

/** Ids as users' messages bring them: any text of up to 512 bytes, and a mark of the passage behind it. */
const ODD_IDS: readonly string[] = [
  "7f3a#0",
  "with space",
  "Ünïcödé 🦄",
  "quote ' and \" and \\",
  "a/b:c,d{e}*",
  "a/b:c,d{e}",
  "m".repeat(500),
  `${"m".repeat(499)}n`,
  "CASE",
  "case",
  "%41",
  "A",
  "0",
];

/** Every filter that the metadata of a search unit can be asked by, with each operator at least once. */
const FILTERS: readonly Where[] = [
  { type: "passage" },
  { type: { $eq: "memory" } },
  { type: { $ne: "memory" } },
  { session: { $in: ["monday", "tuesday"] } },
  { kind: "fact" },
  { at: { $gte: 2000 } },
  { at: { $gt: 1000, $lt: 3000 } },
  { $and: [{ type: "memory" }, { at: { $lte: 3000 } }] },
  { $or: [{ kind: "event" }, { session: "tuesday" }] },
];

const FILTERED: readonly VectorIndexEntry[] = [
  makeEntry("a", EAST, { type: "memory", at: 1000, kind: "fact" }),
  makeEntry("b", NORTH, { type: "memory", at: 2000, kind: "event", session: "monday" }),
  makeEntry("c", NORTH_EAST, { type: "passage", at: 3000, session: "tuesday" }),
  makeEntry("d", WEST, { type: "passage", at: 4000, session: "friday" }),
];

const MANY = 1200;

/** Whose an entry is, by what name it goes, and what is found among many. */
export const VECTOR_SEARCH_CASES: VectorIndexCases = {
  "knows users apart, whatever their names are": async (follower) => {
    for (const [i, user] of LIKE_EACH_OTHER.entries()) {
      await follower.put(user, [makeEntry("same", EAST), makeEntry(`own-${i}`, NORTH)]);
    }
    await waitUntilPassing(async () => {
      for (const [i, user] of LIKE_EACH_OTHER.entries()) {
        expect(await readIds(follower, user)).toEqual([`own-${i}`, "same"]);
        expect(await findNearestIds(follower, user, makeUnitVector(NORTH), { limit: 10 })).toEqual([
          `own-${i}`,
          "same",
        ]);
        expect(await follower.held(user, ["own-0", "own-1", `own-${i}`])).toContain(`own-${i}`);
      }
    });
    await follower.dropUser({ project: "a", user: "b:c" });
    await follower.drop({ project: "a", user: "b_c" }, ["same"]);
    await waitUntilPassing(async () => {
      const left = await Promise.all(
        LIKE_EACH_OTHER.map(async (user) => (await readIds(follower, user)).length),
      );
      expect(left).toEqual(LIKE_EACH_OTHER.map((_user, i) => (i === 0 ? 0 : i === 4 ? 1 : 2)));
    });
  },

  "gives back every id as it came": async (follower) => {
    await follower.put(
      INDEX_ANN,
      ODD_IDS.map((id, i) => makeEntry(id, [1, i / 10])),
    );
    await waitUntilPassing(async () => {
      expect(await readIds(follower, INDEX_ANN)).toEqual([...ODD_IDS].sort());
      expect((await follower.held(INDEX_ANN, ODD_IDS)).sort()).toEqual([...ODD_IDS].sort());
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector([1, 0]), { limit: 50 })).toEqual(
        ODD_IDS,
      );
    });
    await follower.drop(INDEX_ANN, ODD_IDS.slice(1));
    await waitUntilPassing(async () =>
      expect(await readIds(follower, INDEX_ANN)).toEqual(ODD_IDS.slice(0, 1)),
    );
  },

  "takes, finds and drops more than fits into one request": async (follower) => {
    const vectors = makeRandomVectors(MANY, SPACE.dimensions);
    const all = vectors.map((vector, i) => makeEntry(`e${i}`, vector, { owner: `owner of ${i}` }));
    const ids = all.map(({ id }) => id).sort();
    await follower.put(INDEX_ANN, all);
    await waitUntilPassing(async () => expect(await readIds(follower, INDEX_ANN)).toEqual(ids));
    expect((await follower.held(INDEX_ANN, [...ids, "never"])).sort()).toEqual(ids);
    await follower.drop(INDEX_ANN, ids.slice(5));
    await waitUntilPassing(async () => expect(await readIds(follower, INDEX_ANN)).toEqual(ids.slice(0, 5)));
  },

  "finds nine in ten of the nearest that an exact search finds": async (follower) => {
    const vectors = makeRandomVectors(600, SPACE.dimensions, 7);
    await follower.put(
      INDEX_ANN,
      vectors.map((vector, i) => makeEntry(`e${i}`, vector)),
    );
    await follower.put(
      INDEX_BOB,
      makeRandomVectors(200, SPACE.dimensions, 8).map((vector, i) => makeEntry(`b${i}`, vector)),
    );
    const asked = makeRandomVectors(20, SPACE.dimensions, 9);
    await waitUntilPassing(async () => {
      const shares = await Promise.all(asked.map((vector) => measureRecall(follower, vectors, vector)));
      expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThanOrEqual(0.9);
    });
  },

  "narrows by metadata, or says that it cannot": async (follower) => {
    await follower.put(INDEX_ANN, FILTERED);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(follower, INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toHaveLength(4);
    });
    for (const where of FILTERS) {
      const wanted = FILTERED.filter(({ metadata }) => matchesFilter(where, { ...metadata })).map(
        ({ id }) => id,
      );
      const found = await findNearestIds(follower, INDEX_ANN, makeUnitVector(EAST), {
        limit: 10,
        where,
      }).catch((error: unknown) => {
        if (isMemoryError(error) && error.code === "unsupported") return undefined;
        throw error;
      });
      if (found) expect({ where, found: found.sort() }).toEqual({ where, found: wanted });
    }
  },
};

/** How many of the ten nearest of an exact search are among the ten that a follower gives. */
async function measureRecall(
  follower: VectorIndex,
  vectors: readonly Float32Array[],
  asked: Float32Array,
): Promise<number> {
  const cosines = vectors.map((vector) => vector.reduce((sum, part, i) => sum + part * (asked[i] ?? 0), 0));
  const exact = cosines
    .map((score, i) => ({ id: `e${i}`, score }))
    .sort((one, other) => other.score - one.score)
    .slice(0, 10);
  const found = new Set(await findNearestIds(follower, INDEX_ANN, asked, { limit: 10 }));
  return exact.filter(({ id }) => found.has(id)).length / exact.length;
}
