import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createJsonScan, JSON_LIMITS, LONG_BYTES } from "./json-scan.ts";
import { toProblem } from "./problem.ts";

/** Takes a text in pieces of so many bytes, and gives the long strings. */
function scanned(json: string | Uint8Array, piece = 65_536): { start: number; end: number }[] {
  const bytes = Buffer.from(json);
  const scan = createJsonScan();
  for (let at = 0; at < bytes.length; at += piece) scan.take(bytes.subarray(at, at + piece));
  return [...scan.long];
}

function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    const { status, detail } = toProblem(error);
    return `${status} ${detail}`;
  }
  return "none";
}

describe("a scan of JSON", () => {
  it("finds long strings, however the text is split and escaped", () => {
    const letter = fc.constantFrom('"', "\\", "a", "é", "😀", "\n", "[", "{", ",");
    const text = fc.oneof(
      fc.string({ unit: letter, maxLength: 40 }),
      fc.string({ unit: letter, minLength: LONG_BYTES, maxLength: LONG_BYTES + 60 }),
    );
    const property = fc.property(
      fc.array(text, { maxLength: 6 }),
      fc.integer({ min: 1, max: 700 }),
      (texts, piece) => {
        const json = JSON.stringify({ texts });
        const found = scanned(json, piece).map(({ start, end }) =>
          Buffer.from(json).subarray(start, end).toString(),
        );
        const inner = texts.map((one) => JSON.stringify(one).slice(1, -1));
        expect(found).toEqual(inner.filter((one) => Buffer.byteLength(one) >= LONG_BYTES));
      },
    );
    fc.assert(property, { numRuns: 150 });
  });

  const { depth, containers, members, strings, values } = JSON_LIMITS;
  const list = (count: number, one: (number: number) => string): string =>
    `[${Array.from({ length: count }, (_, i) => one(i)).join(",")}]`;
  const CASES: readonly (readonly [string, string, string])[] = [
    ["nested as deep as may be", `${"[".repeat(depth)}${"]".repeat(depth)}`, "none"],
    [
      "nested one level deeper",
      `${"[".repeat(depth + 1)}`,
      `400 The body is nested deeper than ${depth} levels.`,
    ],
    ["of many brackets in a string", JSON.stringify("[{".repeat(100_000)), "none"],
    [
      "of many objects",
      list(containers, () => "{}"),
      "400 The body contains too much: at most 30,000 arrays and objects.",
    ],
    [
      "of many fields",
      `{${list(members + 1, (i) => `"k${i}":1`).slice(1, -1)}}`,
      "400 The body contains too much: at most 30,000 fields.",
    ],
    [
      "of many strings",
      list(strings + 1, () => '"s"'),
      "400 The body contains too much: at most 60,000 strings.",
    ],
    [
      "of many numbers",
      list(values + 1, () => "1"),
      "400 The body contains too much: at most 400,000 values.",
    ],
    ["of as many numbers as tokens are sent at once", list(300_000, () => "1"), "none"],
  ];
  it.each(CASES)("of a text %s gives the documented response", (_title, json, answer) => {
    expect(refusalOf(() => scanned(json))).toBe(answer);
  });

  it("stops at the chunk that exceeds a limit", () => {
    const scan = createJsonScan();
    expect(refusalOf(() => scan.take(Buffer.from("[".repeat(65_536))))).toContain("nested deeper");
  });
});
