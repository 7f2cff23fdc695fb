import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let keepsake: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  keepsake = await createMemory({ record: createInMemoryStore() });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

const all = async (): Promise<string[]> =>
  (await ana.list({ status: "all" })).items.map(({ text, status }) => `${status}: ${text}`).sort();

describe("supersede by description", () => {
  it("adds the new fact and ends the old one; the history keeps it", async () => {
    await ana.add({ text: "Ana started at Nordwind in 2021." });
    await ana.add({ text: "The Nordwind canteen is good." });
    const receipt = await ana.supersede("Ana's employer", { text: "Ana works at Lumen." });
    expect(await all()).toEqual([
      "current: Ana works at Lumen.",
      "current: The Nordwind canteen is good.",
      "superseded: Ana started at Nordwind in 2021.",
    ]);
    const [ended, added] = receipt.memories;
    expect(ended).toMatchObject({ action: "superseded", by: added?.id });
    expect((await ana.history(ended?.id ?? "")).map(({ status }) => status)).toEqual([
      "current",
      "superseded",
    ]);
  });

  it("only adds when nothing matches, and keeps an equal memory", async () => {
    await ana.add({ text: "Ana's desk is in room 4." });
    await ana.supersede("Ana's bicycle", { text: "Ana rides a Brompton." });
    await ana.supersede("Ana's desk", { text: "Ana's desk is in room 4." });
    expect(await all()).toEqual(["current: Ana rides a Brompton.", "current: Ana's desk is in room 4."]);
  });

  it("can be undone", async () => {
    await ana.add({ text: "Ana lives in Ghent." });
    const { revision } = await ana.supersede("Ana's residence", { text: "Ana lives in Porto." });
    await ana.undo(revision);
    expect((await ana.list()).items.map(({ text }) => text)).toEqual(["Ana lives in Ghent."]);
  });

  it("refuses empty words", async () => {
    await expect(ana.supersede(" ", { text: "Ana lives in Porto." })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});
