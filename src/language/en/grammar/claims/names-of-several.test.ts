import { expect, it } from "vitest";
import { createMemory } from "../../../../memory.ts";

async function listAfter(...said: readonly string[]): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  const scope = memory.scope({ user: "ana" });
  for (const text of said) await scope.remember(text);
  return (await scope.list()).items.map(({ text }) => text).sort();
}

it.each([
  ["friend", "Alma", "Bela"],
  ["sister", "Ines", "Greta"],
  ["cat", "Mo", "Pip"],
  ["boat", "Alma", "Bela"],
])("a second %s has a name of their own, and the first stays", async (noun, first, second) => {
  expect(await listAfter(`My ${noun} is called ${first}.`, `My ${noun} is called ${second}.`)).toEqual(
    [`The user's ${noun} is called ${first}.`, `The user's ${noun} is called ${second}.`].sort(),
  );
});

it.each([
  ["whom one has one of", "My wife is called Ana.", "My wife is called Maria.", "Maria"],
  ["that is said to be new", "My parrot is called Coco.", "My parrot is now called Kiki.", "Kiki"],
  ["that is spelt almost the same", "My cousin is called Jon.", "My cousin is called John.", "John"],
])("the newest name holds of a person or animal %s", async (_what, before, after, name) => {
  const memories = await listAfter(before, after);
  expect(memories).toHaveLength(1);
  expect(memories[0]).toContain(`called ${name}`);
});

it("forgetting one friend leaves the other", async () => {
  await using memory = await createMemory({ path: ":memory:" });
  const scope = memory.scope({ user: "ana" });
  for (const text of ["My friend is called Alma.", "My friend is called Bela."]) await scope.remember(text);
  await scope.forget("Alma");
  expect((await scope.list()).items.map(({ text }) => text)).toEqual(["The user's friend is called Bela."]);
});

it("what is told of the one who is named is not told of the other", async () => {
  expect(
    await listAfter("My brother Tom is a nurse.", "My brother is called Alex and he lives in Leeds."),
  ).toEqual([
    "The user's brother Alex lives in Leeds.",
    "The user's brother Tom is a nurse.",
    "The user's brother is called Alex.",
    "The user's brother is called Tom.",
  ]);
});

it.each([
  [
    "My two cats, Tik and Tak, hate the vacuum.",
    ["cat is called Tak", "cat is called Tik", "cats Tik and Tak hate the vacuum"],
  ],
  [
    "Our kids, Sam, Lily and Mo, love swimming.",
    ["kid is called Lily", "kid is called Mo", "kid is called Sam", "kids Sam, Lily and Mo love swimming"],
  ],
  [
    "My friends, Rosa and Ben, are vegan.",
    ["friend is called Ben", "friend is called Rosa", "friends Rosa and Ben are vegan"],
  ],
])("%s is told of those who are named between the commas, not of the user", async (said, told) => {
  expect(await listAfter(said)).toEqual(told.map((text) => `The user's ${text}.`));
});

it.each([
  ["Steph's my flatmate, not my partner.", ["The user's flatmate is called Steph."]],
  ["Mia's our cleaner.", ["The user's cleaner is called Mia."]],
  ["Jonas's my boss.", ["The user's boss is called Jonas."]],
])("%s gives the name without its verb, and nobody who is denied", async (said, expected) => {
  expect(await listAfter(said)).toEqual(expected);
});
