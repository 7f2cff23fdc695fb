import { expect } from "vitest";
import {
  ANN,
  BOB,
  EAST,
  entry,
  expectHits,
  type FollowerCases,
  idsOf,
  NORTH,
  NORTH_EAST,
  nearestIds,
  SPACE,
  settled,
  unitVector,
  WEST,
} from "./follower-entries.ts";
import { SEARCH_CASES } from "./follower-search-cases.ts";

/** What every follower does; the title says it. */
export const FOLLOWER_CASES: FollowerCases = {
  ...SEARCH_CASES,

  "holds nothing at first": async (follower) => {
    expect(await follower.nearest(ANN, unitVector(EAST), { limit: 10 })).toEqual([]);
    expect(await follower.held(ANN, ["a"])).toEqual([]);
    expect(await idsOf(follower, ANN)).toEqual([]);
  },

  "gives the nearest first, with the cosine as the score": async (follower) => {
    await follower.put(ANN, [
      entry("west", WEST),
      entry("north", NORTH),
      entry("east", EAST),
      entry("ne", NORTH_EAST),
    ]);
    await settled(async () => {
      const hits = await follower.nearest(ANN, unitVector(EAST), { limit: 10 });
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
    await follower.put(ANN, [entry("east", EAST), entry("north", NORTH), entry("ne", NORTH_EAST)]);
    await settled(async () => {
      expect(await nearestIds(follower, ANN, unitVector(EAST), { limit: 2 })).toEqual(["east", "ne"]);
      expect(await nearestIds(follower, ANN, unitVector(NORTH), { limit: 1 })).toEqual(["north"]);
    });
  },

  "puts an entry in place of the one of the same id": async (follower) => {
    await follower.put(ANN, [entry("one", EAST, { at: 1000 }), entry("other", NORTH_EAST)]);
    await follower.put(ANN, [entry("one", NORTH, { at: 2000 })]);
    await settled(async () => {
      expect(await nearestIds(follower, ANN, unitVector(EAST), { limit: 10 })).toEqual(["other", "one"]);
      expect(await idsOf(follower, ANN)).toEqual(["one", "other"]);
    });
  },

  "keeps the last of two entries of one id in one go": async (follower) => {
    await follower.put(ANN, [entry("one", EAST), entry("two", NORTH_EAST), entry("one", NORTH)]);
    await settled(async () => {
      expect(await nearestIds(follower, ANN, unitVector(NORTH), { limit: 10 })).toEqual(["one", "two"]);
    });
  },

  "does nothing where nothing is to be done": async (follower) => {
    await follower.put(ANN, []);
    await follower.drop(ANN, []);
    await follower.drop(ANN, ["never"]);
    await follower.dropUser(ANN);
    expect(await follower.held(ANN, [])).toEqual([]);
    expect(await idsOf(follower, ANN)).toEqual([]);
  },

  "drops what it is told to, and nothing else": async (follower) => {
    await follower.put(ANN, [entry("east", EAST), entry("north", NORTH), entry("ne", NORTH_EAST)]);
    await follower.put(BOB, [entry("east", EAST)]);
    await follower.drop(ANN, ["east", "never"]);
    await settled(async () => {
      expect(await follower.held(ANN, ["east", "north", "ne"])).toHaveLength(2);
      expect(await nearestIds(follower, ANN, unitVector(EAST), { limit: 10 })).toEqual(["ne", "north"]);
      expect(await idsOf(follower, ANN)).toEqual(["ne", "north"]);
      expect(await follower.held(BOB, ["east"])).toEqual(["east"]);
    });
  },

  "drops a user whole, and nobody else": async (follower) => {
    await follower.put(ANN, [entry("east", EAST), entry("north", NORTH)]);
    await follower.put(BOB, [entry("east", EAST)]);
    await follower.dropUser(ANN);
    await settled(async () => {
      expect(await idsOf(follower, ANN)).toEqual([]);
      expect(await follower.held(ANN, ["east", "north"])).toEqual([]);
      expect(await follower.nearest(ANN, unitVector(EAST), { limit: 10 })).toEqual([]);
      expect(await idsOf(follower, BOB)).toEqual(["east"]);
    });
  },

  "takes back in what it dropped": async (follower) => {
    await follower.put(ANN, [entry("east", EAST)]);
    await follower.drop(ANN, ["east"]);
    await follower.put(ANN, [entry("east", NORTH)]);
    await follower.dropUser(ANN);
    await follower.put(ANN, [entry("east", WEST)]);
    await settled(async () => {
      const hits = await follower.nearest(ANN, unitVector(WEST), { limit: 10 });
      expectHits(hits, [{ id: "east", score: 1 }]);
    });
  },

  "refuses vectors of another length": async (follower) => {
    await expect(follower.put(ANN, [entry("short", unitVector([1], 3))])).rejects.toMatchObject({
      code: "invalid_input",
    });
    await expect(follower.nearest(ANN, unitVector([1], 3), { limit: 1 })).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect(await idsOf(follower, ANN)).toEqual([]);
  },

  "keeps what it has when it is prepared once more": async (follower) => {
    await follower.put(ANN, [entry("east", EAST)]);
    await follower.prepare(SPACE);
    await settled(async () => expect(await idsOf(follower, ANN)).toEqual(["east"]));
  },

  "lets go of entries of another space": async (follower) => {
    await follower.put(ANN, [entry("east", EAST)]);
    await follower.prepare({ fingerprint: "another/8 2", dimensions: 8 });
    await settled(async () => {
      expect(await idsOf(follower, ANN)).toEqual([]);
      expect(await follower.nearest(ANN, unitVector(EAST), { limit: 10 })).toEqual([]);
    });
    await follower.prepare({ fingerprint: "another/12 2", dimensions: 12 });
    await follower.put(ANN, [entry("wide", unitVector([1, 1], 12))]);
    await settled(async () => {
      expect(await nearestIds(follower, ANN, unitVector([1, 1], 12), { limit: 10 })).toEqual(["wide"]);
    });
    await follower.prepare(SPACE);
    expect(await idsOf(follower, ANN)).toEqual([]);
  },

  "clears everything of everybody, and takes in anew": async (follower) => {
    await follower.put(ANN, [entry("east", EAST)]);
    await follower.put({ project: "another", user: "ann" }, [entry("east", EAST)]);
    await follower.clear();
    await follower.prepare(SPACE);
    await settled(async () => {
      expect(await idsOf(follower, ANN)).toEqual([]);
      expect(await idsOf(follower, { project: "another", user: "ann" })).toEqual([]);
    });
    await follower.put(ANN, [entry("north", NORTH)]);
    await settled(async () => expect(await idsOf(follower, ANN)).toEqual(["north"]));
  },

  "takes in several users at once": async (follower) => {
    const users = Array.from({ length: 12 }, (_one, i) => ({ project: "default", user: `user ${i}` }));
    await Promise.all(
      users.map((user, i) => follower.put(user, [entry("east", EAST), entry(`own ${i}`, NORTH)])),
    );
    await settled(async () => {
      for (const [i, user] of users.entries())
        expect(await idsOf(follower, user)).toEqual(["east", `own ${i}`]);
    });
  },

  "keeps a copy of what it is given": async (follower) => {
    const given = entry("east", EAST);
    await follower.put(ANN, [given]);
    given.vector.fill(0.1);
    await settled(async () => {
      const hits = await follower.nearest(ANN, unitVector(EAST), { limit: 1 });
      expectHits(hits, [{ id: "east", score: 1 }]);
    });
  },

  "passes on the reason of whoever breaks off": async (follower) => {
    await follower.put(ANN, [entry("east", EAST)]);
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(follower.put(ANN, [entry("north", NORTH)], { signal })).rejects.toBe(reason);
    await expect(follower.nearest(ANN, unitVector(EAST), { limit: 1, signal })).rejects.toBe(reason);
    await expect(follower.held(ANN, ["east"], { signal })).rejects.toBe(reason);
    await expect(follower.drop(ANN, ["east"], { signal })).rejects.toBe(reason);
    await expect(follower.dropUser(ANN, { signal })).rejects.toBe(reason);
    await expect(idsOf(follower, ANN, { signal })).rejects.toBe(reason);
    await settled(async () => expect(await idsOf(follower, ANN)).toEqual(["east"]));
  },

  "is not to be had once it is closed": async (follower) => {
    await follower.close();
    await expect(follower.put(ANN, [entry("east", EAST)])).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.nearest(ANN, unitVector(EAST), { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(follower.held(ANN, ["east"])).rejects.toMatchObject({ code: "unavailable" });
    await follower.close();
  },
};
