import { describe, expect, it } from "vitest";
import { askers } from "./asked.ts";
import { person } from "./made-up.ts";
import { topOf } from "./vectors.ts";

describe("a made-up person", () => {
  it("says the same under the same number, and others say something else", () => {
    expect(person(3).said(17)).toEqual(person(3).said(17));
    expect(person(3).said(17).content).not.toBe(person(3).said(18).content);
    expect(person(3).said(17).content).not.toBe(person(4).said(17).content);
  });

  it("says in each message what its memory claims", () => {
    for (let number = 0; number < 50; number += 1) {
      const { content, memory } = person(1).said(number);
      const quote = content.slice(memory.start, memory.end);
      expect(quote).toContain(`${memory.claim.value} ${memory.claim.qualifier}.`);
    }
  });

  it("uses few words often and many rarely", () => {
    const counts = new Map<string, number>();
    for (let number = 0; number < 5000; number += 1) {
      for (const word of new Set(person(2).said(number).memory.claim.value.split(" ").slice(1))) {
        counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
    expect(counts.size).toBeGreaterThan(1500);
    expect(Math.max(...counts.values())).toBeGreaterThan(50);
    expect(Math.max(...counts.values())).toBeLessThan(500);
  });

  it("is never asked the same twice", () => {
    const asker = askers(20)(1);
    const asked = Array.from({ length: 1000 }, () => asker.ask());
    expect(new Set(asked).size).toBe(1000);
  });
});

it("the ten nearest are the highest ten, in order", () => {
  const scores = Float32Array.from({ length: 500 }, (_, i) => ((i * 7919) % 503) / 503);
  const sorted = [...scores].sort((one, other) => other - one).slice(0, 10);
  expect(topOf(scores).map(({ score }) => score)).toEqual(sorted);
});
