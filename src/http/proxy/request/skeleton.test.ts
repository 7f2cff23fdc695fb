import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createJsonScan } from "../../json-scan.ts";
import { toProblem } from "../../problem.ts";
import { applyJsonEdits, findValue, removeMembers } from "./json-edits.ts";
import { MAX_PARSED_BYTES, restoreLongStrings, type TrimmedJson, trimLongStrings } from "./proxy-request.ts";

function skeleton(json: string): TrimmedJson {
  const bytes = Buffer.from(json);
  const scan = createJsonScan();
  scan.take(bytes);
  return trimLongStrings(bytes, scan.long);
}

const chatOf = (...contents: readonly string[]): string =>
  JSON.stringify({ api_base: "x", messages: contents.map((content) => ({ content })), n: 1 });

describe("the parsed part of a request", () => {
  it("is all of it up to four megabytes", () => {
    const json = chatOf("a".repeat(2_000_000));
    expect(skeleton(json)).toEqual({ json, cuts: [] });
  });

  it("beyond that has the first million bytes of a long string, and every byte is forwarded", () => {
    const json = chatOf("Hello.", "a".repeat(MAX_PARSED_BYTES));
    const read = skeleton(json);
    const [, long] = (JSON.parse(read.json) as { messages: { content: string }[] }).messages;
    expect(long?.content.length).toBe(1_000_000);
    expect(Buffer.from(restoreLongStrings(read, [])).toString()).toBe(json);
  });

  it("has less of each long string if there are many", () => {
    const json = chatOf(...Array.from({ length: 8 }, () => "a".repeat(1_000_000)));
    expect(skeleton(json).json.length).toBeLessThan(MAX_PARSED_BYTES);
    expect(Buffer.from(restoreLongStrings(skeleton(json), [])).toString()).toBe(json);
  });

  it("is refused if too much remains besides long strings", () => {
    try {
      skeleton(chatOf(...Array.from({ length: 5000 }, () => "a".repeat(1000))));
      expect.unreachable();
    } catch (error) {
      expect(toProblem(error)).toMatchObject({
        status: 400,
        detail: "The body contains too much besides long strings: at most 4,194,304 bytes.",
      });
    }
  });

  it("can be edited like the whole request, whatever the strings contain", () => {
    const letter = fc.constantFrom('"', "\\", "a", "é", "😀", "\n", "\u0007");
    const long = fc.string({ unit: letter, minLength: 40, maxLength: 60 }).map((text) => text.repeat(40_000));
    const property = fc.property(long, long, (one, other) => {
      const json = chatOf(one, other, "Hello.");
      const read = skeleton(json);
      expect(() => JSON.parse(read.json)).not.toThrow();
      const end = findValue(json, ["messages", 0, "content"])?.end ?? 0;
      const place = findValue(read.json, ["messages", 0, "content"])?.end ?? 0;
      const names = new Set(["api_base"]);
      const whole = applyJsonEdits(json, [
        { start: end - 1, end: end - 1, put: "!" },
        ...removeMembers(json, names),
      ]);
      const change = { start: place - 1, end: place - 1, put: "!" };
      const joined = restoreLongStrings(read, [change, ...removeMembers(read.json, names)]);
      expect(Buffer.from(joined).equals(Buffer.from(whole))).toBe(true);
    });
    fc.assert(property, { numRuns: 3 });
  });
});
