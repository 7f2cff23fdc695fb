import fc from "fast-check";
import { expect, it } from "vitest";
import { createMemory, isMemoryError, type Keepsake, type ScopedMemory } from "../src/index.ts";
import { hashEmbedder, scriptedExtractor } from "../src/testing/index.ts";

/** Scopes that differ in one wall only, or would meet if their names were simply joined. */
const SCOPES = [
  { project: "one", user: "ann" },
  { project: "one", user: "bob" },
  { project: "two", user: "ann" },
  { project: "one:ann", user: "x" },
  { project: "one", user: "ann:x" },
] as const;
const MARKS = ["Kiwi", "Mango", "Guava", "Plum", "Lychee"] as const;

type Command =
  | {
      readonly does: "remember" | "end" | "forget" | "forgetAll" | "add" | "undo";
      readonly scope: number;
      readonly number: number;
    }
  | { readonly does: "steal"; readonly scope: number; readonly from: number; readonly number: number };

const scope = fc.nat(SCOPES.length - 1);
const number = fc.nat(3);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    does: fc.constantFrom("remember", "remember", "end", "forget", "forgetAll", "add", "undo"),
    scope,
    number,
  }),
  fc.record({ does: fc.constant("steal" as const), scope, from: scope, number }),
);

it("no read and no write crosses from one user or project to another", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 4, maxLength: 12 }), async (commands) => {
      await using memory = await createMemory({
        path: ":memory:",
        extractor: scriptedExtractor(),
        embedder: hashEmbedder(),
      });
      for (const [i] of SCOPES.entries())
        await of(memory, i).remember(`I use ${MARKS[i]}0 and ${MARKS[i]}1.`);
      for (const one of commands) {
        const before = await Promise.all(SCOPES.map((_, i) => everything(memory, i)));
        await carryOut(memory, one);
        for (const [i] of SCOPES.entries()) {
          const now = await everything(memory, i);
          if (i !== one.scope) expect(now).toBe(before[i]);
          expect(MARKS.filter((mark, j) => j !== i && now.includes(mark))).toEqual([]);
        }
      }
    }),
    { numRuns: 40 },
  );
});

function of(memory: Keepsake, i: number): ScopedMemory {
  return memory.scope(SCOPES[i] ?? SCOPES[0]);
}

async function carryOut(memory: Keepsake, one: Command): Promise<void> {
  const ours = of(memory, one.scope);
  const name = `${MARKS[one.scope]}${one.number}`;
  const doing: { readonly [does in Command["does"]]: () => Promise<unknown> } = {
    remember: () => ours.remember(`I use ${name}.`, { session: "s" }),
    end: () => ours.remember(`I don't use ${name} anymore.`),
    forget: () => ours.forget(name),
    forgetAll: () => ours.forget({ everything: true }),
    add: () => ours.add({ text: `Likes ${name}.`, metadata: { name } }),
    undo: () => ours.undo(one.number + 1),
    steal: async () => {
      if (one.does === "steal" && one.from !== one.scope) await steal(ours, of(memory, one.from));
    },
  };
  try {
    await doing[one.does]();
  } catch (error) {
    if (!isMemoryError(error)) throw error;
  }
}

/** Uses everything that has a name in another scope. Each must answer as if it had never been. */
async function steal(ours: ScopedMemory, theirs: ScopedMemory): Promise<void> {
  const [held] = (await theirs.list({ status: "all" })).items;
  if (!held) return;
  for (const attempt of [
    () => ours.get(held.id),
    () => ours.update(held.id, { text: "Taken." }),
    () => ours.remove(held.id),
    () => ours.history(held.id),
    () => ours.forget({ ids: [held.id] }),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "not_found" });
  }
}

/** Every read path of a scope, as one text. */
async function everything(memory: Keepsake, i: number): Promise<string> {
  const ours = of(memory, i);
  const lines: string[] = [];
  for await (const line of ours.export())
    if (line.type !== "keepsake") lines.push(JSON.stringify(line, withoutUsage));
  const query = "use Kiwi0 Mango0 Guava0 Plum0 Lychee0";
  const { items } = await ours.recall(query, { limit: 100 });
  const all = [
    lines,
    items,
    (await ours.answer(`What do I ${query}?`)).text,
    (await ours.list({ status: "all", limit: 1000 })).items,
    await ours.history(),
    (await ours.profile()).text,
    (await memory.users(SCOPES[i]?.project)).includes(SCOPES[i]?.user ?? ""),
  ];
  return JSON.stringify(all, withoutUsage);
}

/** The recalls of this test are counted, and change nothing else. */
const withoutUsage = (key: string, value: unknown): unknown => (key === "usage" ? undefined : value);
