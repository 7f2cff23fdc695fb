import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { countInFile, rawSearch } from "./raw-search.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-raw-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Counting by the book: every place where a text of ASCII begins, in any case. */
function plain(text: string, all: string): number {
  let count = 0;
  for (let at = 0; at < all.length; at += 1) {
    if (all.toLowerCase().startsWith(text.toLowerCase(), at)) count += 1;
  }
  return count;
}

describe("searching raw bytes", () => {
  it("counts what a search letter by letter counts", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "A", "B"), minLength: 4, maxLength: 6 });
    const all = fc.string({ unit: fc.constantFrom("a", "b", "A", "B", " "), maxLength: 200 });
    fc.assert(
      fc.property(fc.uniqueArray(letters, { maxLength: 4 }), all, (texts, held) => {
        const counts = texts.map(() => 0);
        rawSearch(texts).count(Buffer.from(held), counts);
        expect(counts).toEqual(texts.map((text) => plain(text, held)));
      }),
    );
  });

  it("finds what lies across two pieces of a file, once", async () => {
    const path = join(folder, "large");
    const bytes = Buffer.alloc(9 * 1024 * 1024, " ");
    const places = [0, 4 * 1024 * 1024 - 3, 8 * 1024 * 1024 - 10, bytes.length - 6];
    for (const place of places) bytes.write("Magnet", place);
    writeFileSync(path, bytes);
    const counts = [0, 0];
    await countInFile(path, rawSearch(["magnet", "a much longer text that is not there"]), counts);
    expect(counts).toEqual([4, 0]);
  });

  it("leaves out texts of fewer than four bytes, and takes a file that is gone for an empty one", async () => {
    expect(rawSearch(["61k", "a"]).isEmpty).toBe(true);
    const counts = [0];
    await countInFile(join(folder, "nowhere"), rawSearch(["Magnet"]), counts);
    expect(counts).toEqual([0]);
  });
});
