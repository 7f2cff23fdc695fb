import { expect, it } from "vitest";
import { createMemory } from "../memory.ts";

it.each([
  [
    "I use Shram and Magnet as productivity tools.",
    "I don't use Magnet anymore.",
    "What productivity tools do I use?",
    "You use Shram.",
  ],
  ["I live in Lisbon.", "I moved to Porto.", "Where do I live?", "You live in Porto."],
  ["My dog is called Miso.", "My dog is called Tofu.", "What is my dog called?", "Tofu"],
])("%j followed by %j takes effect under a clock that ran back", async (first, second, question, answer) => {
  for (const backMs of [1, 10_000, 3_600_000]) {
    let now = new Date("2026-03-01T12:00:00Z");
    const memory = await createMemory({ path: ":memory:", clock: () => now });
    const ana = memory.scope({ user: "ana" });
    await ana.remember(first);
    now = new Date(now.getTime() - backMs);
    await ana.remember(second);
    expect((await ana.answer(question)).text).toContain(answer);
    now = new Date("2026-03-01T13:00:00Z");
    expect((await ana.answer(question)).text).toContain(answer);
    await memory.close();
  }
});

it("a message with an earlier explicit time keeps it", async () => {
  const now = new Date("2026-03-01T12:00:00Z");
  const memory = await createMemory({ path: ":memory:", clock: () => now });
  const ana = memory.scope({ user: "ana" });
  await ana.remember("I live in Porto.");
  await ana.remember("I live in Lisbon.", { at: "2024-05-01T09:00:00Z" });
  expect((await ana.answer("Where do I live?")).text).toBe("You live in Porto.");
  expect((await ana.list()).items.map(({ at }) => at)).toContain("2026-03-01T12:00:00.000Z");
  await memory.close();
});
