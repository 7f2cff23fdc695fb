import { expect, it } from "vitest";
import { createMemory } from "../../../../memory.ts";

async function listAfter(...said: readonly string[]): Promise<string[]> {
  await using memory = await createMemory({
    path: ":memory:",
    clock: () => new Date("2026-03-02T10:00:00Z"),
  });
  const scope = memory.scope({ user: "ana" });
  for (const text of said) await scope.remember(text);
  return (await scope.list()).items.map(({ text }) => text);
}

it.each([
  ["a flight to Rome", "The flight is not to Rome, it is to Milan.", /flight to Milan/],
  [
    "an internship at Canva",
    "The internship is not at Canva, it is at Atlassian.",
    /internship at Atlassian/,
  ],
  ["a table at Nando's", "The table is not at Nando's, it's at Zizzi.", /table at Zizzi/],
  ["a meeting with Bob", "Meeting is not Bob, is Rob.", /meeting with Rob/],
])("of several things that one has, only %s is put right by “%s”", async (thing, correction, expected) => {
  const memories = await listAfter(
    "I have asthma.",
    "I have a girlfriend.",
    `I have ${thing} on Friday.`,
    correction,
  );
  expect(memories).toContain("The user has asthma.");
  expect(memories).toContain("The user has a girlfriend.");
  expect(memories).toHaveLength(3);
  expect(memories.filter((text) => expected.test(text))).toHaveLength(1);
});

it("an hour with its half of the day is put right in the time that was told", async () => {
  const memories = await listAfter(
    "I have a girlfriend.",
    "I have an appointment at 3pm on Friday.",
    "It's not at 3pm, it's at 4pm.",
  );
  expect(memories).toContain("The user has a girlfriend.");
  expect(memories.filter((text) => text.includes("16:00"))).toHaveLength(1);
  expect(memories.filter((text) => text.includes("15:00"))).toEqual([]);
});
