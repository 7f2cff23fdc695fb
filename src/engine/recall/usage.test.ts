import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import { createUsageTracker } from "./usage.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const SCOPE = { project: "default", user: "ana" };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-usage-"));
  closing.push(() => rmSync(folder, { recursive: true }));
  return join(folder, "memory.db");
}

let now = START;
async function open(options: MemoryOptions = {}): Promise<Keepsake> {
  now = START;
  const memory = await createMemory({ path: ":memory:", clock: () => new Date(now), ...options });
  closing.push(() => memory.close());
  return memory;
}

const addTo = async (memory: ScopedMemory, text: string): Promise<string> =>
  (await memory.add({ text })).memories[0]?.id ?? "";

describe("the use of a memory", () => {
  it("does not count a recall that is not recorded, which leaves no receipt either", async () => {
    const ana = (await open()).scope({ user: "ana" });
    const tea = await addTo(ana, "Ana drinks green tea.");
    const { id, items } = await ana.recall("green tea", { record: false, explain: true });
    expect(items.map((item) => item.id)).toContain(tea);
    expect((await ana.get(tea)).usage).toEqual({ count: 0 });
    await expect(ana.explain(id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("counts the recalls, answers and contexts that returned it, with the time of the last", async () => {
    const ana = (await open()).scope({ user: "ana" });
    const tea = await addTo(ana, "Ana drinks green tea.");
    const boat = await addTo(ana, "Ana owns a boat.");
    expect((await ana.get(tea)).usage).toEqual({ count: 0 });
    await ana.recall("green tea");
    now += DAY;
    await ana.recall("green tea", { types: ["memory"] });
    await ana.answer("What does Ana drink?");
    now += DAY;
    await ana.context("make me some green tea");
    expect((await ana.get(tea)).usage).toEqual({ count: 4, lastAt: "2026-01-03T00:00:00.000Z" });
    const { items } = await ana.list();
    expect(items.find(({ id }) => id === boat)?.usage?.count).toBeLessThan(4);
    expect(items.find(({ id }) => id === tea)?.usage?.count).toBe(4);
    const lines = [];
    for await (const line of ana.export()) if (line.type === "memory") lines.push(line.memory);
    expect(lines).toContainEqual(
      expect.objectContaining({ id: tea, usage: expect.objectContaining({ count: 4 }) }),
    );
  });

  it("is no version, no revision and no event", async () => {
    const ana = (await open()).scope({ user: "ana" });
    const tea = await addTo(ana, "Ana drinks green tea.");
    for (let i = 0; i < 3; i += 1) await ana.recall("green tea");
    expect(await ana.revision()).toBe(1);
    expect(await ana.history(tea)).toHaveLength(1);
    expect(await ana.history()).toHaveLength(1);
  });

  it("is kept through a restart, added up by two processes, and stays with each user and project", async () => {
    const path = newFile();
    const one = await createMemory({ path });
    const two = await createMemory({ path });
    const tea = await addTo(one.scope({ user: "ana" }), "Ana drinks green tea.");
    await addTo(one.scope({ user: "bob" }), "Bob drinks green tea.");
    for (const memory of [one, two, two]) await memory.scope({ user: "ana" }).recall("green tea");
    await one.close();
    await two.close();
    const memory = await createMemory({ path });
    closing.push(() => memory.close());
    expect((await memory.scope({ user: "ana" }).get(tea)).usage?.count).toBe(3);
    for (const scope of [{ user: "bob" }, { user: "ana", project: "other" }]) {
      const { items } = await memory.scope(scope).list();
      expect(items.filter(({ usage }) => usage?.count !== 0)).toEqual([]);
    }
  });

  it("ends with the memory at an erasure, also where it was not yet written", async () => {
    const record = createInMemoryStore();
    const memory = await open({ record });
    const ana = memory.scope({ user: "ana" });
    const tea = await addTo(ana, "Ana drinks green tea.");
    await ana.recall("green tea");
    await ana.forget({ ids: [tea] });
    await memory.close();
    expect(await record.usage?.read(SCOPE)).toEqual([]);
  });

  it("is not written with a recall, but in batches", async () => {
    const inner = createInMemoryStore();
    const added: number[] = [];
    const usage: NonNullable<MemoryStore["usage"]> = {
      read: (...given) => (inner.usage as NonNullable<MemoryStore["usage"]>).read(...given),
      add: async (uses) => void added.push(uses.flatMap((one) => one.uses).length),
    };
    const memory = await open({ record: { ...inner, usage } });
    for (const user of ["ana", "bob"]) {
      const scoped = memory.scope({ user });
      await addTo(scoped, "Green tea is good.");
      for (let i = 0; i < 20; i += 1) await scoped.recall("green tea");
    }
    expect(added).toEqual([]);
    await memory.close();
    expect(added).toEqual([2]);
  });

  it("waits for the next batch where a write fails, and fails no recall", async () => {
    const stored: string[] = [];
    let isDown = true;
    const tracker = createUsageTracker({
      read: async () => [],
      async add(added) {
        if (isDown) throw new Error("down");
        stored.push(...added.flatMap(({ uses }) => uses.map(({ id, count }) => `${id} ${count}`)));
      },
    });
    tracker.note(SCOPE, ["a", "b"], "2026-01-01T00:00:00.000Z");
    await tracker.flush();
    isDown = false;
    tracker.note(SCOPE, ["a"], "2026-01-02T00:00:00.000Z");
    expect((await tracker.read(SCOPE)).get("a")).toEqual({ count: 2, lastAt: "2026-01-02T00:00:00.000Z" });
    await tracker.flush();
    expect(stored).toEqual(["a 2", "b 1"]);
  });

  it("is absent where the store keeps none", async () => {
    const { usage: _usage, ...record } = createInMemoryStore();
    const ana = (await open({ record })).scope({ user: "ana" });
    const tea = await addTo(ana, "Ana drinks green tea.");
    await ana.recall("green tea", { profile: "classic" });
    expect(await ana.get(tea)).not.toHaveProperty("usage");
  });
});

it("the newness of a memory halves every 90 days, or as often as it is set", async () => {
  const ana = (await open()).scope({ user: "ana" });
  const quick = (await open({ decayDays: 10 })).scope({ user: "ana" });
  const tea = await addTo(ana, "Ana drinks green tea.");
  const quickTea = await addTo(quick, "Ana drinks green tea.");
  expect((await ana.get(tea)).decayScore).toBe(1);
  now += 90 * DAY;
  expect((await ana.get(tea)).decayScore).toBe(0.5);
  now = START + 20 * DAY;
  expect((await quick.get(quickTea)).decayScore).toBe(0.25);
});

describe("the classic ranking", () => {
  it("puts the memory that was used more often first, all else equal", async () => {
    const ana = (await open()).scope({ user: "ana" });
    const tea = ["Ana drinks tea in Porto.", "Ana drinks tea in Braga."];
    const [porto, braga] = await Promise.all(tea.map((text) => addTo(ana, text)));
    const first = async (options: object) => (await ana.recall("Ana drinks tea", options)).items[0]?.id;
    const before = await first({ profile: "classic", limit: 2 });
    const other = before === porto ? "Braga" : "Porto";
    for (let i = 0; i < 30; i += 1) await ana.recall(other, { limit: 1, whereText: { $contains: other } });
    expect(await first({ profile: "classic", limit: 2 })).toBe(before === porto ? braga : porto);
    expect(await first({ weights: { access: 1 }, limit: 2 })).toBe(before === porto ? braga : porto);
  });

  it("is used for every recall where it is set, unless the call names another", async () => {
    const memory = await open({ ranking: { weights: { recency: 1 } } });
    const ana = memory.scope({ user: "ana" });
    await addTo(ana, "Ana drinks green tea.");
    const profiles = [{}, { profile: "default" }, { weights: { similarity: 1 } }].map(async (options) => {
      const { items, explanation } = await ana.recall("green tea", { ...options, explain: true });
      return [explanation?.profile, Object.keys(items[0]?.why?.adds ?? {})];
    });
    expect(await Promise.all(profiles)).toEqual([
      ["classic", ["similarity", "recency"]],
      ["default", ["relevance"]],
      ["classic", ["similarity"]],
    ]);
    await expect(open({ ranking: { profile: "best" } })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it.each([{ profile: "classic" }, { profile: "default" }, { weights: { access: 2, similarity: 1 } }])(
    "explains every part of each score, at once and later, with %j",
    async (options) => {
      const ana = (await open()).scope({ user: "ana" });
      await ana.remember("I drink green tea. I use Shram and Magnet as productivity tools.");
      await ana.remember("I don't use Magnet anymore.");
      await ana.remember("Green tea, every morning, that is what I drink.");
      await ana.remember("My sister Mia drinks black tea.");
      await ana.recall("green tea");
      const { id, items } = await ana.recall("What tools do I use, and do I drink green tea?", {
        ...options,
        explain: true,
      });
      expect(items.length).toBeGreaterThan(3);
      const later = await ana.explain(id);
      for (const item of items) {
        const scored = later.items.find(({ id: one }) => one === item.id);
        const parts = [{ ...item.why, score: item.score }, scored && "adds" in scored ? scored : undefined];
        for (const one of parts) {
          const sum = Object.values(one?.adds ?? {}).reduce((all, part) => all + part, 0);
          const score = Object.values(one?.factors ?? {}).reduce((all, factor) => all * factor, sum);
          expect(score).toBeCloseTo(one?.score ?? Number.NaN, 3);
        }
      }
    },
  );

  it("refuses wrong weights, and weights for another ranking", async () => {
    const ana = (await open()).scope({ user: "ana" });
    const wrong = [
      { weights: {} },
      { weights: { likeness: 1 } },
      { weights: { access: 1 }, profile: "default" },
    ];
    for (const options of wrong)
      await expect(ana.recall("tea", options)).rejects.toMatchObject({ code: "invalid_input" });
  });
});
