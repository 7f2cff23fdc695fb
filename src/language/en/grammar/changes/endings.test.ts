import { describe, expect, it } from "vitest";
import { createMemory } from "../../../../memory.ts";

/** The texts that are current after some messages. */
async function currentAfter(...said: string[]): Promise<string[]> {
  const memory = await createMemory({ path: ":memory:" });
  const scope = memory.scope({ user: "ana" });
  for (const text of said) await scope.remember(text, { session: "s" });
  const texts: string[] = [];
  for await (const { text, status } of scope.list()) if (status === "current") texts.push(text);
  await memory.close();
  return texts;
}

describe("what is said to be over by a set phrase", () => {
  it.each([
    ["I drink coffee every morning.", "Coffee isn't something I drink anymore.", /drinks coffee/],
    ["I use Magnet.", "I moved away from Magnet.", /uses Magnet/],
    ["I use Shram and Magnet.", "Shram and Magnet are history.", /Shram|Magnet/],
    ["I live in Shram, Magnet and a bit of Dendron.", "Dendron is history.", /Dendron/],
  ])("ends what the user did by that verb: %s %s", async (said, over, gone) => {
    expect((await currentAfter(said)).join(" ")).toMatch(gone);
    expect((await currentAfter(said, over)).join(" ")).not.toMatch(gone);
  });

  it.each([
    ["I'm allergic to peanuts.", "Peanuts aren't something I buy anymore.", /allergic to peanuts/],
    ["My sister drinks coffee.", "Coffee isn't something I drink anymore.", /sister drinks coffee/],
    ["My parents live in Leeds.", "I moved away from my parents.", /parents live in Leeds/],
    ["I was born in Leeds.", "I moved away from Leeds.", /born in Leeds/],
    ["I live in Shram, Magnet and a bit of Dendron.", "Dendron is history.", /(?=.*Shram)(?=.*Magnet)/],
    ["I use Shram and Magnet.", "My sister uses Shram and Dendron is history.", /uses Shram/],
  ])("ends nothing else that names the same: %s %s", async (said, over, kept) => {
    expect((await currentAfter(said, over)).join(" ")).toMatch(kept);
  });
});
