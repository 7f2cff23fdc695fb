import { afterAll, beforeAll, expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { createMemory, type Keepsake, type ScopedMemory } from "../../src/index.ts";
import { ELSEWHERE, TOLD } from "./told.ts";

let memory: Keepsake;
let ann: ScopedMemory;
beforeAll(async () => {
  memory = await createMemory({ record: createInMemoryStore() });
  ann = memory.scope({ user: "ann" });
  for (const [i, [said]] of TOLD.entries()) {
    await ann.remember(said, { at: new Date(Date.UTC(2025, 0, 1 + 6 * i)), session: `week ${i}` });
  }
});
afterAll(() => memory.close());

it("nonsense and questions about something else find nothing, 19 of 20 times (tomcounsell/ai#1213)", async () => {
  const answered: string[] = [];
  for (const query of ELSEWHERE) if ((await ann.recall(query)).items.length > 0) answered.push(query);
  expect(ELSEWHERE.length).toBeGreaterThanOrEqual(60);
  expect(answered.length / ELSEWHERE.length).toBeLessThanOrEqual(0.05);
});

// Asked with other words on purpose. 95 % is what users want; the table of 7 MB that is built in knows few of the words
// that mean the same, and rather finds nothing than something else. A larger embedder finds more.
it("a question in other words finds what was said, 6 of 10 times with the built-in embedder (mcp-memory-service#487)", async () => {
  const missed: string[] = [];
  for (const [said, asked] of TOLD) {
    const { items } = await ann.recall(asked);
    if (!items.some(({ sources }) => sources.some(({ quote }) => said.includes(quote)))) missed.push(asked);
  }
  expect(TOLD.length).toBeGreaterThanOrEqual(60);
  expect(1 - missed.length / TOLD.length).toBeGreaterThanOrEqual(0.6);
});

it("a question with the words of what was said always finds it (owui-adaptive-memory#35)", async () => {
  const missed: string[] = [];
  for (const [said] of TOLD) {
    const [first] = (await ann.recall(said)).items;
    if (!first?.sources.some(({ quote }) => said.includes(quote))) missed.push(said);
  }
  expect(missed).toEqual([]);
});
