import { describe, expect, it } from "vitest";
import { createMemory } from "../../../../memory.ts";

/** What holds after two messages. */
async function holdsAfter(before: string, after: string): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:", secret: "the secret of this test" });
  const scope = memory.scope({ user: "ann" });
  await scope.remember(before);
  await scope.remember(after);
  const texts: string[] = [];
  for await (const { text } of scope.list()) texts.push(text);
  return texts.sort();
}

describe("what comes in the place of something that ended in the same breath", () => {
  it.each([
    ["I use Krita.", "I don't use Krita anymore, it's Affinity now.", "The user uses Affinity."],
    ["I drive a Lada.", "I sold the Lada, now it's a Dacia.", "The user drives a Dacia."],
    [
      "I play squash on Fridays.",
      "I've quit squash, it's golf these days.",
      "The user plays golf on Fridays.",
    ],
    ["I use Trello.", "We stopped using Trello and now we're on Asana.", "The user uses Asana."],
  ])("%s %s", async (before, after, memory) => {
    expect(await holdsAfter(before, after)).toEqual([memory]);
  });

  it("says nothing of what was never told", async () => {
    expect(await holdsAfter("I use Krita.", "I sold the piano, it's quiet now.")).toContain(
      "The user uses Krita.",
    );
  });
});
