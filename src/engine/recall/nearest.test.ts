import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory, type Keepsake, type MemoryStore } from "../../index.ts";

/** Two servers on one record: one whose reads of vectors do something first, and one to write with. */
async function two(): Promise<{
  one: Keepsake;
  other: Keepsake;
  before: (work?: () => Promise<unknown>) => void;
}> {
  const shared = createInMemoryStore();
  let work: (() => Promise<unknown>) | undefined;
  const watched: MemoryStore = {
    ...shared,
    async vectors(...asked) {
      const now = work;
      work = undefined;
      await now?.();
      return shared.vectors(...asked);
    },
    close: async () => {},
  };
  const one = await createMemory({ record: watched });
  const other = await createMemory({ record: { ...shared, close: async () => {} } });
  await other.scope({ user: "ann" }).remember("I keep my bicycle in the cellar.");
  await one.scope({ user: "ann" }).recall("Where is my bicycle?");
  return {
    one,
    other,
    before(next) {
      work = next;
    },
  };
}

const texts = async (memory: Keepsake, query: string): Promise<string> =>
  (await memory.scope({ user: "ann" }).recall(query)).items.map(({ text }) => text).join("\n");

it("a recall includes what another server wrote after this one cached the user", async () => {
  const { one, other } = await two();
  await other.scope({ user: "ann" }).remember("I keep my skis at my sister's.");
  expect(await texts(one, "Where are my skis?")).toContain("sister");
  await other.scope({ user: "ann" }).forget({ everything: true });
  expect(await texts(one, "Where is my bicycle?")).toBe("");
});

it("a write during a recall is either fully included or not at all", async () => {
  const { one, other, before } = await two();
  before(() => other.scope({ user: "ann" }).remember("I keep my skis at my sister's."));
  expect(await texts(one, "Where is my bicycle?")).toContain("cellar");
  before(() => one.scope({ user: "ann" }).remember("I keep my canoe in the barn."));
  expect(await texts(one, "Where is my bicycle?")).toContain("cellar");
  expect(await texts(one, "Where is my canoe?")).toContain("barn");
  before(() => other.scope({ user: "ann" }).forget({ everything: true }));
  expect(await texts(one, "Where is my bicycle?")).toBe("");
});

it("a recall fails with the store's error, and the next one succeeds", async () => {
  const { one, before } = await two();
  before(() => Promise.reject(new Error("the record is away")));
  await expect(texts(one, "Where is my bicycle?")).rejects.toThrow("the record is away");
  expect(await texts(one, "Where is my bicycle?")).toContain("cellar");
});

/** A record whose vectors have a long way, as those of a database have; it says in which order it is asked and answers. */
async function far(fail?: "read once"): Promise<{ memory: Keepsake; near: Keepsake; calls: string[] }> {
  const shared = createInMemoryStore();
  const calls: string[] = [];
  const watched: MemoryStore = {
    ...shared,
    async vectors(...asked) {
      calls.push("vectors asked");
      await new Promise((resolve) => setTimeout(resolve, 20));
      calls.push("vectors there");
      return shared.vectors(...asked);
    },
    async read(...asked) {
      calls.push("read");
      if (fail && calls.filter((call) => call === "read").length === 1) throw new Error("the record is away");
      return shared.read(...asked);
    },
    close: async () => {},
  };
  const memory = await createMemory({ record: watched });
  return { memory, near: await createMemory({ record: { ...shared, close: async () => {} } }), calls };
}

it("texts are prefetched while vectors are in transit, with the same result as from a local store", async () => {
  const { memory, near, calls } = await far();
  const ann = near.scope({ user: "ann" });
  for (const thing of ["bicycle", "canoe", "ladder", "tent"])
    await ann.remember(`I keep my ${thing} in the cellar.`);
  for (const query of ["Where is my bicycle?", "What is in the cellar?", "Where is the tent?"]) {
    calls.length = 0;
    const { items, context } = await memory.scope({ user: "ann" }).recall(query);
    expect(calls).toEqual(["vectors asked", "read", "vectors there"]);
    const plain = await ann.recall(query);
    expect(items).toEqual(plain.items);
    expect(context).toBe(plain.context);
  }
});

it("a failed prefetch is read again", async () => {
  const { memory, near, calls } = await far("read once");
  await near.scope({ user: "ann" }).remember("I keep my bicycle in the cellar.");
  expect(await texts(memory, "Where is my bicycle?")).toContain("cellar");
  expect(calls).toEqual(["vectors asked", "read", "vectors there", "read"]);
});
