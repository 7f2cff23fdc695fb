import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countInBytes, createRawSearch } from "./raw-search.ts";

/** Counting by the book: every place where a text of ASCII begins, in any case. */
function plain(text: string, all: string): number {
  let count = 0;
  for (let at = 0; at < all.length; at += 1) {
    if (all.toLowerCase().startsWith(text.toLowerCase(), at)) count += 1;
  }
  return count;
}

describe("the search in raw bytes", () => {
  it("gives the same counts as a search letter by letter", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "A", "B"), minLength: 4, maxLength: 6 });
    const all = fc.string({ unit: fc.constantFrom("a", "b", "A", "B", " "), maxLength: 200 });
    fc.assert(
      fc.property(fc.uniqueArray(letters, { maxLength: 4 }), all, (texts, held) => {
        const counts = texts.map(() => 0);
        createRawSearch(texts).count(Buffer.from(held), counts);
        expect(counts).toEqual(texts.map((text) => plain(text, held)));
      }),
    );
  });

  it.each([
    ["short and long texts", 4, 90],
    ["long texts", 16, 120],
    ["texts of two to four letters more than a short one", 14, 18],
  ])("gives the same counts for %s, of which some are there", (_name, minLength, maxLength) => {
    const unit = fc.constantFrom("a", "B", "b", "`", "@", "é");
    const pieces = fc.array(fc.string({ unit, minLength, maxLength }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(), { maxLength: 60 }), (texts, order) => {
        const held = order.map((one, i) => `${texts[one % texts.length]}${" ".repeat(i % 3)}`).join("");
        const counts = texts.map(() => 0);
        createRawSearch(texts).count(Buffer.from(held), counts);
        expect(counts).toEqual(texts.map((text) => plain(text, held)));
      }),
      { numRuns: 300 },
    );
  });

  it("tells letters from signs that differ from them in the same bit as the cases do", () => {
    const counts = [0, 0];
    createRawSearch(["magnet", "a@b[c"]).count(
      Buffer.from("m\x41gnet MAGNET \x4d\x01gnet a`b{c A@B[C"),
      counts,
    );
    expect(counts).toEqual([2, 1]);
  });

  it("counts a text that spans two pieces of a file once", () => {
    const bytes = Buffer.alloc(9 * 1024 * 1024, " ");
    const places = [0, 4 * 1024 * 1024 - 3, 8 * 1024 * 1024 - 10, bytes.length - 6];
    for (const place of places) bytes.write("Magnet", place);
    let position = 0;
    const read = (buffer: Buffer, at: number, length: number): number => {
      const copied = bytes.copy(buffer, at, position, position + length);
      position += copied;
      return copied;
    };
    const counts = [0, 0];
    countInBytes(read, createRawSearch(["magnet", "a much longer text that is not there"]), counts);
    expect(counts).toEqual([4, 0]);
  });

  it("ignores texts of fewer than four bytes", () => {
    expect(createRawSearch(["61k", "a"]).isEmpty).toBe(true);
  });
});
