import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../../adapters/memory/index.ts";
import { createMemory } from "../../../../memory.ts";
import { closeHoles } from "./holes.ts";

async function learnt(said: string): Promise<string[]> {
  const keepsake = await createMemory({ record: createInMemoryStore() });
  const memory = keepsake.scope({ user: "home" });
  await memory.remember(said);
  const found: string[] = [];
  for await (const { claim } of memory.list()) {
    if (claim) found.push([claim.relation, claim.value, claim.qualifier].filter(Boolean).join(" "));
  }
  return found;
}

describe("a message that lost words", () => {
  it.each([
    ["I use Asana and […] for planning.", ["use Asana for planning"]],
    ["I have […] and I take salbutamol.", ["take salbutamol"]],
    ["My rival is called […].", []],
    ["I live in […].", []],
    ["I speak […], Czech and Welsh.", ["speak Welsh", "speak Czech"]],
    ["I speak Czech, […] and Welsh.", ["speak Welsh", "speak Czech"]],
  ])("%s teaches what is left, never the mark", async (said, expected) => {
    expect((await learnt(said)).sort()).toEqual([...expected].sort());
  });

  it("keeps every place where it was", () => {
    const text = "I like […], tea and […].";
    expect(closeHoles(text)).toHaveLength(text.length);
  });
});
