import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countInBytes, createRawSearch } from "./file-scan.ts";

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
