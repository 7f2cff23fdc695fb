import { afterEach, describe, expect, it } from "vitest";
import { createMemory } from "../memory.ts";
import type { Keepsake } from "./api/keepsake.ts";
import type { ScopedMemory } from "./api/scoped-memory.ts";

const memories: Keepsake[] = [];
afterEach(async () => {
  for (const memory of memories.splice(0)) await memory.close();
});

async function openAna(): Promise<ScopedMemory> {
  const memory = await createMemory({ path: ":memory:", clock: () => new Date("2026-06-01") });
  memories.push(memory);
  const ana = memory.scope({ user: "ana" });
  await ana.remember([
    { role: "user", content: "I use Shram and Magnet as productivity tools." },
    { role: "user", content: "I live in Porto. The rent is high." },
    { role: "assistant", content: "Porto is lovely in spring." },
  ]);
  await ana.add({ text: "Ana's boiler was serviced by Kovač in March." });
  return ana;
}

const textsOf = async (memory: ScopedMemory): Promise<string[]> =>
  (await memory.list()).items.map(({ text }) => text).sort();

describe("a list with a filter over texts", () => {
  it("gives the memories whose own text matches, and their number", async () => {
    const ana = await openAna();
    const page = await ana.list({ whereText: { $regex: "(?i)shram|porto" }, limit: 1 });
    expect([page.items.length, page.total]).toEqual([1, 2]);
    const rest = await ana.list({
      whereText: { $regex: "(?i)shram|porto" },
      limit: 1,
      cursor: page.cursor ?? "",
    });
    expect([...page.items, ...rest.items].map(({ text }) => text).sort()).toEqual([
      "The user lives in Porto.",
      "The user uses Shram as a productivity tool.",
    ]);
  });

  it.each([{ $contain: "a" }, { $regex: "(" }, { $contains: "" }])(
    "refuses the filter %j",
    async (whereText) => {
      const ana = await openAna();
      await expect(Promise.resolve(ana.list({ whereText }))).rejects.toMatchObject({ code: "invalid_input" });
    },
  );
});

describe("a context with a filter over texts", () => {
  it("holds what was said in matching words, and nothing else", async () => {
    const ana = await openAna();
    const { text } = await ana.context("plan my week", { whereText: { $contains: "Shram" } });
    expect(text).toContain("Shram");
    expect(text).not.toMatch(/Porto|rent|Kovač/);
    expect((await ana.context("plan my week")).text).toMatch(/Porto/);
    await expect(ana.context("plan", { whereText: { $regex: "(" } })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("an erasure with a filter over texts", () => {
  it("plans what a recall with the filter finds, and erases it with the words that memories came from", async () => {
    const ana = await openAna();
    const whereText = { $contains: "lives in Porto" };
    const plan = await ana.forget({ whereText }, { dryRun: true });
    expect(plan.memories.map(({ text }) => text)).toEqual(["The user lives in Porto."]);
    expect(await textsOf(ana)).toContain("The user lives in Porto.");
    const receipt = await ana.forget({ whereText });
    expect([receipt.complete, receipt.erased.memories]).toEqual([true, 1]);
    const left = await ana.recall("Where do I live, and what is the rent?", { limit: 50 });
    expect(left.items.map(({ text }) => text).join("\n")).not.toMatch(/live/);
    expect((await ana.recall("rent", { limit: 50 })).items[0]?.text).toContain("The rent is high.");
  });

  it("erases matching passages whole, and the memories that rest on them alone", async () => {
    const ana = await openAna();
    await ana.forget({ whereText: { $regex: "Magnet as|Porto is" } });
    expect(await textsOf(ana)).toEqual([
      "Ana's boiler was serviced by Kovač in March.",
      "The rent is high.",
      "The user lives in Porto.",
    ]);
    expect((await ana.recall("Porto in spring", { limit: 50 })).items.map(({ text }) => text)).not.toContain(
      "Porto is lovely in spring.",
    );
  });

  it("erases a memory that was added by hand", async () => {
    const ana = await openAna();
    const receipt = await ana.forget({ whereText: { $contains: "Kovač" } });
    expect([receipt.complete, receipt.erased.memories, receipt.erased.messages]).toEqual([true, 1, 0]);
    expect((await textsOf(ana)).join()).not.toContain("Kovač");
  });

  it("erases nothing if nothing matches, and refuses an empty or a wrong filter", async () => {
    const ana = await openAna();
    const before = await textsOf(ana);
    expect((await ana.forget({ whereText: { $contains: "Lisbon" } })).erased).toMatchObject({ memories: 0 });
    for (const whereText of [{}, { $contain: "a" }, { $regex: "(" }])
      await expect(ana.forget({ whereText })).rejects.toMatchObject({ code: "invalid_input" });
    expect(await textsOf(ana)).toEqual(before);
  });

  it("touches no other user", async () => {
    const memory = await createMemory({ path: ":memory:" });
    memories.push(memory);
    for (const user of ["ana", "bob"]) await memory.scope({ user }).add({ text: "The boiler is loud." });
    await memory.scope({ user: "ana" }).forget({ whereText: { $contains: "boiler" } });
    expect(await textsOf(memory.scope({ user: "bob" }))).toEqual(["The boiler is loud."]);
  });
});
