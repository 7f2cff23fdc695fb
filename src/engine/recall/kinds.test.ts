import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Kind, KindGroup } from "../../domain/memory.ts";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

const BY_KIND: { readonly [kind in Kind]: string } = {
  fact: "Ana lives near the harbour.",
  preference: "Ana likes the harbour.",
  entity: "Ana's boat lies in the harbour.",
  reflection: "Ana comes back to the harbour.",
  context: "Ana plans a party in the harbour.",
  event: "Ana met Marta in the harbour.",
  commitment: "Ana will clean the harbour.",
  instruction: "Call the port the harbour.",
};

let memory: Keepsake;
let ana: ScopedMemory;
beforeEach(async () => {
  memory = await createMemory({ path: ":memory:" });
  ana = memory.scope({ user: "ana" });
  for (const [kind, text] of Object.entries(BY_KIND)) await ana.add({ text, kind: kind as Kind });
});
afterEach(() => memory.close());

const GROUPS: readonly (readonly [KindGroup, readonly Kind[]])[] = [
  ["semantic", ["fact", "preference", "entity", "reflection", "context"]],
  ["episodic", ["event", "commitment"]],
  ["procedural", ["instruction"]],
];

describe.each(GROUPS)("the group %s", (group, kinds) => {
  it("stands for its kinds in a recall and in a list", async () => {
    const { items } = await ana.recall("harbour", { kinds: [group], limit: 20, types: ["memory"] });
    expect(items.map(({ kind }) => kind ?? "").sort()).toEqual([...kinds].sort());
    const listed = await ana.list({ kind: group });
    expect(listed.items.map(({ kind }) => kind as string).sort()).toEqual([...kinds].sort());
  });

  it("gives a new memory its first kind", async () => {
    const receipt = await ana.add({ text: `The tide is ${group}.`, kind: group });
    expect((await ana.get(receipt.memories[0]?.id ?? "")).kind).toBe(kinds[0]);
  });
});

it("a recall takes kinds and groups together", async () => {
  const { items } = await ana.recall("harbour", { kinds: ["procedural", "context"], limit: 20 });
  expect(items.map(({ kind }) => kind ?? "").sort()).toEqual(["context", "instruction"]);
});

it("a memory of kind context is found, answered from by its kind, counted, and kept through undo", async () => {
  const { items } = await ana.list({ kind: "context" });
  const id = items[0]?.id ?? "";
  const { text } = await ana.answer("What does Ana plan?", { kinds: ["semantic"] });
  expect(text).toContain("party");
  expect((await ana.stats()).kinds).toMatchObject({ context: 1, event: 1 });
  const { revision } = await ana.update(id, { kind: "episodic" });
  expect((await ana.get(id)).kind).toBe("event");
  await ana.undo(revision);
  expect((await ana.get(id)).kind).toBe("context");
});

it("an unknown kind or group is refused by its list of names", async () => {
  const wrong = { code: "invalid_input", message: expect.stringContaining("semantic, episodic, procedural") };
  await expect(ana.recall("x", { kinds: ["nonsense" as Kind] })).rejects.toMatchObject(wrong);
  await expect(ana.list({ kind: "nonsense" as Kind })).rejects.toMatchObject(wrong);
  await expect(ana.add({ text: "x", kind: "nonsense" as Kind })).rejects.toMatchObject(wrong);
});

it.each(["preferences", "my preferences", "What are the user's preferences?"])(
  "the query %j, which names a kind and nothing else, finds the memories of that kind",
  async (query) => {
    const eva = memory.scope({ user: "eva" });
    for (const text of ["User prefers large type", "User likes quiet trains", "User is fond of tea"])
      await eva.add({ text, kind: "preference" });
    await eva.add({ text: "User lives in Porto", kind: "fact" });
    const { items } = await eva.recall(query, { limit: 3 });
    expect(items.map(({ kind }) => kind)).toEqual(["preference", "preference", "preference"]);
  },
);

it("a query that names a kind and something else finds nothing by the kind", async () => {
  const eva = memory.scope({ user: "eva" });
  await eva.add({ text: "User is fond of tea", kind: "preference" });
  expect((await eva.recall("seat preferences in aeroplanes")).items).toEqual([]);
});
