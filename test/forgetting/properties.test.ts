import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import {
  createMemory,
  type Keepsake,
  type MemoryStore,
  restoreMemory,
  type ScopedMemory,
} from "../../src/index.ts";

/** Names of things, none of them part of another or of the sentences around them. */
const THINGS = ["Zubrin", "Quorvel", "Wexford", "Yttrian", "Jolwick", "Kvasny"];
const SAID: readonly ((thing: string) => string)[] = [
  (thing) => `I use ${thing} every day.`,
  (thing) => `My cat is called ${thing}.`,
  (thing) => `I don't like ${thing}, to be honest. I live in Porto.`,
  (thing) => `Yesterday I visited ${thing} with my sister.`,
  (thing) => `I work at ${thing} and I play the oboe.`,
  (thing) => `Is ${thing} any good?`,
  (thing) => `${thing}! ${thing}, ${thing}. What a name.`,
];

interface Step {
  readonly what: "say" | "echo" | "call" | "add" | "update" | "import" | "undo";
  readonly thing: string;
  readonly way: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom("say", "say", "say", "echo", "call", "add", "update", "import", "undo"),
  thing: fc.constantFrom(...THINGS),
  way: fc.nat({ max: SAID.length - 1 }),
});
const history = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 10 }),
  gone: fc.uniqueArray(fc.constantFrom(...THINGS), { minLength: 1, maxLength: 2 }),
});

async function take(memory: ScopedMemory, { what, thing, way }: Step): Promise<void> {
  const text = SAID[way]?.(thing) ?? "";
  if (what === "say") await memory.remember(text, { session: `s${way}`, idempotencyKey: `${thing}${way}` });
  if (what === "echo")
    await memory.remember({ role: "assistant", content: `So: ${text}`, metadata: { thing } });
  if (what === "call") {
    const call = {
      type: "tool_call",
      name: "note",
      arguments: JSON.stringify({ note: `so:\n${thing}`, text }),
    };
    await memory.remember({
      role: "assistant",
      content: way % 2 === 0 ? [call] : [{ type: "text", text: "Done." }, call],
    });
  }
  if (what === "add") await memory.add({ text: `The user owns ${thing}.`, metadata: { thing } });
  if (what === "import") {
    for await (const _progress of memory.import([{ role: "user", content: text, at: "2024-05-01" }]));
  }
  const [newest] = (await memory.list({ status: "all", limit: 1 })).items;
  if (what === "update" && newest) await memory.update(newest.id, { text: `${newest.text} So it is.` });
  const [last] = await memory.history(undefined, { limit: 1 });
  if (what === "undo" && last && last.cause !== "forget")
    await memory.undo(last.revision).catch(() => undefined);
}

/** Everything that can be read or searched of a user. */
async function readable(memory: ScopedMemory, gone: readonly string[]): Promise<string> {
  const parts: unknown[] = [
    await memory.list({ status: "all", limit: 1000 }),
    await memory.profile(),
    await memory.history(undefined, { limit: 1000 }),
    await memory.erasures(),
  ];
  for (const thing of gone) {
    for (const query of [
      thing,
      `What do you know about ${thing}?`,
      "Where do I work?",
      "What is my cat called?",
    ]) {
      const { items, context } = await memory.recall(query, { limit: 100, minScore: 0 });
      parts.push(items, context);
    }
    parts.push((await memory.answer("What is my cat called?")).text);
  }
  for (const { id } of (await memory.list({ status: "all", limit: 1000 })).items)
    parts.push(await memory.get(id), await memory.history(id));
  for await (const line of memory.export()) parts.push(line);
  // The recalls of this function are counted, and change nothing else.
  const written = JSON.stringify(parts, (key, value) => (key === "usage" ? undefined : value));
  return written.toLowerCase();
}

const left = (text: string, gone: readonly string[]): string[] =>
  gone.filter((thing) => text.toLowerCase().includes(thing.toLowerCase()));

const RECORDS: readonly (readonly [string, () => Promise<MemoryStore>])[] = [
  ["memory", async () => createInMemoryStore()],
  ["sqlite", () => openSqliteStore({ path: ":memory:" })],
];

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-properties-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(RECORDS)("on a record of %s, whatever was said before", (_name, open) => {
  it("what was erased is found by nothing, and a second time there is nothing to erase", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ steps, gone }) => {
        const at = new Date("2026-03-01T10:00:00Z");
        await using memory = await createMemory({ record: await open(), clock: () => at });
        const ana = memory.scope({ user: "ana" });
        for (const one of steps) await take(ana, one);
        for (const thing of gone) await ana.forget(thing);
        expect(left(await readable(ana, gone), gone)).toEqual([]);
        const before = await readable(ana, gone);
        for (const thing of gone) {
          const { erased, revision } = await ana.forget(thing);
          expect(erased).toMatchObject({ memories: 0, messages: 0 });
          expect((await ana.history(undefined, { limit: 1 }))[0]?.revision ?? 0).toBe(revision);
        }
        expect(await readable(ana, gone)).toBe(before);
        expect((await memory.audit()).broken).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});

describe("in a file, whatever was said before and after a backup", () => {
  it("a restore never brings back what was erased", { timeout: 120_000 }, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(history, fc.array(step, { maxLength: 4 }), async ({ steps, gone }, later) => {
        run += 1;
        const path = join(folder, `${run}.db`);
        const copy = join(folder, `copy-${run}.db`);
        const ana = (memory: Keepsake): ScopedMemory => memory.scope({ user: "ana" });
        const first = await createMemory({ path });
        for (const one of steps) await take(ana(first), one);
        await first.backup(copy);
        for (const one of later) await take(ana(first), one);
        for (const thing of gone) await ana(first).forget(thing);
        await first.close();
        await restoreMemory({ from: copy, path, replace: true });
        expect(left(readFileSync(path, "latin1"), gone)).toEqual([]);
        await using again = await createMemory({ path });
        expect(again.notices).toEqual([]);
        expect(left(await readable(ana(again), gone), gone)).toEqual([]);
        expect(await again.check()).toEqual([]);
        expect((await again.audit()).broken).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });
});
