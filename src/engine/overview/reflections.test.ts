import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import { scriptedModel } from "../../testing/test-doubles.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let memory: Keepsake;
let ann: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({ record: createInMemoryStore() });
  ann = memory.scope({ user: "ann" });
  await ann.remember([
    { id: "m1", role: "user", content: "I work at Vantor.", at: "2026-03-02T10:00:00Z" },
    { id: "m2", role: "user", content: "My boss is Petra.", at: "2026-03-09T10:00:00Z" },
    { id: "m3", role: "user", content: "I am allergic to walnuts.", at: "2026-03-10T10:00:00Z" },
    { id: "m4", role: "user", content: "My office is in Ghent.", at: "2026-04-01T10:00:00Z" },
  ]);
});
afterEach(() => memory.close());

describe("reflections", () => {
  it("sum up a month and a topic in the words of the memories, and name these and their messages", async () => {
    const { items, total } = await ann.reflect();
    expect(total).toBe(1);
    expect(items[0]).toMatchObject({ kind: "reflection", topic: "work", month: "2026-03" });
    const texts = (await ann.list()).items.map(({ text }) => text);
    const said = items[0]?.text.replace("In March 2026, about work: ", "").split(/(?<=\.) /) ?? [];
    expect(said.toSorted()).toEqual(["The user works at Vantor.", "The user's boss is called Petra."]);
    for (const statement of said) expect(texts).toContain(statement);
    expect([items[0]?.memories.length, items[0]?.sources.toSorted()]).toEqual([2, ["m1", "m2"]]);
  });

  it("are chosen by topic, time and the number of memories, the newest month first", async () => {
    const all = await ann.reflect({ minMemories: 1 });
    expect(all.items.map(({ month, topic }) => `${month} ${topic}`)).toEqual([
      "2026-04 work",
      "2026-03 work",
      "2026-03 health",
    ]);
    expect(all.items.at(-1)?.sensitive).toBe(true);
    const later = await ann.reflect({ minMemories: 1, from: "2026-04-01T00:00:00Z" });
    expect(later.items.map(({ month }) => month)).toEqual(["2026-04"]);
    const health = await ann.reflect({ minMemories: 1, topic: "health", to: "2026-04-01T00:00:00Z" });
    expect(health.items.map(({ topic }) => topic)).toEqual(["health"]);
    const limited = await ann.reflect({ minMemories: 1, limit: 1 });
    expect([limited.items.length, limited.total]).toEqual([1, 3]);
  });

  it("fall with their sources when these are ended or erased", async () => {
    await ann.remember("I no longer work at Vantor.", { at: "2026-03-20T10:00:00Z" });
    expect(JSON.stringify(await ann.reflect({ minMemories: 1 }))).not.toContain("works at Vantor");
    await ann.forget("Petra");
    const found = JSON.stringify(await ann.reflect({ minMemories: 1 }));
    expect(found).not.toContain("Petra");
    expect(found).not.toContain('"m2"');
  });

  it("store nothing and do not change what a recall finds", async () => {
    const [revision, before] = [await ann.revision(), await ann.recall("Where do I work?")];
    await ann.reflect({ minMemories: 1 });
    expect(await ann.revision()).toBe(revision);
    const after = await ann.recall("Where do I work?");
    expect(after.items.map(({ id }) => id)).toEqual(before.items.map(({ id }) => id));
  });

  it("quote five statements of a month, and count the others", async () => {
    for (let i = 1; i <= 7; i += 1)
      await ann.add({ text: `The user met client ${i}.`, at: "2026-05-01T00:00:00Z" });
    const { items } = await ann.reflect({ from: "2026-05-01T00:00:00Z" });
    expect(items[0]?.text).toMatch(/^In May 2026, about work: .* And 2 more\.$/);
    expect(items[0]?.memories).toHaveLength(7);
  });

  it("never sum up a password, or what is of another user", async () => {
    await ann.add({ text: "The user's password is opensesame.", at: "2026-03-02T10:00:00Z" });
    await memory
      .scope({ user: "bob" })
      .add({ text: "The user works at Brightwell.", at: "2026-03-02T10:00:00Z" });
    const found = JSON.stringify(await ann.reflect({ minMemories: 1 }));
    expect(found).not.toContain("opensesame");
    expect(found).not.toContain("Brightwell");
  });

  it("are in a model's words if it is asked, without a sentence that cites no memory", async () => {
    const model = scriptedModel(({ turns }) => {
      const notes = turns.at(-1)?.content ?? "";
      const ofBoss = /"n":(\d+)[^\n]*Petra/.exec(notes)?.[1];
      return `The user works at Vantor under Petra [${ofBoss}, 1]. The user is happy there. They met [9].`;
    });
    await using other = await createMemory({ record: createInMemoryStore(), model, extractor: "rules" });
    const bob = other.scope({ user: "bob" });
    await bob.remember("I work at Vantor.", { at: "2026-03-02T10:00:00Z" });
    await bob.remember("My boss is Petra.", { at: "2026-03-09T10:00:00Z" });
    expect((await bob.reflect()).items[0]?.by).toBe("memory");
    expect(model.asked).toEqual([]);
    const { items } = await bob.reflect({ by: "model" });
    expect(items).toMatchObject([
      {
        by: "model",
        topic: "work",
        text: "In March 2026, about work: The user works at Vantor under Petra.",
      },
    ]);
    expect(items[0]?.memories).toHaveLength(2);
    await bob.forget("Petra");
    const after = JSON.stringify(await bob.reflect({ by: "model", minMemories: 1 }));
    expect(after).not.toContain("Petra");
  });

  it.each<[string, Parameters<typeof scriptedModel>[0]]>([
    ["cannot be reached", () => new MemoryError("unavailable", "It is down.")],
    ["refuses", () => ({ text: "I will not [1].", finish: "refused" })],
    ["cites nothing", () => "The user works."],
  ])("stay in the words of the memories if the model %s", async (_what, says) => {
    await using other = await createMemory({
      record: createInMemoryStore(),
      model: scriptedModel(says),
      extractor: "rules",
    });
    const bob = other.scope({ user: "bob" });
    await bob.remember("I work at Vantor. My boss is Petra.", { at: "2026-03-02T10:00:00Z" });
    const [plain, worded] = [await bob.reflect(), await bob.reflect({ by: "model" })];
    expect(plain.items).toHaveLength(1);
    expect(worded).toEqual(plain);
  });

  it("do not repeat what was erased while the model wrote", async () => {
    let bob: ScopedMemory | undefined;
    const model = scriptedModel(async () => {
      await bob?.forget("Petra");
      return "The user works under Petra [1, 2].";
    });
    await using other = await createMemory({ record: createInMemoryStore(), model, extractor: "rules" });
    bob = other.scope({ user: "bob" });
    await bob.remember("I work at Vantor. My boss is Petra.", { at: "2026-03-02T10:00:00Z" });
    const { items } = await bob.reflect({ by: "model", minMemories: 1 });
    expect(items.map(({ by }) => by)).toEqual(["memory"]);
    expect(JSON.stringify(items)).not.toContain("Petra");
  });

  it("are refused with a wrong option", async () => {
    for (const options of [{ limit: 0 }, { minMemories: 0 }, { from: "yesterday" }, { by: "me" as "model" }])
      await expect(ann.reflect(options)).rejects.toMatchObject({ code: "invalid_input" });
  });
});
