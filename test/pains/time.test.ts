import { expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { createMemory } from "../../src/index.ts";

it("a chat of 2023 that is imported in 2026 keeps its dates, and its days are those of its zone (mem0#4402, MemOS#2369)", async () => {
  await using memory = await createMemory({
    record: createInMemoryStore(),
    clock: () => new Date("2026-06-01T12:00:00Z"),
  });
  const ann = memory.scope({ user: "ann" });
  // In Singapore it is the 11th already, in Greenwich still the 10th.
  const chat = [
    { id: "t1", role: "user", content: "I visited my aunt yesterday.", at: "2023-05-11T01:00:00+08:00" },
    { id: "t2", role: "user", content: "My exam is tomorrow.", at: "2023-05-11T01:05:00+08:00" },
  ] as const;
  for await (const _progress of ann.import(chat));
  const { items } = await ann.list({ status: "all" });
  expect(items.map(({ at }) => at.slice(0, 4))).toEqual(items.map(() => "2023"));
  const days = items.map(({ text, when }) => `${text} ${when ?? ""}`).join("\n");
  expect(days).toContain("2023-05-10");
  expect(days).toContain("2023-05-12");
  const [found] = (await ann.recall("aunt")).items;
  expect(found?.at).toBe("2023-05-10T17:00:00.000Z");
});
