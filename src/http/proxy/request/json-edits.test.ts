import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyJsonEdits, findValue, listMembers, removeMembers } from "./json-edits.ts";

const cut = (json: string, path: readonly (string | number)[]): string | undefined => {
  const place = findValue(json, path);
  return place && json.slice(place.start, place.end);
};

type Path = readonly (string | number)[];

/** Every value of a document, with the way to it. */
function valuesIn(held: unknown, path: Path): { held: unknown; path: Path }[] {
  const inner = Array.isArray(held) ? [...held.entries()] : Object.entries(Object(held) as object);
  const isBare = typeof held !== "object";
  return [{ held, path }, ...(isBare ? [] : inner.flatMap(([step, one]) => valuesIn(one, [...path, step])))];
}

describe("positions in JSON", () => {
  it("are found for every value of any document, whatever its formatting", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t \r"), (value, spaces) => {
        const json = JSON.stringify(value, undefined, spaces);
        for (const { held, path } of valuesIn(JSON.parse(json), []))
          expect(JSON.parse(cut(json, path) ?? "nothing")).toEqual(held);
      }),
      { numRuns: 200 },
    );
  });

  it("are undefined for a missing value", () => {
    expect([cut('{"a":[1]}', ["a", 1]), cut('{"a":[1]}', ["b"]), cut("7", ["a"])]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("are those of the last of two members with one name, as in a parser", () => {
    expect(cut('{"a":1,"a":2}', ["a"])).toBe("2");
  });

  it("leave every other byte unchanged when a member is removed", () => {
    const json = ' { "seed" : 9007199254740993 , "api_base":"x", "t": 1.0 }';
    expect(applyJsonEdits(json, removeMembers(json, new Set(["api_base"])))).toBe(
      ' { "seed" : 9007199254740993,"t": 1.0 }',
    );
    expect(removeMembers(json, new Set(["other"]))).toEqual([]);
    expect(applyJsonEdits('{"a":1}', removeMembers('{"a":1}', new Set(["a"])))).toBe("{}");
  });

  it("are found for names with escapes", () => {
    expect(listMembers('{"api\\u005fbase":1}', 0)[0]?.name).toBe("api_base");
  });
});
