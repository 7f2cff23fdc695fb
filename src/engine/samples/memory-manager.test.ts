import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

// The samples of the documents that Keepsake was asked to fulfil, as calls of the library, in other words.

let now: Date;
let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  now = new Date("2026-01-05T12:00:00Z");
  memory = await createMemory({ path: ":memory:", clock: () => now });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

describe("the samples of the documents", () => {
  it("adds a memory of a kind with metadata, and finds it by a question among its kind, with a score", async () => {
    await ana.add({ text: "Ana's car is green.", kind: "fact", metadata: { importance: 0.8 } });
    await ana.add({ text: "Ana met Marta at a party.", kind: "event" });
    const { items } = await ana.recall("What colour is Ana's car?", { kinds: ["semantic"], limit: 3 });
    expect(items.map(({ text }) => text)).toEqual(["Ana's car is green."]);
    expect(items[0]?.score).toBeGreaterThan(0);
  });

  it("associates two of several memories, finds what is related, and cleans old ones up", async () => {
    const texts = [
      "The harbour freezes in winter.",
      "Ana had soup on Monday.",
      "The ferry is built of steel.",
    ];
    const ids: string[] = [];
    for (const text of texts) ids.push((await ana.add({ text, importance: 0.2 })).memories[0]?.id ?? "");
    const [harbour = "", , ferry = ""] = ids;
    await ana.link(harbour, ferry, { type: "related_to", strength: 0.8 });
    const { items } = await ana.related(harbour, { types: ["related_to"] });
    expect(items).toMatchObject([{ memory: { id: ferry } }]);
    now = new Date("2026-03-05T12:00:00Z");
    const planned = await ana.optimize({ maxAgeDays: 30, minImportance: 0.3, dryRun: true });
    expect((await ana.list()).items).toHaveLength(3);
    const done = await ana.optimize({ maxAgeDays: 30, minImportance: 0.3, dryRun: false });
    const listArchived = ({ jobs }: typeof done) =>
      jobs.flatMap(({ memories }) =>
        memories.filter(({ action }) => action === "archived").map(({ text }) => text),
      );
    expect(listArchived(planned)).toEqual([texts[1]]);
    expect(listArchived(done)).toEqual([texts[1]]);
    // What is associated stays.
    expect((await ana.list()).items.map(({ text }) => text).sort()).toEqual([texts[0], texts[2]].sort());
  });

  it("recalls at a late turn what was said at the first, in another conversation", async () => {
    await ana.converse("I love espresso, and I prefer dark roasts.", { session: "first" });
    for (let turn = 2; turn < 20; turn += 1)
      await ana.converse(`The weather was fine on day ${turn}.`, { session: "first" });
    const { context } = await ana.recall("What kind of coffee should I buy?");
    expect(context).toMatch(/espresso|dark roasts/);
  });

  it("creates a session with data, reads it, changes a field of it, and ends it", async () => {
    await ana.startSession({ id: "one", topic: "travel", preferences: { tone: "short" } });
    expect(await ana.sessionState("one")).toMatchObject({ id: "one", topic: "travel" });
    await ana.updateSession("one", { context: { step: 2 } });
    expect(await ana.sessionState("one")).toMatchObject({ topic: "travel", context: { step: 2 } });
    await ana.endSession("one");
    await expect(ana.sessionState("one")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a memory that is opened and closed", () => {
  it("is closed at the end of its block, also after an error, and has everything when opened again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-sample-"));
    const path = join(folder, "memories.db");
    try {
      const failing = async (): Promise<void> => {
        await using opened = await createMemory({ path });
        await opened.scope({ user: "ana" }).add({ text: "Ana's car is green.", importance: 0.8 });
        throw new Error("interrupted");
      };
      await expect(failing()).rejects.toThrow("interrupted");
      await using opened = await createMemory({ path });
      const { items } = await opened.scope({ user: "ana" }).list();
      expect(items).toMatchObject([{ text: "Ana's car is green.", importance: 0.8 }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("memories of several kinds and sources", () => {
  it("are found by their source, changed, and removed", async () => {
    const named = [
      ["The sea is salty.", "semantic", "system"],
      ["Ana ate soup in Porto.", "episodic", "user"],
      ["Rust is a language.", "semantic", "system"],
    ] as const;
    for (const [text, kind, source] of named)
      await ana.add({ text, kind, importance: 0.7, metadata: { source } });
    const { items } = await ana.recall("What did Ana eat?", { where: { source: "user" } });
    expect(items.map(({ text, kind }) => [text, kind])).toEqual([["Ana ate soup in Porto.", "event"]]);
    const id = items[0]?.id ?? "";
    await ana.update(id, { text: "Ana ate soup in Faro." });
    expect((await ana.get(id)).text).toBe("Ana ate soup in Faro.");
    await ana.remove(id);
    expect((await ana.list()).items.map(({ text }) => text).sort()).toEqual([named[2][0], named[0][0]]);
  });
});
