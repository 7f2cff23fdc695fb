import fc from "fast-check";
import { expect, it } from "vitest";
import { createWordIndex, hashTerm, type PostingRun, type WordIndex } from "./word-index.ts";

const TERMS = ["a", "b", "c", "d", "tea"];
const terms = fc.array(fc.constantFrom(...TERMS), { maxLength: 8 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: terms }) },
  { weight: 2, arbitrary: fc.record({ kill: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ pack: fc.boolean() }) },
);

/** Slot -> how often the term stands there, of what is there. */
function counted(words: WordIndex, term: string): Map<number, number> {
  const counts = new Map<number, number>();
  const take = ({ slots, counts: times, from, to }: PostingRun): void => {
    for (let i = from; i < to; i += 1) {
      const slot = slots[i] as number;
      if (words.isAlive(slot)) counts.set(slot, times[i] as number);
    }
  };
  words.postings(term).forEach(take);
  return counts;
}

interface Told {
  readonly words: WordIndex;
  readonly held: readonly { readonly text: readonly string[]; readonly slot: number }[];
}

/** The index after some steps, and what a plain list knows. */
function after(steps: readonly ({ add: string[] } | { kill: number } | { pack: boolean })[]): Told {
  let words = createWordIndex();
  const texts: (readonly string[])[] = [];
  const dead = new Set<number>();
  for (const one of steps) {
    if ("add" in one) words.add(texts.push(one.add) - 1, one.add);
    if ("kill" in one && one.kill < texts.length) {
      words.markDead(one.kill);
      dead.add(one.kill);
    }
    if (!("pack" in one)) continue;
    const packed = words.pack(texts.length);
    // Packed and used on, or kept and taken up again.
    if (one.pack) words = createWordIndex(packed, [...dead]);
  }
  return { words, held: texts.flatMap((text, slot) => (dead.has(slot) ? [] : [{ text, slot }])) };
}

it("gives the same results as a plain list after any additions, deletions and packings", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { words, held } = after(steps);
      expect(words.size).toBe(held.length);
      const total = held.reduce((sum, { text }) => sum + text.length, 0);
      expect(words.meanLength).toBe(total / held.length || 1);
      for (const term of TERMS) {
        const own = held.filter(({ text }) => text.includes(term));
        expect(words.frequency(term)).toBe(own.length);
        const counts = own.map(
          ({ text, slot }) => [slot, text.filter((word) => word === term).length] as const,
        );
        expect(counted(words, term)).toEqual(new Map(counts));
      }
    }),
  );
});

it("distinguishes words by their hashes, and stores none in clear text", () => {
  const many = Array.from({ length: 60_000 }, (_, i) => `word${i.toString(36)}`);
  expect(new Set(many.map(hashTerm)).size).toBe(many.length);
  const words = createWordIndex();
  words.add(0, ["marzipan"]);
  const { hashes, offsets, slots, counts, lengths } = words.pack(1);
  const bytes = [hashes, offsets, slots, counts, lengths].map(({ buffer }) =>
    Buffer.from(buffer).toString("latin1"),
  );
  expect(bytes.join("")).not.toContain("marzipan");
});
