import { expect, it } from "vitest";
import { cacheConformance } from "../../testing/cache-conformance.ts";
import { memoryCache } from "./cache.ts";

cacheConformance({ name: "memory", open: async (options) => memoryCache(options) });

it("evicts the oldest entries when the cache is full", async () => {
  const cache = memoryCache({ clock: () => new Date(0), bytes: 25_000 });
  for (const user of ["ana", "ben", "eve"]) {
    await cache.put({ project: "p", user }, "name", new Uint8Array(10_000));
  }
  const left = ["ana", "ben", "eve"].map((user) => cache.get({ project: "p", user }, "name"));
  expect((await Promise.all(left)).map((bytes) => bytes?.length)).toEqual([undefined, 10_000, 10_000]);
});
