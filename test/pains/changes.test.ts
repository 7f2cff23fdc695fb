import { afterEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { createMemory, type Keepsake, type ScopedMemory } from "../../src/index.ts";

let now = new Date("2026-01-05T09:00:00Z");
let memory: Keepsake | undefined;
afterEach(() => memory?.close());

async function person(): Promise<ScopedMemory> {
  now = new Date("2026-01-05T09:00:00Z");
  memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  return memory.scope({ user: "ann" });
}

async function say(ann: ScopedMemory, day: string, text: string): Promise<void> {
  now = new Date(`${day}T09:00:00Z`);
  await ann.remember(text);
}

const current = async (ann: ScopedMemory): Promise<string[]> =>
  (await ann.list()).items.map(({ text }) => text);

/** First what was so, then what became so; then what both are asked for, and a word of each. */
const CHANGES: readonly (readonly [string, string, string, string, string])[] = [
  ["I work at Lindgren.", "I work at Otis now.", "Where do I work?", "Lindgren", "Otis"],
  [
    "My favourite player is Sanne.",
    "My favourite player is Wout.",
    "Who is my favourite player?",
    "Sanne",
    "Wout",
  ],
  ["I live in Ghent.", "I moved to Tartu.", "Where do I live?", "Ghent", "Tartu"],
  ["My landlord is Piet.", "My landlord is Hanna now.", "Who is my landlord?", "Piet", "Hanna"],
];

describe("a fact that changed (mem0#4536, mem0#5867, mem0#4956)", () => {
  it.each(CHANGES)("%s %s", async (before, after, asked, old, young) => {
    const ann = await person();
    await say(ann, "2026-02-01", before);
    await say(ann, "2026-03-01", after);
    const said = (await ann.answer(asked)).text;
    expect([said.includes(young), said.includes(old)]).toEqual([true, false]);
    const then = (await ann.answer(asked, { asOf: "2026-02-15T00:00:00Z" })).text;
    expect([then.includes(young), then.includes(old)]).toEqual([false, true]);
    expect((await current(ann)).join(" ")).not.toContain(old);
    expect((await ann.list({ status: "all" })).items.some(({ text }) => text.includes(old))).toBe(true);
  });
});

it("the same fact twice is one row that counts two, and neither is lost (mem0#1674)", async () => {
  const ann = await person();
  await say(ann, "2026-02-01", "I'm allergic to walnuts.");
  await say(ann, "2026-02-02", "As I said, I'm allergic to walnuts.");
  const { items } = await ann.list({ status: "all" });
  expect(items.map(({ text, evidence, status }) => [text, evidence, status])).toEqual([
    ["The user is allergic to walnuts.", 2, "current"],
  ]);
});

it("a second taste does not end the first: many values stand side by side (mem0#5867)", async () => {
  const ann = await person();
  await say(ann, "2026-02-01", "I like jazz.");
  await say(ann, "2026-03-01", "I like techno.");
  expect((await current(ann)).sort()).toEqual(["The user likes jazz.", "The user likes techno."]);
});

it("an update of one fact leaves all others as they were (mastra#7775)", async () => {
  const ann = await person();
  for (const text of ["I speak Finnish.", "I have a tortoise.", "I live in Ghent."])
    await say(ann, "2026-02-01", text);
  await say(ann, "2026-03-01", "I moved to Tartu.");
  const texts = await current(ann);
  expect(texts).toEqual(expect.arrayContaining(["The user speaks Finnish.", "The user has a tortoise."]));
});
