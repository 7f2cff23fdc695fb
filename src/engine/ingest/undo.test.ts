import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let folder = "";
let keepsake: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-undo-"));
  keepsake = await createMemory({ path: join(folder, "memory.db") });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(async () => {
  await keepsake.close();
  rmSync(folder, { recursive: true });
});

async function say(): Promise<void> {
  await ana.remember("I use Zubrin every day.");
}

async function importIt(): Promise<void> {
  for await (const _progress of ana.import([{ role: "user", content: "I use Zubrin every day." }]));
}

async function revisions(): Promise<number> {
  return (await ana.history(undefined, { limit: 1 }))[0]?.revision ?? 0;
}

/** What a search with all its words finds of it, whatever its status. */
async function found(): Promise<string[]> {
  const { items } = await ana.recall("Which Zubrin do I use?", { limit: 100, minScore: 0 });
  return items.map(({ text }) => text).filter((text) => text.includes("Zubrin"));
}

for (const [name, bring] of [
  ["said", say],
  ["imported", importIt],
] as const) {
  it(`what was ${name} and undone is found by no search, and is found again after the undoing is undone`, async () => {
    await bring();
    expect(await found()).not.toEqual([]);
    await ana.undo(await revisions());
    expect(await found()).toEqual([]);
    expect((await ana.list({ status: "all" })).items).toMatchObject([{ status: "retracted", why: "undone" }]);
    expect(await keepsake.check()).toEqual([]);
    await ana.undo(await revisions());
    expect(await found()).toContain("The user uses Zubrin every day.");
    expect(await keepsake.check()).toEqual([]);
  });

  it(`what was ${name} and undone stays hidden when search units are repaired`, async () => {
    await bring();
    await ana.undo(await revisions());
    await ana.remember("I live in Porto.");
    const database = new DatabaseSync(join(folder, "memory.db"));
    database.exec("DELETE FROM units");
    database.close();
    expect(await keepsake.examine({ fix: true })).toMatchObject({ isHealthy: true });
    expect(await found()).toEqual([]);
    expect(await keepsake.check()).toEqual([]);
  });
}

it("what was removed by hand is found as such after an edit of it was undone", async () => {
  await say();
  const [memory] = (await ana.list()).items;
  await ana.remove(memory?.id ?? "");
  await ana.update(memory?.id ?? "", { text: "The user uses Zubrin at night." });
  await ana.undo(await revisions());
  expect((await ana.list({ status: "all" })).items).toMatchObject([{ status: "retracted" }]);
  expect(await found()).toContain("The user uses Zubrin every day.");
  expect(await keepsake.check()).toEqual([]);
});
