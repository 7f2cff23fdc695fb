import { expect, it } from "vitest";
import { createMemory } from "../../../memory.ts";

/** The texts of what holds after these were said one after another. */
async function heldAfter(said: readonly string[]): Promise<string[]> {
  const memory = await createMemory({ path: ":memory:" });
  const ana = memory.scope({ user: "ana" });
  for (const one of said) await ana.remember(one);
  const { items } = await ana.list({ limit: 100 });
  await memory.close();
  return items.map(({ text }) => text);
}

it.each([
  ["like", "Toy Story 2", "Toy Story 3"],
  ["watch", "Formula 1", "Formula 2"],
  ["like", "psalm 23", "psalm 91"],
  ["drive on", "Highway 61", "Highway 66"],
  ["own", "an iPhone 12", "an iPhone 13"],
  ["use", "Windows 10", "Windows 11"],
  ["love", "Apollo 11", "Apollo 13"],
  ["read", "Fahrenheit 451", "Catch 22"],
  ["use", "Python 2", "Python 3"],
  ["like", "Area 51", "Studio 54"],
  ["love", "psalm 8", "psalm 80"],
  ["often sing", "hymn 12", "hymn 112"],
  ["drive on", "Route 9", "Route 90"],
  ["take", "bus 7", "bus 17"],
  ["take", "the number 4 bus", "the number 14 bus"],
  ["own", "flat 3", "flat 13"],
  ["rent", "room 12", "room 112"],
  ["use", "version 2 of the app", "version 3 of the app"],
  ["use", "C++", "C#"],
  ["like", "Symphony No. 5", "Symphony No. 9"],
  ["play", "Sonata No. 14 in C sharp minor", "Sonata No. 8 in C minor"],
  ["like", "Chanel No. 5", "Chanel No. 19"],
  ["like", "Rocky II", "Rocky III"],
  ["like", "Henry IV", "Henry V"],
  ["watched", "Star Wars Episode IV", "Star Wars Episode V"],
  ["own", "a Boeing 737", "a Boeing 747"],
  ["called", "555-0174", "555-0175"],
  ["own", "20 USD", "20 EUR"],
  ["saved", "500 euros", "500 dollars"],
  ["like", "Blink-182", "Sum 41"],
  ["have", "a desk in room 4A", "a desk in room 4B"],
  ["use", "Node 22", "Node 24"],
  ["use", "Python 3.11", "Python 3.12"],
  ["wear", "size 42 boots", "size 44 jackets"],
  ["visited", "St. Ives", "St. Davids"],
  ["like", "Vitamin C", "Vitamin D"],
  ["use", "iOS 17", "iOS 18"],
  ["read", "1984", "2666"],
  ["like", "7up", "4chan"],
  ["own", "locker A-17", "locker A-18"],
  ["like", "Terminator 2", "Terminator 3"],
  ["like", "sonnet 18", "sonnet 116"],
  ["like", "the number -5", "the number 5"],
  ["collect", "Route 66 signs", "Route 61 signs"],
])("values of %j that differ in the number of a name are kept apart: %j and %j", async (verb, one, other) => {
  const held = await heldAfter([`I ${verb} ${one}.`, `I ${verb} ${other}.`]);
  expect(held.filter((text) => text.endsWith(` ${one}.`))).toHaveLength(1);
  expect(held.filter((text) => text.endsWith(` ${other}.`))).toHaveLength(1);
});

it("names that differ in a sign alone are ended apart", async () => {
  const said = ["I use C++ and C# at work.", "I don't use C# anymore."];
  expect(await heldAfter(said)).toEqual(["The user uses C++ at work."]);
  const three = await heldAfter(["I use C.", "I use C++.", "I use C#.", "I don't use C anymore."]);
  expect(three.sort()).toEqual(["The user uses C#.", "The user uses C++."]);
});

it("fifty values that differ in a number alone leave fifty memories", async () => {
  const said = Array.from({ length: 50 }, (_, i) => `I like item number ${i + 1}.`);
  expect(await heldAfter(said)).toHaveLength(50);
});

it.each([
  ["I sleep five hours a night.", "I sleep seven hours a night.", "seven"],
  ["The pass costs 98 euros.", "The pass costs 104 euros.", "104"],
  ["I take 20 mg of metoprolol.", "I take 40 mg of metoprolol.", "40"],
])("a measure that changes takes the place of the earlier one: %j, %j", async (first, second, kept) => {
  const held = await heldAfter([first, second]);
  expect(held).toHaveLength(1);
  expect(held[0]).toContain(kept);
});
