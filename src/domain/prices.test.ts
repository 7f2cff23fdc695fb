import { describe, expect, it } from "vitest";
import { computeCost, LIST_PRICES, type Price, type PricedCall } from "./model-usage.ts";

const TODAY = "2026-11-21T10:00:00.000Z";

const call = (more: Partial<PricedCall> = {}): PricedCall => ({
  model: "gpt-4o-mini",
  host: "api.openai.com",
  tokensIn: 1_000_000,
  tokensCached: 0,
  tokensOut: 0,
  ...more,
});

describe("computeCost", () => {
  it("prices input, cached input and output separately", () => {
    expect(computeCost(call(), TODAY)).toBeCloseTo(0.15, 12);
    expect(computeCost(call({ tokensOut: 1_000_000 }), TODAY)).toBeCloseTo(0.75, 12);
    expect(computeCost(call({ tokensCached: 1_000_000 }), TODAY)).toBeCloseTo(0.075, 12);
    expect(computeCost(call({ tokensCached: 400_000, tokensOut: 100_000 }), TODAY)).toBeCloseTo(
      0.09 + 0.03 + 0.06,
      12,
    );
    expect(computeCost(call({ model: "text-embedding-3-small" }), TODAY)).toBeCloseTo(0.02, 12);
  });

  it("prices a dated version like its model, and not a model with a similar name", () => {
    for (const model of ["gpt-4o-mini-2024-07-18", "gpt-4o-mini"]) {
      expect(computeCost(call({ model }), TODAY)).toBeCloseTo(0.15, 12);
    }
    expect(computeCost(call({ model: "gpt-4-0613" }), TODAY)).toBeCloseTo(30, 12);
    expect(computeCost(call({ model: "gpt-4o-mini-audio-preview" }), TODAY)).toBeUndefined();
    expect(computeCost(call({ model: "my-gpt-4o-mini" }), TODAY)).toBeUndefined();
  });

  it("uses the price of the call's day, so a new price changes no past cost", () => {
    const o3 = (at: string) => computeCost(call({ model: "o3" }), at);
    expect([o3("2025-05-01T00:00:00Z"), o3("2025-06-09T23:59:59Z"), o3("2025-06-10T00:00:00Z")]).toEqual([
      10, 10, 2,
    ]);
    expect(o3("2025-01-01T00:00:00Z")).toBeUndefined();
  });

  it("returns undefined, not 0, for a model without a price", () => {
    expect(computeCost(call({ model: "qwen3:8b", host: "localhost:11434" }), TODAY)).toBeUndefined();
  });

  it("applies the caller's prices first: by host, by family, for all", () => {
    const own: readonly Price[] = [
      { model: "*", host: "localhost:11434", in: 0 },
      { model: "qwen3*", in: 0.3, out: 0.9 },
      { model: "qwen3:32b", in: 0.5 },
      { model: "gpt-4o-mini", in: 0.1 },
      { model: "gpt-4o-mini", from: "2027-01-01", in: 9 },
    ];
    expect(computeCost(call({ model: "qwen3:8b", host: "localhost:11434" }), TODAY, own)).toBe(0);
    expect(computeCost(call({ model: "qwen3:8b", host: "gpu:8000" }), TODAY, own)).toBeCloseTo(0.3, 12);
    expect(computeCost(call({ model: "qwen3:32b", host: "gpu:8000" }), TODAY, own)).toBeCloseTo(0.5, 12);
    expect(computeCost(call({ tokensCached: 500_000, tokensOut: 1_000_000 }), TODAY, own)).toBeCloseTo(
      0.1,
      12,
    );
    expect(computeCost(call({ model: "text-embedding-3-large" }), TODAY, own)).toBeCloseTo(0.13, 12);
  });

  it("never counts more cached tokens than input tokens", () => {
    expect(computeCost(call({ tokensCached: 9_000_000 }), TODAY)).toBeCloseTo(0.075, 12);
  });
});

it("list prices have dates, and cached input never costs more than uncached", () => {
  for (const { from, in: input, cached = 0, out = 0 } of LIST_PRICES) {
    expect(from).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(input).toBeGreaterThan(0);
    expect(cached).toBeLessThan(input);
    expect(out === 0 || out > input).toBe(true);
  }
});
