import { expect, it } from "vitest";
import { createLruCache } from "./lru-cache.ts";

const HOUR_MS = 3_600_000;

it("drops the least recently used value if there are too many", () => {
  const held = createLruCache<number>({ most: 2, idleMs: HOUR_MS });
  held.set("a", 1);
  held.set("b", 2);
  held.get("a");
  held.set("c", 3);
  expect([held.get("a"), held.get("b"), held.get("c")]).toEqual([1, undefined, 3]);
});

it("drops values that are too large together, including one that has grown", () => {
  const dropped: string[] = [];
  const held = createLruCache<{ name: string; bytes: number }>({
    most: 100,
    idleMs: HOUR_MS,
    mostBytes: 10,
    sizeOf: ({ bytes }) => bytes,
    onDrop: ({ name }) => dropped.push(name),
  });
  const [one, two, three] = ["one", "two", "three"].map((name) => ({ name, bytes: 3 }));
  for (const value of [one, two, three]) if (value) held.set(value.name, value);
  expect(dropped).toEqual([]);
  if (three) {
    three.bytes = 6;
    held.set(three.name, three);
  }
  expect(dropped).toEqual(["one"]);
  expect([...held.values()].map(({ name }) => name)).toEqual(["two", "three"]);
  held.delete("three");
  held.set("four", { name: "four", bytes: 11 });
  expect([...held.values()]).toEqual([]);
});

it("drops a value that was unused for too long", async () => {
  const dropped: number[] = [];
  const held = createLruCache<number>({ most: 100, idleMs: 20, onDrop: (value) => dropped.push(value) });
  held.set("a", 1);
  held.set("b", 2);
  // Nothing is asked and nothing is set.
  await expect.poll(() => [...held.values()]).toEqual([]);
  expect(dropped).toEqual([1, 2]);
  expect(held.get("b")).toBeUndefined();
});
