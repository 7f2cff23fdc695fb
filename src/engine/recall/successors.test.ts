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

describe("a memory that has ended", () => {
  it("ranks after its successor, whatever the successor's words", async () => {
    await ana.add({ text: "Ruth works at Larkin Tools.", at: "2026-01-01" });
    await ana.supersede("Ruth works at Larkin Tools", {
      text: "Ruth now serves as a buyer for Larkin Group.",
    });
    const { items } = await ana.recall("Where does Ruth work?");
    const texts = items.map(({ text, status }) => `${status}: ${text}`);
    expect(texts).toEqual([
      "current: Ruth now serves as a buyer for Larkin Group.",
      "superseded: Ruth works at Larkin Tools.",
    ]);
  });

  it("displaces no item within the limit", async () => {
    await ana.add({ text: "Ruth works at Larkin Tools." });
    await ana.supersede("Ruth works at Larkin Tools", {
      text: "Ruth now serves as a buyer for Larkin Group.",
    });
    const { items } = await ana.recall("Where does Ruth work?", { limit: 1 });
    expect(items.map(({ status }) => status)).toEqual(["current"]);
  });

  it("appears alone when its successor belongs to another time", async () => {
    const then = "2026-02-01T00:00:00Z";
    await ana.add({ text: "Ruth works at Larkin Tools.", validFrom: "2025-01-01T00:00:00Z" });
    await ana.supersede("Ruth works at Larkin Tools", {
      text: "Ruth now serves as a buyer for Larkin Group.",
      validFrom: "2026-03-01T00:00:00Z",
    });
    const { items } = await ana.recall("Where does Ruth work?", { asOf: then });
    expect(items.map(({ text }) => text)).toEqual(["Ruth works at Larkin Tools."]);
  });
});
