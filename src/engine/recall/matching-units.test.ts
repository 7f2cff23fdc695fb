import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { WhereText } from "../../domain/filters/text-filter.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import { createFaultyVectorIndex, readIds } from "../../testing/vector-index/index-fixtures.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(options: MemoryOptions = {}): Promise<Keepsake> {
  const memory = await createMemory({ path: ":memory:", clock: () => new Date("2026-06-01"), ...options });
  closing.push(() => memory.close());
  return memory;
}

const textsOf = async (memory: ScopedMemory, query: string, whereText: WhereText): Promise<string[]> =>
  (await memory.recall(query, { whereText, limit: 50 })).items.map(({ text }) => text);

const STORY = [
  "I use Shram and Magnet as productivity tools.",
  "I live in Porto.",
  "I like hiking in Gerês at weekends.",
  "My sister Marta uses Notion as a productivity tool.",
];

describe("a recall with a filter over texts", () => {
  it("gives only the memories and passages whose own text matches", async () => {
    const ana = (await open()).scope({ user: "ana" });
    await ana.remember(STORY.map((content) => ({ role: "user" as const, content })));
    const found = await textsOf(ana, "productivity tools", { $contains: "Shram" });
    expect(found.sort()).toEqual([STORY[0], "The user uses Shram as a productivity tool."]);
    expect(await textsOf(ana, "productivity tools", { $regex: "(?i)^the user.*magnet" })).toEqual([
      "The user uses Magnet as a productivity tool.",
    ]);
    expect(await textsOf(ana, "productivity tools", { $not_regex: "Shram|Magnet|Notion" })).toEqual([]);
    const bound = await ana.recall("productivity tools", {
      where: { a: 1 },
      whereText: { $contains: "Shram" },
    });
    expect(bound.items).toEqual([]);
  });

  it("answers from the matching memories alone", async () => {
    const ana = (await open()).scope({ user: "ana" });
    await ana.remember(STORY[0] as string);
    const { text } = await ana.answer("What productivity tools do I use?", {
      whereText: { $contains: "Magnet" },
    });
    expect(text).toBe("You use Magnet.");
  });

  it("tells why an item is missing, and keeps no word of the filter", async () => {
    const ana = (await open()).scope({ user: "ana" });
    await ana.remember(STORY[0] as string);
    const { items } = await ana.list();
    const shram = items.find(({ text }) => text.includes("Shram"))?.id ?? "";
    const { id } = await ana.recall("productivity tools", { whereText: { $contains: "Magnet" } });
    const explained = await ana.explain(id, { about: shram });
    expect(explained).toMatchObject({ bounds: { whereText: true }, about: { reason: "filtered" } });
    expect(JSON.stringify(explained.bounds)).not.toContain("Magnet");
  });

  it("looks at the words as they were known then", async () => {
    let now = new Date("2026-01-01T00:00:00Z");
    const ana = (await open({ clock: () => now })).scope({ user: "ana" });
    const { memories } = await ana.add({ text: "The door code is blue seven." });
    now = new Date("2026-03-01T00:00:00Z");
    await ana.update(memories[0]?.id ?? "", { text: "The door code is red nine." });
    const whereText = { $contains: "blue" };
    expect((await ana.recall("door code", { whereText })).items).toEqual([]);
    const { items } = await ana.recall("door code", { whereText, knownAt: "2026-02-01" });
    expect(items.map(({ text }) => text)).toEqual(["The door code is blue seven."]);
  });

  it("finds the one match among 3,000 memories that are more relevant", async () => {
    const ana = (await open({ embedder: hashEmbedder(64) })).scope({ user: "ana" });
    const messages = Array.from({ length: 3000 }, (_, i) => ({
      role: "user" as const,
      content: `The tool of the day for work is tool number ${i}.`,
    }));
    for (let at = 0; at < messages.length; at += 1000)
      await ana.remember(messages.slice(at, at + 1000), { extract: "never" });
    await ana.remember("Zwiebel is the tool of the day for gardens.", { extract: "never" });
    const items = await textsOf(ana, "tool of the day for work", { $contains: "Zwiebel" });
    expect(items).toHaveLength(1);
  });

  it("gives the same from a store in memory, a file, and with a vector index", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-where-text-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const index = createFaultyVectorIndex();
    const scope = { project: "default", user: "ana" };
    const record = createInMemoryStore();
    const opened = [
      await open({ record: createInMemoryStore() }),
      await open({ path: join(folder, "memory.db") }),
      await open({ record, index, indexSearch: { from: 0, timeoutMs: 5000 } }),
    ];
    const filters: readonly WhereText[] = [
      { $contains: "productivity" },
      { $regex: "S.ram|Porto" },
      { $or: [{ $contains: "Gerês" }, { $not_contains: "user" }] },
    ];
    const results = await Promise.all(
      opened.map(async (memory) => {
        const ana = memory.scope({ user: "ana" });
        await ana.remember(STORY.map((content, i) => ({ id: `m${i}`, role: "user" as const, content })));
        if (memory === opened[2]) {
          const ids = (await record.since(scope, 0)).units.map(({ id }) => id).sort();
          await expect.poll(async () => readIds(index.inner, scope), { timeout: 5000 }).toEqual(ids);
        }
        const found = await Promise.all(
          filters.map(async (whereText) => (await ana.recall("tools I use in Porto", { whereText })).items),
        );
        return found.map((items) => items.map(({ text, score }) => [text, score.toFixed(6)]));
      }),
    );
    expect(results[0]?.flat().length).toBeGreaterThan(3);
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it("holds the process no longer than a moment at a time, whatever the pattern", async () => {
    const ana = (await open({ embedder: hashEmbedder(64) })).scope({ user: "ana" });
    const content = (i: number): string => `${"a".repeat(300)} ${i}`;
    await ana.remember(
      Array.from({ length: 2000 }, (_, i) => ({ role: "user" as const, content: content(i) })),
      { extract: "never" },
    );
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const asked = ana.recall("a", { whereText: { $regex: "((a{0,30}){0,30})b" } }).catch(() => {});
    await asked;
    clearInterval(timer);
    expect(longest).toBeLessThan(400);
  });
});
