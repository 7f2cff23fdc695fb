import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createMemory } from "../../src/memory.ts";
import { killed, random } from "./kill.ts";
import { parrotModel, said, understood } from "./understand-child.ts";

it("what waits for a model is read after a kill, each message once, and none is lost", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-understand-"));
  const path = join(folder, "memory.db");
  const draw = random(20260106);
  const words: string[] = [];
  try {
    for (let run = 1; run <= 3; run += 1) {
      const steps = String(run * 12 + Math.floor(draw() * 9));
      words.push(...(await killed([path, "60", steps], 60_000, "start", "understand-child.ts")));
    }
    expect(words).not.toContain("done");
    expect(words.filter((word) => word.startsWith("fault"))).toEqual([]);
    const stored = Math.max(...words.map((word) => Number(/^stored (\d+)/.exec(word)?.[1] ?? 0)));
    expect(stored).toBeGreaterThan(10);
    await using memory = await createMemory({ path, model: parrotModel() });
    const ana = memory.scope({ user: "ana" });
    expect(await ana.understand()).toMatchObject({ pending: 0 });
    const { items } = await ana.list({ limit: 1000 });
    const known = new Set(items.map(({ text }) => text));
    const numbers = Array.from({ length: stored }, (_, i) => i + 1);
    expect(numbers.filter((number) => !known.has(understood(number)))).toEqual([]);
    expect(items.every(({ evidence, version }) => evidence === 1 && version === 1)).toBe(true);
    expect(items.find(({ text }) => text === understood(1))?.sources).toMatchObject([
      { message: "m1", quote: said(1).slice(0, said(1).indexOf(",")) },
    ]);
    expect(await memory.check()).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
