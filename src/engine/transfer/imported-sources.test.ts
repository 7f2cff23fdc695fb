import { describe, expect, it } from "vitest";
import type { SourceSpan } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { findStoredSources } from "./imported-sources.ts";

const AT = "2026-03-01T12:00:00.000Z";

/** Runs the search to its end, and counts the pauses that it offers. */
function search(
  content: string,
  sources: readonly Pick<SourceSpan, "start" | "quote">[],
): { readonly found: readonly SourceSpan[]; readonly pauses: number } {
  const message: Message = {
    id: "m",
    turn: 1,
    role: "user",
    content,
    origin: "import",
    at: AT,
    storedAt: AT,
    digest: "never",
  };
  const spans = sources.map(({ start, quote }) => ({
    message: "m",
    start,
    end: start + quote.length,
    quote,
  }));
  const steps = findStoredSources({ messages: new Map([["m", message]]) }, spans);
  for (let pauses = 0; ; pauses += 1) {
    const step = steps.next();
    if (step.done) return { found: step.value, pauses };
  }
}

const findAt = (content: string, quote: string, start: number): number | undefined =>
  search(content, [{ quote, start }]).found[0]?.start;

describe("the words of an imported source", () => {
  it.each([
    ["where the source names them", "tea and tea and tea", "tea", 8, 8],
    ["before that place, if they have moved up", "I like tea.", "tea", 9, 7],
    ["at the last place before, of several", "tea, tea, coffee", "tea", 9, 5],
    ["behind that place, if nothing is before", "Now I like tea.", "tea", 2, 11],
    ["behind a place that is beyond the text", "I like tea.", "tea", 900, 7],
  ])("are found %s", (_where, content, quote, start, at) => {
    expect(findAt(content, quote, start)).toBe(at);
  });

  it("are left out if the message does not contain them", () => {
    expect(
      search("I like tea.", [
        { quote: "coffee", start: 0 },
        { quote: "I like tea. Much.", start: 0 },
      ]).found,
    ).toEqual([]);
  });

  it("are found where a plain search finds them, in texts that repeat themselves", () => {
    let compared = 0;
    for (let content = 0; content < 256; content += 1) {
      const text = content.toString(2).padStart(8, "0");
      for (const quote of ["0", "01", "010", "0101", "0011", "00100"]) {
        for (let start = 0; start < 8; start += 1) {
          const before = text.lastIndexOf(quote, start);
          const expected = before >= 0 ? before : text.indexOf(quote, start);
          expect(findAt(text, quote, start) ?? -1).toBe(expected);
          compared += 1;
        }
      }
    }
    expect(compared).toBe(256 * 6 * 8);
  });

  // A search by `lastIndexOf` takes minutes here, in which nothing else runs.
  it("are searched in the longest text with pauses, even if it repeats itself", () => {
    const content = "a".repeat(1_000_000);
    const quote = `${"a".repeat(500_000)}b`;
    const { found, pauses } = search(
      content,
      Array.from({ length: 5 }, () => ({ quote, start: 900_000 })),
    );
    expect(found).toEqual([]);
    expect(pauses).toBeGreaterThanOrEqual(5 * 15);
  });
});
