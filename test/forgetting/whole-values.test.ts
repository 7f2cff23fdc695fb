import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemory, type ScopedMemory } from "../../src/index.ts";

/** Values of which one is a part of another. */
const FAMILIES: readonly (readonly string[])[] = [
  ["2,200 USD", "2,350 USD", "200 USD", "350 USD"],
  ["2.350,00 EUR", "350,00 EUR", "12.350,00 EUR"],
  ["12:30", "12:45", "22:30"],
  ["A-17", "B-17", "A-171"],
  ["v2.3.1", "v2.3.10", "v12.3.1"],
  ["2026-03-01", "2026-03-11", "2025-03-01"],
  ["ana@pine.io", "ana@pine.io.nz", "dana@pine.io"],
  ["4.5 mg", "14.5 mg", "4.55 mg"],
];
const FRAMES: readonly ((value: string, n: number) => string)[] = [
  (value, n) => `Naomi said that figure ${n} is ${value}, but she will confirm it by letter.`,
  (value, n) => `Item number ${n} in the blue folder is ${value}; it was noted by Ivo.`,
  (value) => `The note (${value}) lies on my desk.`,
];

async function everything(memory: ScopedMemory): Promise<string> {
  const lines: string[] = [];
  for await (const line of memory.export()) lines.push(JSON.stringify(line));
  return lines.join("\n");
}

/** How often a value stands in a text, not as a part of a longer one. */
function count(text: string, value: string): number {
  const escaped = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const whole = new RegExp(
    `(?<![\\p{L}\\p{N}]|[\\p{L}\\p{N}][.,:@-])${escaped}(?![\\p{L}\\p{N}]|[.,:@-][\\p{L}\\p{N}])`,
    "gu",
  );
  return text.match(whole)?.length ?? 0;
}

const CASES = fc.record({
  family: fc.constantFrom(...FAMILIES),
  frames: fc.array(fc.nat(FRAMES.length - 1), { minLength: 4, maxLength: 4 }),
  named: fc.nat(3),
});

describe("forgetting a value", () => {
  it("takes it wherever it stands, and cuts no longer value that it is a part of", async () => {
    await fc.assert(
      fc.asyncProperty(CASES, async ({ family, frames, named }) => {
        const keepsake = await createMemory({ path: ":memory:" });
        const ana = keepsake.scope({ user: "ana" });
        for (const [i, value] of family.entries())
          await ana.remember(FRAMES[frames[i] ?? 0]?.(value, i + 1) ?? "");
        const value = family[named % family.length] ?? "";
        const before = await everything(ana);
        expect(count(before, value)).toBeGreaterThan(0);
        const receipt = await ana.forget(value);
        const left = await everything(ana);
        await keepsake.close();
        expect([value, count(left, value), receipt.complete]).toEqual([value, 0, true]);
        for (const other of family.filter((one) => one !== value)) {
          expect([value, other, count(left, other) > 0]).toEqual([value, other, true]);
        }
        expect(left).not.toMatch(/[\p{L}\p{N}][.,:@-]?\[…\]|\[…\][.,:@-]?[\p{L}\p{N}]/u);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ["Please remove the earlier amount 2,200 USD.", "2,200", "2,350 USD"],
    ["Forget the amount 2,200 USD.", "2,200", "2,350 USD"],
  ])("%j takes that amount and leaves the later one whole", async (asks, gone, kept) => {
    const keepsake = await createMemory({ path: ":memory:" });
    const ana = keepsake.scope({ user: "ana" });
    await ana.remember("Naomi said the provisional stipend is 2,200 USD, but it will be confirmed by mail.");
    await ana.remember("The provisional stipend is now 2,350 USD, as Naomi wrote in her note.");
    await ana.remember(asks);
    const left = await everything(ana);
    expect(left).not.toContain(gone);
    expect(left).toContain(kept);
    expect(left).not.toMatch(/\[…\][.,:]\d/);
    const later = await ana.remember({ role: "assistant", content: "Your stipend is 12,200 USD in all." });
    expect(later.messages).toHaveLength(1);
    expect(await everything(ana)).toContain("12,200 USD");
    await keepsake.close();
  });

  it("a number that is a part of a code or of a longer number erases neither", async () => {
    const keepsake = await createMemory({ path: ":memory:" });
    const ana = keepsake.scope({ user: "ana" });
    await ana.remember("My rent is 2,350 USD.");
    await ana.remember("My locker is A-17 and my seat is 17.");
    expect((await ana.forget("350")).erased.memories).toBe(0);
    await ana.forget("17");
    const left = await everything(ana);
    expect(left).toContain("2,350 USD");
    expect(left).toContain("My locker is A-17");
    expect(left).not.toContain("my seat is 17");
    await keepsake.close();
  });
});
