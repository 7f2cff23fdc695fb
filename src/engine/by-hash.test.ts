import { expect, it } from "vitest";
import { byHash } from "./by-hash.ts";

it("is made once of the same text, and of each kind", () => {
  const made: string[] = [];
  const lengthOf = byHash((text, of: "one" | "other") => {
    made.push(`${of} ${text}`);
    return text.length;
  });
  for (let i = 0; i < 3; i += 1) {
    expect([lengthOf("tea", "one"), lengthOf("tea", "other"), lengthOf("milk", "one")]).toEqual([3, 3, 4]);
  }
  expect(made).toEqual(["one tea", "other tea", "one milk"]);
});

it("forgets when there is too much of it", () => {
  let made = 0;
  const count = byHash((text) => {
    made += 1;
    return text.length;
  });
  for (let i = 0; i < 50_001; i += 1) count(`${i}`, "");
  count("50000", "");
  expect(made).toBe(50_001);
  count("0", "");
  expect(made).toBe(50_002);
});
