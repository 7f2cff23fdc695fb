import { describe, expect, it } from "vitest";
import { interval } from "./bootstrap.ts";

describe("The interval of a mean", () => {
  it("is near the one that statistics gives", () => {
    const shares = Array.from({ length: 400 }, (_, i) => (i % 4 === 0 ? 1 : 0));
    const [low, high] = interval(shares);
    // 25 ± 1.96 · 100 · √(0.25 · 0.75 / 400)
    expect(low).toBeCloseTo(20.8, 0);
    expect(high).toBeCloseTo(29.2, 0);
  });

  it("is the same each time, and nothing but the mean where all are alike", () => {
    expect(interval([0, 1, 1, 0, 1])).toEqual(interval([0, 1, 1, 0, 1]));
    expect(interval([1, 1, 1])).toEqual([100, 100]);
  });
});
