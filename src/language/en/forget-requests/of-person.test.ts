import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../memory.ts";

async function told(lines: readonly string[]): Promise<ScopedMemory> {
  const keepsake = await createMemory({ record: createInMemoryStore() });
  const memory = keepsake.scope({ user: "home" });
  for (const line of lines) await memory.remember(line);
  return memory;
}

async function texts(memory: ScopedMemory): Promise<string> {
  const found: string[] = [];
  for await (const { text } of memory.list()) found.push(text);
  return found.join(" ");
}

describe("forgetting what is told of one person and one topic", () => {
  it.each([
    ["My mum is in hospital with pneumonia.", "Forget my mum's illness.", "pneumonia"],
    ["My brother broke his wrist.", "Please forget my brother's injury.", "wrist"],
    ["My wife takes lisinopril.", "Forget my wife's health problems.", "lisinopril"],
    ["My son failed his maths exam.", "Forget the grades of my son.", "exam"],
    ["My niece got a C in physics.", "Forget my niece's grades.", "physics"],
    ["Teo is a baker.", "Forget Teo's job.", "baker"],
  ])("%s goes with: %s", async (fact, asks, word) => {
    const memory = await told([fact, "My mum likes tea.", "My sister has asthma."]);
    expect(await texts(memory)).toContain(word);
    await memory.remember(asks);
    const left = await texts(memory);
    expect(left).not.toContain(word);
    expect(left).toContain("tea");
    expect(left).toContain("asthma");
  });

  it("leaves a mum who is a nurse, for that is no illness of hers", async () => {
    const memory = await told(["My mum is a nurse.", "My mum has pneumonia."]);
    await memory.remember("Forget my mum's illness.");
    expect(await texts(memory)).toContain("nurse");
    expect(await texts(memory)).not.toContain("pneumonia");
  });

  it("says that nothing was found where only the request itself went", async () => {
    const memory = await told(["My mum is in hospital with pneumonia."]);
    const { text, receipt } = await memory.converse("Forget my uncle's illness.");
    expect(text).toMatch(/^I found nothing like that/);
    expect(receipt.erasures?.[0]?.erased).toMatchObject({ memories: 0, messages: 1, requests: 1 });
  });
});

describe("forgetting a topic of one's own, in words alone", () => {
  it.each(["my health", "everything about my health", "what I told you about my health"])(
    "%s",
    async (words) => {
      const memory = await told(["I have asthma.", "I take metformin.", "I take the bus.", "I am a nurse."]);
      const { erased } = await memory.forget(words);
      expect(erased.memories).toBe(2);
      expect(await texts(memory)).toMatch(/bus/);
      expect(await texts(memory)).toMatch(/nurse/);
    },
  );

  it("gives no id and no signature where there was nothing to erase", async () => {
    const memory = await told(["I like tea."]);
    const receipt = await memory.forget("my beliefs");
    expect(receipt).toMatchObject({ id: "", signature: "", hash: "", complete: true });
    expect(await memory.erasures()).toEqual([]);
  });
});
