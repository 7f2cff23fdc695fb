import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../../adapters/memory/index.ts";
import { createMemory } from "../../../../memory.ts";
import { CHANGES } from "./change-table.ts";

describe("each way to say a change does what its example says", () => {
  it.each(CHANGES)("$name", async ({ example }) => {
    let now = new Date("2026-03-02T09:00:00Z");
    await using memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
    const ann = memory.scope({ user: "ann" });
    const texts = async (): Promise<string> => (await ann.list()).items.map(({ text }) => text).join("\n");
    await ann.remember(example.before);
    const before = await texts();
    now = new Date("2026-04-02T09:00:00Z");
    await ann.remember(example.says);
    const after = await texts();
    expect(example.gone ?? example.holds).toBeDefined();
    if (example.gone)
      expect([before.includes(example.gone), after.includes(example.gone)]).toEqual([true, false]);
    if (example.holds)
      expect([before.includes(example.holds), after.includes(example.holds)]).toEqual([false, true]);
  });

  it("and stands in the table once", () => {
    expect(new Set(CHANGES.map(({ name }) => name)).size).toBe(CHANGES.length);
    expect(new Set(CHANGES.map(({ read }) => read)).size).toBe(CHANGES.length);
  });
});
