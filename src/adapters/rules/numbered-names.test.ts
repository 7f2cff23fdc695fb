import { expect, it } from "vitest";
import { createMemory } from "../../memory.ts";

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
])("values of %j that differ in the number of a name are kept apart: %j and %j", async (verb, one, other) => {
  const held = await heldAfter([`I ${verb} ${one}.`, `I ${verb} ${other}.`]);
  expect(held.filter((text) => text.includes(one))).toHaveLength(1);
  expect(held.filter((text) => text.includes(other))).toHaveLength(1);
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
