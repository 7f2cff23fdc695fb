import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMemory } from "../../memory.ts";
import { type LangGraphItem, type LangGraphStore, toLangGraphStore } from "./index.ts";

let memory: Keepsake;
let store: LangGraphStore;

beforeEach(async () => {
  memory = await createMemory({ path: ":memory:" });
  store = toLangGraphStore(memory, { userAt: 1 });
});
afterEach(() => memory.close());

const ANA = ["memories", "ana"];
const BEN = ["memories", "ben"];
const INVALID = expect.objectContaining({ code: "invalid_input" });
const keysOf = (items: readonly { readonly key: string }[]) => items.map(({ key }) => key).toSorted();

describe("toLangGraphStore", () => {
  it("gives an item as it was put, with its times", async () => {
    const value = { text: 'é "quoted"\n\u0000\u007f\ud800', list: [1, null, { deep: true }], none: null };
    await store.put(ANA, "a key\nwith a break", value);
    const item = await store.get(ANA, "a key\nwith a break");
    expect(item).toEqual({
      value,
      key: "a key\nwith a break",
      namespace: ANA,
      createdAt: expect.any(Date),
      updatedAt: expect.any(Date),
    });
    expect(await store.get(ANA, "another")).toBeNull();
    expect(await store.get(["memories"], "a key\nwith a break")).toBeNull();
  });

  it("replaces an item under its key, and keeps the earlier version in the history", async () => {
    await store.put(ANA, "food", { text: "pizza" });
    const [before] = await store.search(ANA);
    await store.put(ANA, "food", { text: "soup" });
    const [after, ...others] = await store.search(ANA);
    expect(others).toEqual([]);
    expect([after?.value, after?.createdAt]).toEqual([{ text: "soup" }, before?.createdAt]);
    const ana = memory.scope({ user: "ana" });
    const [kept] = (await ana.list()).items;
    expect((await ana.history(kept?.id ?? "")).map(({ text }) => text.includes("pizza"))).toEqual([
      true,
      false,
    ]);
  });

  it("erases an item that is deleted, with its earlier versions, and leaves one with the same value", async () => {
    await store.put(ANA, "food", { text: "anchovies" });
    await store.put(ANA, "food", { text: "soup" });
    await store.put(ANA, "drink", { text: "soup" });
    await store.delete(ANA, "food");
    await store.delete(ANA, "unknown");
    expect(await store.get(ANA, "food")).toBeNull();
    expect((await store.get(ANA, "drink"))?.value).toEqual({ text: "soup" });
    const [receipt, ...others] = await memory.scope({ user: "ana" }).erasures();
    expect(others).toEqual([]);
    expect([receipt?.complete, receipt?.erased.versions]).toEqual([true, 2]);
    await store.put(ANA, "food", { text: "soup" });
    expect((await store.get(ANA, "food"))?.value).toEqual({ text: "soup" });
  });

  it("keeps the items of each user in that user's memory, so that an erasure of the user reaches them", async () => {
    await store.put(ANA, "food", { text: "pizza" });
    await store.put(BEN, "food", { text: "soup" });
    await store.put(["docs"], "menu", { text: "pasta" });
    expect(await memory.users()).toEqual(expect.arrayContaining(["ana", "ben", "langgraph-shared"]));
    expect(keysOf(await store.search([]))).toEqual(["food", "food", "menu"]);
    expect((await store.search(ANA, { query: "soup" })).length).toBe(0);
    await memory.scope({ user: "ana" }).forget({ everything: true });
    expect(await store.search(ANA)).toEqual([]);
    expect(await store.listNamespaces()).toEqual([["docs"], BEN]);
  });

  it("finds what is relevant to a query, best first, and nothing else", async () => {
    await store.put(ANA, "food", { text: "Ana likes pizza with anchovies." });
    await store.put(ANA, "place", { text: "Ana lives in Porto, near the river." });
    const found = await store.search(["memories"], { query: "What pizza does Ana like?" });
    expect(found[0]).toMatchObject({ key: "food", score: expect.any(Number) });
    expect(await store.search(ANA, { query: "quarterly tax forms of a company" })).toEqual([]);
    expect(
      keysOf(await store.search(ANA, { query: "Where does Ana live?", filter: { text: "none" } })),
    ).toEqual([]);
  });

  it("finds no item by a query that was put with `index: false`, until it is put without", async () => {
    const query = "What pizza does Ana like?";
    const value = { text: "Ana likes pizza with anchovies." };
    await store.put(ANA, "food", value, false);
    await store.put(ANA, "drink", { text: "Ana likes to drink tea with her pizza." }, ["text"]);
    expect(keysOf(await store.search(ANA, { query }))).toEqual(["drink"]);
    expect(keysOf(await store.search(ANA))).toEqual(["drink", "food"]);
    await store.batch([{ namespace: ANA, key: "food", value }]);
    expect(keysOf(await store.search(ANA, { query }))).toEqual(["drink", "food"]);
    await store.batch([{ namespace: ANA, key: "food", value, index: false }]);
    expect(keysOf(await store.search(ANA, { query }))).toEqual(["drink"]);
  });

  it("does not merge or drop items in the upkeep of the memory", async () => {
    for (const key of ["one", "two", "3", "4"]) await store.put(ANA, key, { text: "Ana likes pizza." });
    await memory.scope({ user: "ana" }).optimize();
    expect(keysOf(await store.search(ANA))).toEqual(["3", "4", "one", "two"]);
  });

  it("runs the reads of a batch before its writes, of which the last one of an item counts", async () => {
    await store.put(ANA, "food", { text: "pizza" });
    const [before, , , found] = await store.batch<[LangGraphItem, unknown, unknown, LangGraphItem[]]>([
      { namespace: ANA, key: "food" },
      { namespace: ANA, key: "food", value: { text: "soup" } },
      { namespace: ANA, key: "food", value: { text: "pasta" } },
      { namespacePrefix: ANA, limit: 10, offset: 0 },
      { limit: 10, offset: 0 },
    ]);
    expect([before.value, found.map(({ value }) => value)]).toEqual([{ text: "pizza" }, [{ text: "pizza" }]]);
    expect((await store.get(ANA, "food"))?.value).toEqual({ text: "pasta" });
  });

  it("stores one item where several writes of it begin together", async () => {
    await Promise.all([1, 2, 3, 4].map((n) => store.put(ANA, "count", { n })));
    expect((await store.search(ANA)).map(({ value }) => value)).toEqual([{ n: 4 }]);
  });

  it("lists namespaces by prefix, suffix and depth", async () => {
    for (const namespace of [ANA, [...ANA, "work"], BEN, ["docs", "v1"]])
      await store.put(namespace, "k", { a: 1 });
    expect(await store.listNamespaces({ prefix: ANA })).toEqual([ANA, [...ANA, "work"]]);
    expect(await store.listNamespaces({ prefix: ["memories", "*", "work"] })).toEqual([[...ANA, "work"]]);
    expect(await store.listNamespaces({ suffix: ["v1"] })).toEqual([["docs", "v1"]]);
    expect(await store.listNamespaces({ maxDepth: 1 })).toEqual([["docs"], ["memories"]]);
    expect(await store.listNamespaces({ maxDepth: 1, offset: 1, limit: 1 })).toEqual([["memories"]]);
    for (let n = 0; n < 99; n += 1) await store.put([...ANA, `n${n}`], "k", { n });
    expect((await store.listNamespaces({ limit: undefined } as object)).length).toBe(100);
  });

  it("refuses names that no store of LangGraph accepts, and values that are no objects", async () => {
    for (const namespace of [
      [],
      ["langgraph"],
      ["a.b"],
      ["a", ""],
      ["a:b"],
      Array(33).fill("a"),
      ["x".repeat(481)],
    ])
      await expect(store.put(namespace, "k", { a: 1 })).rejects.toEqual(INVALID);
    await expect(store.put(ANA, "x".repeat(481), { a: 1 })).rejects.toEqual(INVALID);
    await expect(store.put(ANA, "k", [] as unknown as { a: 1 })).rejects.toEqual(INVALID);
    await expect(store.put(ANA, "k", { text: "x".repeat(1_000_001) })).rejects.toEqual(INVALID);
    expect(await store.search([])).toEqual([]);
  });

  it("takes no memory for an item that is none", async () => {
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I live in Porto.");
    await store.put(ANA, "food", { text: "pizza" });
    const [item] = (await ana.list({ where: { langgraph_item: { $exists: true } } })).items;
    await ana.update(item?.id ?? "", { text: "The user likes pizza." });
    expect([await store.get(ANA, "food"), await store.search(ANA)]).toEqual([null, []]);
  });
});
