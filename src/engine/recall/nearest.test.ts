import { expect, it } from "vitest";
import { memoryRecord } from "../../adapters/memory/index.ts";
import { createMemory, type Keepsake, type Record } from "../../index.ts";

/** Two servers on one record: one whose reads of vectors do something first, and one to write with. */
async function two(): Promise<{
  one: Keepsake;
  other: Keepsake;
  before: (work?: () => Promise<unknown>) => void;
}> {
  const shared = memoryRecord();
  let work: (() => Promise<unknown>) | undefined;
  const watched: Record = {
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

it("a recall gives what another server has written since this one held the user", async () => {
  const { one, other } = await two();
  await other.scope({ user: "ann" }).remember("I keep my skis at my sister's.");
  expect(await texts(one, "Where are my skis?")).toContain("sister");
  await other.scope({ user: "ann" }).forget({ everything: true });
  expect(await texts(one, "Where is my bicycle?")).toBe("");
});

it("what is written while a recall waits changes nothing that it has begun, or is in it as a whole", async () => {
  const { one, other, before } = await two();
  before(() => other.scope({ user: "ann" }).remember("I keep my skis at my sister's."));
  expect(await texts(one, "Where is my bicycle?")).toContain("cellar");
  before(() => one.scope({ user: "ann" }).remember("I keep my canoe in the barn."));
  expect(await texts(one, "Where is my bicycle?")).toContain("cellar");
  expect(await texts(one, "Where is my canoe?")).toContain("barn");
  before(() => other.scope({ user: "ann" }).forget({ everything: true }));
  expect(await texts(one, "Where is my bicycle?")).toBe("");
});

it("a recall fails as the record does, and the next one goes on", async () => {
  const { one, before } = await two();
  before(() => Promise.reject(new Error("the record is away")));
  await expect(texts(one, "Where is my bicycle?")).rejects.toThrow("the record is away");
  expect(await texts(one, "Where is my bicycle?")).toContain("cellar");
});
