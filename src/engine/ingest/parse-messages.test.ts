import { expect, it } from "vitest";
import { createMemory } from "../../memory.ts";

const said = (content: string) => ({ role: "user" as const, content });

it("a batch with a control character and a blank message is stored without them, and the receipt says so", async () => {
  const memory = await createMemory({ path: ":memory:" });
  const ana = memory.scope({ user: "ana" });
  const receipt = await ana.remember([
    said("My dog is called Miso."),
    said(" \n\u3000"),
    said("I live in Lis\u0000bon\u0007."),
    said("half \ud83d of a smile, and a whole one 😀"),
  ]);
  expect(receipt.messages).toHaveLength(3);
  expect(receipt.memories.filter(({ action }) => action === "refused").map(({ why }) => why)).toEqual([
    "a message without words was left out",
    "characters of a message that cannot be stored were replaced: 2",
    "characters of a message that cannot be stored were replaced: 1",
  ]);
  const { items } = await ana.recall("smile");
  expect(items.map(({ text }) => text)).toContain("half   of a smile, and a whole one 😀");
  expect((await ana.answer("What is my dog called?")).text).toContain("Miso");
  await memory.close();
});

it("a batch of only blank messages stores nothing", async () => {
  const memory = await createMemory({ path: ":memory:" });
  const receipt = await memory.scope({ user: "ana" }).remember([said(" "), said("")]);
  expect(receipt).toMatchObject({ revision: 0, messages: [] });
  expect(receipt.memories).toHaveLength(2);
  await memory.close();
});

it("a single empty message is refused", async () => {
  const memory = await createMemory({ path: ":memory:" });
  await expect(memory.scope({ user: "ana" }).remember(" ")).rejects.toMatchObject({ code: "invalid_input" });
  await memory.close();
});
