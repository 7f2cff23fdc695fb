import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../memory.ts";
import { asksForAll } from "./answers.ts";

describe("a question for all that is known", () => {
  it.each([
    "What do you know about me?",
    "what do you remember about me",
    "So, what do you already know about me?",
    "What have you learnt about me so far?",
    "What have I told you so far?",
    "Who am I?",
    "tell me about myself",
    "Tell me everything you know about me.",
    "list what you know about me",
    "describe me",
  ])("is heard in “%s”", (question) => {
    expect(asksForAll(question)).toBe(true);
  });

  it.each([
    "What do you know about my sister?",
    "Who am I married to?",
    "What have I told you about Porto?",
    "Tell me about the weather",
    "What do you know?ing",
    "Who am I meeting on Friday?",
  ])("is not heard in “%s”", (question) => {
    expect(asksForAll(question)).toBe(false);
  });
});

describe("its answer", () => {
  let keepsake: Keepsake;
  let ana: ScopedMemory;
  beforeEach(async () => {
    keepsake = await createMemory({ record: createInMemoryStore() });
    ana = keepsake.scope({ user: "ana" });
  });
  afterEach(() => keepsake.close());

  it("tells what holds now, and names what it rests on", async () => {
    await ana.remember("I live in Bergen. I play the cello.");
    await ana.remember("I don't play the cello anymore.");
    const { text, used, abstained } = await ana.answer("What do you know about me?");
    expect(abstained).toBe(false);
    expect(text).toContain("You live in Bergen.");
    expect(text).not.toContain("You play the cello");
    expect(used).toHaveLength(1);
  });

  it("is that nothing is known, where nothing is", async () => {
    expect((await ana.answer("What do you know about me?")).abstained).toBe(true);
  });

  it("says how much more there is", async () => {
    for (let i = 0; i < 15; i += 1) await ana.add({ text: `The user owns book number ${i}.` });
    expect((await ana.answer("What do you remember about me?")).text).toMatch(/And 3 more things\.$/);
  });
});
