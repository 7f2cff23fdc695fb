import { expect, it } from "vitest";
import { cacheByHash } from "./prompt-block.ts";

it("computes a value once for each text and kind", () => {
  const made: string[] = [];
  const lengthOf = cacheByHash((text, of: "one" | "other") => {
    made.push(`${of} ${text}`);
    return text.length;
  });
  for (let i = 0; i < 3; i += 1) {
    expect([lengthOf("tea", "one"), lengthOf("tea", "other"), lengthOf("milk", "one")]).toEqual([3, 3, 4]);
  }
  expect(made).toEqual(["one tea", "other tea", "one milk"]);
});

it("keeps at most 20,000 values, and those that are used again", () => {
  let made = 0;
  const count = cacheByHash((text) => {
    made += 1;
    return text.length;
  });
  for (let i = 0; i < 100_000; i += 1) {
    count(`${i}`, "");
    if (i % 5000 === 0) count("0", "");
  }
  count("99999", "");
  count("0", "");
  expect(made).toBe(100_000);
  count("1", "");
  count("79000", "");
  expect(made).toBe(100_002);
});
