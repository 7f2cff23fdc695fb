import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CitationReader, createLenientCitationReader, createStrictCitationReader } from "./citations.ts";

const read = (reader: CitationReader, parts: readonly string[], isCut = false): string =>
  parts.map((part) => reader.take(part)).join("") + reader.end(isCut);

describe("an answer with required citations", () => {
  it.each([
    ["You live in Utrecht [1].", "You live in Utrecht.", [1]],
    ["You live in Utrecht. [1]", "You live in Utrecht.", [1]],
    ["You live in Utrecht.[1] You keep goats.[2]", "You live in Utrecht. You keep goats.", [1, 2]],
    ["You use Shram [3] and Magnet [1][2].", "You use Shram and Magnet.", [3, 1, 2]],
    ["You use both [1, 3].", "You use both.", [1, 3]],
    ["You use all [1-3].", "You use all.", [1, 2, 3]],
    ["You moved【2】.", "You moved.", [2]],
    ["You see Dr. Vermeer on Mondays [2].", "You see Dr. Vermeer on Mondays.", [2]],
    ["You use:\n- Shram [1]\n- Magnet [2]", "You use:\n- Shram\n- Magnet", [1, 2]],
    ["1. Shram [1]\n2. Magnet [2]", "1. Shram\n2. Magnet", [1, 2]],
    ["1. Shram [1]\n2. Kale\n3. Magnet [2]", "1. Shram\n3. Magnet", [1, 2], 1],
  ] as [string, string, number[], number?][])("shows %j as %j", (text, shown, used, dropped = 0) => {
    const reader = createStrictCitationReader(3);
    expect(read(reader, [text])).toBe(shown);
    expect(reader.used).toEqual(used);
    expect(reader.dropped).toBe(dropped);
  });

  it.each([
    ["names nothing", "You live in Utrecht. You keep two goats [1].", "You keep two goats.", 1],
    [
      "names a note that is not there",
      "You live in Utrecht [7]. You keep two goats [1].",
      "You keep two goats.",
      1,
    ],
    ["names note 0", "You live in Utrecht [0].", "", 1],
    ["is a closing word", "You keep two goats [1]. Is there anything else?", "You keep two goats.", 1],
    ["introduces nothing", "You use:\nSome tools.", "", 1],
  ] as const)("leaves out what %s", (_what, text, shown, dropped) => {
    const reader = createStrictCitationReader(2);
    expect(read(reader, [text])).toBe(shown);
    expect(reader.dropped).toBe(dropped);
  });

  it("drops an unknown mark next to a known one", () => {
    const reader = createStrictCitationReader(2);
    expect(read(reader, ["You keep two goats [2, 9]."])).toBe("You keep two goats.");
    expect(reader.used).toEqual([2]);
  });

  it("leaves out half a sentence when the answer was cut off", () => {
    const reader = createStrictCitationReader(2);
    expect(read(reader, ["You keep two goats [1]. You live [2] in Utr"], true)).toBe("You keep two goats.");
  });

  it("shows the first sentence before the second has arrived", () => {
    const reader = createStrictCitationReader(2);
    expect(reader.take("You keep two goats [1]. You l")).toBe("You keep two goats.");
    expect(reader.take("ive in Utrecht")).toBe("");
    expect(reader.end(false)).toBe("");
  });

  it("gives the same result however the text is split into parts", () => {
    const text =
      "Here it is:\nYou live in Utrecht. [1] You keep goats [2], three of them.[3] Nice!\n- Dr. Vermeer [9]";
    const shown = read(createStrictCitationReader(3), [text]);
    expect(shown).toBe("Here it is:\nYou live in Utrecht. You keep goats, three of them.");
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 30 }), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), text.length];
        const parts = places.slice(1).map((place, i) => text.slice(places[i], place));
        expect(read(createStrictCitationReader(3), parts)).toBe(shown);
      }),
    );
  });
});

describe("talk", () => {
  it("passes through without its marks", () => {
    const reader = createLenientCitationReader(2);
    expect(read(reader, ["Try the market [1], it is open. Paris is in France [7]."])).toBe(
      "Try the market, it is open. Paris is in France.",
    );
    expect(reader.used).toEqual([1]);
  });

  it("keeps brackets in code, and years", () => {
    const code = "Use `list[1]` or\n```\nlist[2] = 3\n```\nas in [2024].";
    expect(read(createLenientCitationReader(3), [code])).toBe(code);
  });

  it("gives the same result however the text is split into parts", () => {
    const text = "Try this [1] with `list[2]` and\n```\nlist[1]\n```\nthen rest [2]. Bye [";
    const shown = read(createLenientCitationReader(2), [text]);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 30 }), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), text.length];
        const parts = places.slice(1).map((place, i) => text.slice(places[i], place));
        expect(read(createLenientCitationReader(2), parts)).toBe(shown);
      }),
    );
  });
});
