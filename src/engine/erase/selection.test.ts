import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import type { Forget } from "../api/writing-types.ts";

let keepsake: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  keepsake = await createMemory({ record: createInMemoryStore() });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

const texts = async (): Promise<string> =>
  (await ana.list({ status: "all" })).items
    .map(({ text }) => text)
    .sort()
    .join("; ");

describe("an exact selection", () => {
  it("selects by the time of statements: from inclusive, to exclusive", async () => {
    await ana.remember("I live in Bergen.", { at: "2026-03-01T10:00:00Z" });
    await ana.remember("I play the cello.", { at: "2026-03-02T10:00:00Z" });
    await ana.remember("I use Figma.", { at: "2026-03-03T10:00:00Z" });
    await ana.forget({ from: "2026-03-02T10:00:00Z", to: new Date("2026-03-03T10:00:00Z") });
    expect(await texts()).toMatch(/Bergen.*Figma/);
    expect(await texts()).not.toMatch(/cello/);
    await ana.forget({ to: "2026-03-02" });
    expect(await texts()).not.toMatch(/Bergen/);
  });

  it("selects by topic, and includes the source words", async () => {
    await ana.remember("I was diagnosed with asthma. I live in Bergen.");
    await ana.remember("I'm allergic to penicillin and I use Figma.");
    const receipt = await ana.forget({ topic: "health" });
    expect(receipt.complete).toBe(true);
    expect(await texts()).toMatch(/Bergen/);
    expect(await texts()).toMatch(/Figma/);
    expect(await texts()).not.toMatch(/asthma|penicillin/);
    expect(JSON.stringify((await ana.recall("asthma penicillin")).items)).not.toMatch(/asthma|penicillin/);
  });

  it.each([0, 1])("by id leaves what another memory of the same sentence says, memory %i", async (place) => {
    await ana.remember("My sister has a boat called Wandalina, and I painted it in March.");
    const { items } = await ana.list();
    const told = items.filter(({ text }) => text.includes("Wandalina"));
    expect(told).toHaveLength(2);
    const [gone, kept] = [told[place], told[1 - place]];
    const receipt = await ana.forget({ ids: [gone?.id ?? ""] });
    expect(receipt).toMatchObject({ complete: true, erased: { memories: 1 } });
    expect(await texts()).toContain(kept?.text);
    expect(await texts()).not.toContain(gone?.text);
    const [source] = (await ana.get(kept?.id ?? ""))?.sources ?? [];
    expect(source?.quote).not.toMatch(/^\s*\[…\]\s*$/);
  });

  it.each<[string, Forget]>([
    ["a session", { session: "first" }],
    ["a message", { ids: ["m-1"] }],
    ["a time", { to: "2026-03-02" }],
  ])("is complete for %s where another message says the same words, which stay", async (_name, what) => {
    const words = "The weather in Bergen is grey today.";
    await ana.remember([
      { id: "m-1", role: "user", content: words, session: "first", at: "2026-03-01T10:00:00Z" },
    ]);
    await ana.remember([
      { id: "m-2", role: "user", content: words, session: "second", at: "2026-03-03T10:00:00Z" },
    ]);
    const receipt = await ana.forget(what);
    expect([receipt.complete, receipt.verified.filter(({ found }) => found > 0)]).toEqual([true, []]);
    const left = [];
    for await (const line of ana.export()) if (line.type === "message") left.push(line);
    expect(left).toMatchObject([{ message: { id: "m-2", content: words } }]);
    expect((await keepsake.audit()).broken).toEqual([]);
  });

  it("selects by relation", async () => {
    await ana.remember("I live in Bergen. I use Figma.");
    await ana.forget({ topic: "reside in" });
    expect(await texts()).toMatch(/Figma/);
    expect(await texts()).not.toMatch(/Bergen/);
  });

  it.each<[string, unknown, RegExp]>([
    ["nothing at all", {}, /say what to forget/],
    ["what is not there", undefined, /say what to forget/],
    ["a number", 7, /say what to forget/],
    ["an empty filter", { where: {} }, /empty filter/],
    ["no ids", { ids: [] }, /at least one/],
    ["a span that ends before it begins", { from: "2026-03-02", to: "2026-03-01" }, /after from/],
    ["no time", { from: "yesterday" }, /from is not a time/],
    ["an unknown topic", { topic: "zorbing" }, /unknown topic.*health/],
    ["an empty topic", { topic: " " }, /topic is empty/],
    ["an empty session", { session: "" }, /session is empty/],
    ["empty words", "  ", /empty/],
  ])("refuses %s", async (_name, what, message) => {
    await ana.remember("I live in Bergen.");
    await expect(ana.forget(what as Forget)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(ana.forget(what as Forget)).rejects.toThrow(message);
    expect(await texts()).toMatch(/Bergen/);
  });
});

describe("an erasure of one revision", () => {
  it.each<[string, (id: string) => Forget]>([
    ["words", () => "Bergen"],
    ["ids", (id) => ({ ids: [id] })],
    ["a sentence", () => "Forget that I live in Bergen."],
  ])("erases by %s only if nothing was written since", async (_what, toTarget) => {
    await ana.remember("I live in Bergen.");
    const id = (await ana.list()).items[0]?.id ?? "";
    const ifRevision = await ana.revision();
    await ana.remember("I play the cello.");
    const refused = ana.forget(toTarget(id), { ifRevision });
    await expect(refused).rejects.toMatchObject({ code: "conflict" });
    expect(await texts()).toMatch(/Bergen/);
    expect(await ana.erasures()).toEqual([]);
    await ana.forget(toTarget(id), { ifRevision: await ana.revision() });
    expect(await texts()).not.toMatch(/Bergen/);
  });
});
