import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory, type Keepsake, type ScopedMemory } from "../../src/index.ts";

/** A change or an erasure of one thing leaves what was said beside it. */

let keepsake: Keepsake;
let ana: ScopedMemory;
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

async function everything(): Promise<string> {
  const lines: string[] = [];
  for await (const line of ana.export()) lines.push(JSON.stringify(line));
  for await (const { id } of ana.list({ status: "all" })) lines.push(JSON.stringify(await ana.history(id)));
  return lines.join("\n");
}
const answer = async (question: string): Promise<string> => (await ana.answer(question)).text;

describe("a home and who shares it, told in one sentence", () => {
  beforeEach(() => ana.remember("I live in Lisbon with my dog Miso and I'm vegetarian."));

  it("are two memories: forgetting the dog leaves the home and the diet, and nothing of the dog's name", async () => {
    const receipt = await ana.forget("Miso");
    expect(receipt.complete).toBe(true);
    expect(await everything()).not.toMatch(/miso/i);
    expect(await answer("Where do I live?")).toBe("You live in Lisbon.");
    expect(await answer("Am I vegetarian?")).toMatch(/^Yes/);
    expect((await ana.recall("Miso")).items.map(({ text }) => text).join(" ")).not.toMatch(/miso/i);
  });

  it("are two memories: another home does not end the dog", async () => {
    await ana.remember("I moved to Porto.");
    expect(await answer("Where do I live?")).toBe("You live in Porto.");
    expect(await answer("Do I have a dog?")).toMatch(/^Yes.*Miso/);
    expect(await answer("Who do I live with?")).toContain("Miso");
  });
});

it.each([
  [
    "I live in Lisbon with my wife Ida and our two kids near the river.",
    "Ida",
    "Where do I live?",
    "Lisbon",
    "Who do I live with?",
    "two kids",
  ],
  ["I work at Acme with my friend Tom.", "Tom", "Where do I work?", "Acme", "Where do I work?", "Acme"],
  [
    "I moved to Lisbon with my partner Rui.",
    "Rui",
    "Where do I live?",
    "Lisbon",
    "Where do I live?",
    "Lisbon",
  ],
  [
    "I work at Acme with Tom and Ida on the new app.",
    "Tom",
    "Where do I work?",
    "Acme",
    "Who do I work with?",
    "Ida",
  ],
])("after %j, forgetting %j leaves the rest", async (said, gone, first, kept, second, alsoKept) => {
  await ana.remember(said);
  await ana.forget(gone);
  expect(await everything()).not.toContain(gone);
  expect(await answer(first)).toContain(kept);
  expect(await answer(second)).toContain(alsoKept);
});

it.each([
  "Magnet - not using it anymore",
  "Magnet - not using it anymore.",
  "Magnet? Not using it anymore.",
  "Magnet, I'm not using it anymore.",
])("of two tools, %j ends the one that it names", async (said) => {
  await ana.remember("I use Shram and Magnet as productivity tools.");
  await ana.remember(said);
  expect(await answer("What productivity tools do I use?")).toBe("You use Shram.");
});

it('of two tools told at once, a bare "it" ends neither', async () => {
  await ana.remember("I use Shram and Magnet as productivity tools.");
  await ana.remember("I don't use it anymore.");
  expect(await answer("What productivity tools do I use?")).toBe("You use Shram and Magnet.");
});
