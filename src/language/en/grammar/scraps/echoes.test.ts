import { describe, expect, it } from "vitest";
import { createMemory } from "../../../../memory.ts";

/** The texts of the memories that the last of some messages made. */
async function learn(...said: string[]): Promise<string[]> {
  const memory = await createMemory({ path: ":memory:" });
  const scope = memory.scope({ user: "ana" });
  let texts: string[] = [];
  for (const text of said)
    texts = (await scope.remember(text, { session: "s" })).memories.map((line) => line.text);
  await memory.close();
  return texts;
}

describe("a clause without words of its own", () => {
  it.each([
    [["My sister eats meat.", "My brother does too."], "The user's brother eats meat."],
    [["My sister eats meat.", "I don't."], "The user does not eat meat."],
  ])("takes those of the clause before: %s", async (said, text) => {
    expect(await learn(...said)).toEqual([text]);
  });

  it.each(["I'm doing a beginner's welding course Tuesdays", "I'm doing a carer's first aid day"])(
    "is none where somebody is doing something: %s",
    async (said) => {
      const texts = await learn("Darren lives in Leeds.", said);
      expect(texts.join(" ")).not.toMatch(/Leeds/);
    },
  );
});
