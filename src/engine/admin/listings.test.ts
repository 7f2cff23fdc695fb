import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ListOptions } from "../api/listing-types.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let memory: Keepsake;
let ana: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-09T12:00:00Z");
  memory = await createMemory({ path: ":memory:", clock: () => now });
  ana = memory.scope({ user: "ana" });
  const add = (text: string, at: string, importance: number) => ana.add({ text, at, importance });
  await add("Banana", "2026-01-03T00:00:00Z", 0.2);
  await add("apple", "2026-01-01T00:00:00Z", 0.9);
  await add("Cherry", "2026-01-02T00:00:00Z", 0.5);
});
afterEach(() => memory.close());

const texts = async (options: ListOptions = {}): Promise<string[]> =>
  (await ana.list(options)).items.map(({ text }) => text);

describe("a list of memories", () => {
  it.each([
    ["newest", ["Banana", "Cherry", "apple"]],
    ["oldest", ["apple", "Cherry", "Banana"]],
    ["importance", ["apple", "Cherry", "Banana"]],
    ["text", ["apple", "Banana", "Cherry"]],
  ] as const)("is sorted by %s", async (sort, order) => {
    expect(await texts({ sort })).toEqual(order);
  });

  it("gives what was changed last first, if sorted by changes", async () => {
    const { items } = await ana.list({ sort: "oldest", limit: 1 });
    now = new Date("2026-03-10T12:00:00Z");
    await ana.update(items[0]?.id ?? "", { text: "apple pie" });
    expect((await texts({ sort: "changed" }))[0]).toBe("apple pie");
  });

  it.each(["newest", "oldest", "text"] as const)(
    "gives each memory once over pages, sorted by %s",
    async (sort) => {
      const seen: string[] = [];
      for await (const { text } of ana.list({ sort, limit: 2 })) seen.push(text);
      expect(seen).toEqual(await texts({ sort }));
      const first = await ana.list({ sort, limit: 2 });
      expect(first.total).toBe(3);
      expect(first.cursor).toBeDefined();
    },
  );

  it("begins at an offset, and is empty behind its end", async () => {
    expect(await texts({ offset: 1, limit: 1 })).toEqual(["Cherry"]);
    expect(await texts({ offset: 3 })).toEqual([]);
  });

  it("is limited to a time, an origin and a session", async () => {
    await ana.remember([{ role: "user", content: "I live in Porto.", at: "2026-02-01T00:00:00Z" }], {
      session: "home",
    });
    expect(await texts({ from: "2026-01-02", to: "2026-01-03" })).toEqual(["Cherry"]);
    expect(await texts({ origin: "user_message" })).toEqual([expect.stringContaining("Porto")]);
    expect(await texts({ session: "home" })).toEqual([expect.stringContaining("Porto")]);
    expect(await texts({ session: "work" })).toEqual([]);
  });

  it("gives what was true at a time, whatever came later", async () => {
    const say = (content: string, at: string) => ana.remember([{ role: "user", content, at }]);
    await say("I live in Porto.", "2026-02-01T00:00:00Z");
    await say("I don't live in Porto anymore. I live in Faro.", "2026-03-01T00:00:00Z");
    const homes = async (asOf: string) =>
      (await texts({ asOf })).filter((text) => /Porto|Faro/.test(text)).join();
    expect(await homes("2026-01-15")).toBe("");
    expect(await homes("2026-02-15")).toContain("Porto");
    expect(await homes("2026-02-15")).not.toContain("Faro");
    expect(await homes("2026-03-05")).toContain("Faro");
    expect(await homes("2026-03-05")).not.toContain("Porto");
  });

  it("gives what was stored at a time, in the words and with the status of then", async () => {
    const [banana, cherry, apple] = (await ana.list()).items.map(({ id }) => id);
    now = new Date("2026-03-20T12:00:00Z");
    await ana.update(banana ?? "", { text: "Banana bread" });
    await ana.update(cherry ?? "", { validTo: "2026-03-15" });
    await ana.add({ text: "Date" });
    const then = "2026-03-10";
    expect(await texts({ knownAt: then })).toEqual(["Banana", "Cherry", "apple"]);
    expect(await texts({ knownAt: then, status: "superseded" })).toEqual([]);
    expect(await texts({ knownAt: "2026-03-01", status: "all" })).toEqual([]);
    expect(await texts({ knownAt: "2026-03-21" })).toEqual(await texts());
    expect(await texts()).toEqual(["Date", "Banana bread", "apple"]);
    expect((await ana.facets({ by: "kind", knownAt: then })).total).toBe(3);
    expect(await memory.scope({ user: "bob" }).list({ knownAt: then })).toMatchObject({ total: 0 });
    await ana.forget({ ids: [apple ?? ""] });
    expect(await texts({ knownAt: then })).toEqual(["Banana", "Cherry"]);
  });

  it("gives nothing that has expired since, whatever was known at a time", async () => {
    const [banana] = (await ana.list()).items.map(({ id }) => id);
    await ana.update(banana ?? "", { expiresAt: "2026-03-12" });
    now = new Date("2026-03-20T12:00:00Z");
    expect(await texts({ knownAt: "2026-03-10" })).toEqual(["Cherry", "apple"]);
  });

  it("counts a memory among the outdated once a person has ended it, and an event not", async () => {
    const [banana, cherry] = (await ana.list()).items.map(({ id }) => id);
    await ana.update(banana ?? "", { validTo: "2026-03-01" });
    await ana.update(cherry ?? "", { validTo: "2026-12-01" });
    await ana.add({ text: "Fair in Porto", kind: "event", at: "2026-01-05" });
    const { items } = await ana.list({ kind: "event" });
    await ana.update(items[0]?.id ?? "", { validTo: "2026-01-06" });
    expect(await texts({ status: "superseded" })).toEqual(["Banana"]);
    expect(await texts()).toEqual(["Fair in Porto", "Cherry", "apple"]);
  });

  it.each([
    { sort: "size" },
    { origin: "nobody" },
    { from: "soon" },
    { knownAt: "soon" },
    { offset: -1 },
    { offset: 1, cursor: "WzFd" },
    { asOf: "2026-01-01", status: "all" },
  ])("refuses %j", async (options) => {
    await expect(ana.list(options as ListOptions)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("a message", () => {
  it("is given by its id, with its session", async () => {
    await ana.remember([{ id: "m1", role: "user", content: "I live in Porto." }], { session: "home" });
    expect(await ana.message("m1")).toMatchObject({ content: "I live in Porto.", session: "home" });
  });

  it("is not found once it is erased or undone", async () => {
    await ana.remember([{ id: "m1", role: "user", content: "I live in Porto." }]);
    const { revision } = await ana.remember([{ id: "m2", role: "user", content: "I like tea." }]);
    await ana.forget({ ids: ["m1"] });
    await ana.undo(revision);
    for (const id of ["m1", "m2", "m3"]) {
      await expect(ana.message(id)).rejects.toMatchObject({ code: "not_found" });
    }
  });
});
