import { expect } from "vitest";
import { matchesFilter, type Where } from "../../domain/filters/metadata-filter.ts";
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

/** Users whose names collide if an adapter concatenates, folds, truncates or escapes them wrongly. */
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
  // No user's: the engine keeps its marker for filled indexes here.
  { project: "\u0001", user: "\u0001" },
];

/** Ids as users' messages bring them: any text of up to 512 bytes, followed by the passage's number. */
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

/** Every filter that a search unit's metadata supports, with each operator at least once. */
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

/** Cases about users, ids, filters and large numbers of entries. */
export const VECTOR_SEARCH_CASES: VectorIndexCases = {
  "keeps users apart whatever their names": async (vectorIndex) => {
    for (const [i, user] of LIKE_EACH_OTHER.entries()) {
      await vectorIndex.put(user, [makeEntry("same", EAST), makeEntry(`own-${i}`, NORTH)]);
    }
    await waitUntilPassing(async () => {
      for (const [i, user] of LIKE_EACH_OTHER.entries()) {
        expect(await readIds(vectorIndex, user)).toEqual([`own-${i}`, "same"]);
        expect(await findNearestIds(vectorIndex, user, makeUnitVector(NORTH), { limit: 10 })).toEqual([
          `own-${i}`,
          "same",
        ]);
        expect(await vectorIndex.held(user, ["own-0", "own-1", `own-${i}`])).toContain(`own-${i}`);
      }
    });
    await vectorIndex.dropUser({ project: "a", user: "b:c" });
    await vectorIndex.drop({ project: "a", user: "b_c" }, ["same"]);
    await waitUntilPassing(async () => {
      const left = await Promise.all(
        LIKE_EACH_OTHER.map(async (user) => (await readIds(vectorIndex, user)).length),
      );
      expect(left).toEqual(LIKE_EACH_OTHER.map((_user, i) => (i === 0 ? 0 : i === 4 ? 1 : 2)));
    });
  },

  "returns every id unchanged": async (vectorIndex) => {
    await vectorIndex.put(
      INDEX_ANN,
      ODD_IDS.map((id, i) => makeEntry(id, [1, i / 10])),
    );
    await waitUntilPassing(async () => {
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual([...ODD_IDS].sort());
      expect((await vectorIndex.held(INDEX_ANN, ODD_IDS)).sort()).toEqual([...ODD_IDS].sort());
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector([1, 0]), { limit: 50 })).toEqual(
        ODD_IDS,
      );
    });
    await vectorIndex.drop(INDEX_ANN, ODD_IDS.slice(1));
    await waitUntilPassing(async () =>
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(ODD_IDS.slice(0, 1)),
    );
  },

  "stores, finds and drops more entries than fit into one request": async (vectorIndex) => {
    const vectors = makeRandomVectors(MANY, SPACE.dimensions);
    const all = vectors.map((vector, i) => makeEntry(`e${i}`, vector, { owner: `owner of ${i}` }));
    const ids = all.map(({ id }) => id).sort();
    await vectorIndex.put(INDEX_ANN, all);
    await waitUntilPassing(async () => expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(ids));
    expect((await vectorIndex.held(INDEX_ANN, [...ids, "never"])).sort()).toEqual(ids);
    await vectorIndex.drop(INDEX_ANN, ids.slice(5));
    await waitUntilPassing(async () =>
      expect(await readIds(vectorIndex, INDEX_ANN)).toEqual(ids.slice(0, 5)),
    );
  },

  "finds nine in ten of the exact nearest": async (vectorIndex) => {
    const vectors = makeRandomVectors(600, SPACE.dimensions, 7);
    await vectorIndex.put(
      INDEX_ANN,
      vectors.map((vector, i) => makeEntry(`e${i}`, vector)),
    );
    await vectorIndex.put(
      INDEX_BOB,
      makeRandomVectors(200, SPACE.dimensions, 8).map((vector, i) => makeEntry(`b${i}`, vector)),
    );
    const queries = makeRandomVectors(20, SPACE.dimensions, 9);
    await waitUntilPassing(async () => {
      const shares = await Promise.all(queries.map((vector) => measureRecall(vectorIndex, vectors, vector)));
      expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThanOrEqual(0.9);
    });
  },

  "filters by metadata, or throws unsupported": async (vectorIndex) => {
    await vectorIndex.put(INDEX_ANN, FILTERED);
    await waitUntilPassing(async () => {
      expect(await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector(EAST), { limit: 10 })).toHaveLength(
        4,
      );
    });
    for (const where of FILTERS) {
      const wanted = FILTERED.filter(({ metadata }) => matchesFilter(where, { ...metadata })).map(
        ({ id }) => id,
      );
      const found = await findNearestIds(vectorIndex, INDEX_ANN, makeUnitVector(EAST), {
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

/** How many of the ten exact nearest are among the ten that a vector index returns. */
async function measureRecall(
  vectorIndex: VectorIndex,
  vectors: readonly Float32Array[],
  query: Float32Array,
): Promise<number> {
  const cosines = vectors.map((vector) => vector.reduce((sum, part, i) => sum + part * (query[i] ?? 0), 0));
  const exact = cosines
    .map((score, i) => ({ id: `e${i}`, score }))
    .sort((one, other) => other.score - one.score)
    .slice(0, 10);
  const found = new Set(await findNearestIds(vectorIndex, INDEX_ANN, query, { limit: 10 }));
  return exact.filter(({ id }) => found.has(id)).length / exact.length;
}
