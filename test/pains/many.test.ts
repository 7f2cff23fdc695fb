import { expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { createMemory, type InputMessage, type MemoryOptions, type ScopedMemory } from "../../src/index.ts";
import { hashEmbedder, scriptedExtractor } from "../../src/testing/index.ts";

const COUNT = 25_000;

/** The store is what is looked at here: what reads the sentences and embeds them is as simple as can be. */
const fast = (): MemoryOptions => ({
  record: createInMemoryStore(),
  extractor: scriptedExtractor(),
  embedder: hashEmbedder(8),
});

/** What a program would see of everything: text, claim and history, but for what a store itself gives. */
async function listed(scope: ScopedMemory): Promise<string[]> {
  const rows: string[] = [];
  for await (const { text, kind, status, claim, evidence } of scope.list({ status: "all", limit: 1000 })) {
    rows.push(JSON.stringify([text, kind, status, claim, evidence]));
  }
  return rows.sort();
}

async function* messagesOf(scope: ScopedMemory): AsyncGenerator<InputMessage> {
  for await (const line of scope.export()) if (line.type === "message") yield line.message as InputMessage;
}

it("of 25,000 memories a list shows all, its total is right, and export and import give the same (shodh#407, mem0#3751)", {
  timeout: 120_000,
}, async () => {
  await using first = await createMemory(fast());
  const ann = first.scope({ user: "ann" });
  const told = Array.from({ length: COUNT / 2 }, (_, i) => ({
    id: `m${i}`,
    role: "user" as const,
    content: `I use K${2 * i} and K${2 * i + 1}.`,
  }));
  for await (const _progress of ann.import(told, { batch: 1000 }));
  expect((await ann.list()).total).toBe(COUNT);
  const before = await listed(ann);
  expect(before.length).toBe(COUNT);
  expect(new Set(before).size).toBe(COUNT);

  await using second = await createMemory(fast());
  const copy = second.scope({ user: "ann" });
  for await (const _progress of copy.import(messagesOf(ann), { batch: 1000 }));
  expect(await listed(copy)).toEqual(before);
});
