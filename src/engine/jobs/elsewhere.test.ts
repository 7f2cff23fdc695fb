import { afterEach, beforeEach, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemoryQueue } from "../../adapters/memory/queue.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Queue } from "../../ports/queue.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import type { Keepsake } from "../api/keepsake.ts";

const PATIENT = { timeout: 10_000 };

let record: MemoryStore;
let queue: Queue;
let opened: Keepsake[] = [];
beforeEach(() => {
  record = createInMemoryStore();
  queue = createMemoryQueue({ firstPauseMs: 20 });
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await queue.close();
  opened = [];
});

/** A remote embedder that says which texts it was asked for. */
function remote(asked: string[]): Embedder {
  return {
    ...hashEmbedder(16),
    local: false,
    async embed(texts, options) {
      asked.push(...texts);
      return hashEmbedder(16).embed(texts, options);
    },
  };
}

async function open(options: MemoryOptions): Promise<Keepsake> {
  const memory = await createMemory({ record, queue, ...options });
  opened.push(memory);
  return memory;
}

it("a server leaves the work to a worker, which gets it from a queue", async () => {
  const [here, there]: [string[], string[]] = [[], []];
  const server = await open({ embedder: remote(here), jobs: "elsewhere" });
  await open({ embedder: remote(there) });
  await server.scope({ user: "ann" }).remember("I use Shram.");
  await expect.poll(async () => (await server.embedding()).left, PATIENT).toBe(0);
  expect(here).toEqual([]);
  expect(there).toContain("I use Shram.");
});

it("work offered while no worker ran is done by the next worker", async () => {
  const there: string[] = [];
  const server = await open({ embedder: remote([]), jobs: "elsewhere" });
  await server.scope({ user: "ann" }).remember("I use Shram.");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await server.embedding()).left).toBeGreaterThan(0);
  const worker = await open({ embedder: remote(there) });
  await expect.poll(async () => (await worker.embedding()).left, PATIENT).toBe(0);
  expect(there).toContain("I use Shram.");
  expect((await server.jobs()).find(({ name }) => name === "embedding")).toMatchObject({ left: 0 });
});

it("an unreachable queue prevents neither writes, reads nor the end of the process", async () => {
  const gone: Queue = {
    ...queue,
    offer: () => {},
    work: async () => Promise.reject(new Error("gone")),
    setAside: async () => Promise.reject(new Error("gone")),
    isUp: async () => false,
  };
  const there: string[] = [];
  const server = await open({ embedder: remote([]), jobs: "elsewhere", queue: gone });
  await server.scope({ user: "ann" }).remember("I use Shram.");
  expect(await server.setAside()).toEqual([]);
  const worker = await open({ embedder: remote(there), queue: gone });
  // It looks for work by itself.
  await expect.poll(async () => (await worker.embedding()).left, PATIENT).toBe(0);
  expect((await worker.scope({ user: "ann" }).recall("Shram")).items).not.toEqual([]);
  await worker.close();
});
