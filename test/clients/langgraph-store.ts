import { type BaseStore, InMemoryStore } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { toLangGraphStore } from "../../src/adapters/langgraph/index.ts";
import { createMemory } from "../../src/index.ts";
import type { FrameworkCheck } from "./framework-check.ts";

const HISTORIES = Number(process.env.KEEPSAKE_HISTORIES ?? 1000);
const EVERYTHING = 1000;

type Value = { n: number; text: string };
type Step =
  | { readonly is: "put"; readonly at: string[]; readonly key: string; readonly value: Value }
  | { readonly is: "delete" | "get"; readonly at: string[]; readonly key: string }
  | {
      readonly is: "search";
      readonly under: string[];
      readonly filter: { [field: string]: unknown } | undefined;
    }
  | { readonly is: "page"; readonly under: string[]; readonly limit: number; readonly offset: number }
  | {
      readonly is: "namespaces";
      readonly maxDepth: number | undefined;
      readonly suffix: string[] | undefined;
    };

const label = fc.constantFrom("a", "b", "ä");
const key = fc.constantFrom("k", "K", "other");
const value = fc.record({ n: fc.integer({ min: 0, max: 3 }), text: fc.constantFrom("pizza", "soup", "") });
const at = fc.array(label, { minLength: 1, maxLength: 2 });
const filter = fc.oneof(
  fc.constant(undefined),
  fc.record({ n: fc.integer({ min: 0, max: 3 }) }),
  fc
    .tuple(fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), fc.integer({ min: 0, max: 3 }))
    .map(([operator, n]) => ({ n: { [operator]: n } })),
  fc.record({ text: fc.record({ $ne: fc.constant("soup") }), n: fc.constant(1) }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: fc.constant("put" as const), at, key, value }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constantFrom("delete" as const, "get" as const), at, key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant("search" as const),
      under: fc.array(label, { maxLength: 2 }),
      filter,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant("page" as const),
      under: fc.array(label, { maxLength: 1 }),
      limit: fc.integer({ min: 1, max: 4 }),
      offset: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant("namespaces" as const),
      maxDepth: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      suffix: fc.option(fc.array(label, { minLength: 1, maxLength: 1 }), { nil: undefined }),
    }),
  },
);

const show = ({ namespace, key, value }: { namespace: string[]; key: string; value: unknown }): string =>
  JSON.stringify([namespace, key, value]);

/** Does a step under a root of its own, and shows what came of it, in no order. */
async function perform(store: BaseStore, root: string, one: Step): Promise<unknown> {
  switch (one.is) {
    case "put":
      return store.put([root, ...one.at], one.key, one.value);
    case "delete":
      return store.delete([root, ...one.at], one.key);
    case "get": {
      const item = await store.get([root, ...one.at], one.key);
      return item && show(item);
    }
    case "search": {
      const wanted = { limit: EVERYTHING, ...(one.filter === undefined ? {} : { filter: one.filter }) };
      return (await store.search([root, ...one.under], wanted)).map(show).toSorted();
    }
    case "page":
      return (await store.search([root, ...one.under], one)).length;
    case "namespaces": {
      const wanted = { prefix: [root], limit: EVERYTHING, ...(one.suffix ? { suffix: one.suffix } : {}) };
      const all = await store.listNamespaces(wanted);
      // LangGraph's own store goes on listing a namespace when its last item is deleted.
      const held = await Promise.all(
        all.map(async (namespace) => {
          const items = await store.search(namespace, { limit: EVERYTHING });
          return items.some((item) => JSON.stringify(item.namespace) === JSON.stringify(namespace));
        }),
      );
      return all.filter((_, i) => held[i]).map((namespace) => namespace.slice(0, one.maxDepth).join("/"));
    }
  }
}

async function sameAsInMemoryStore(): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  // Each history has a user of its own.
  const ours: BaseStore = toLangGraphStore(memory);
  const theirs = new InMemoryStore();
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      histories += 1;
      const root = `history-${histories}`;
      for (const one of steps) {
        const [got, wanted] = [await perform(ours, root, one), await perform(theirs, root, one)];
        if (JSON.stringify(got) !== JSON.stringify(wanted))
          throw new Error(
            `${JSON.stringify(one)} gave ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`,
          );
      }
    }),
    { numRuns: HISTORIES },
  );
  return histories < HISTORIES ? [`only ${histories} histories ran`] : [];
}

/** Stores in one conversation, finds in another by meaning, and erases. */
async function twoConversations(): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  const store: BaseStore = toLangGraphStore(memory, { userAt: 1 });
  const problems: string[] = [];
  await store.put(["memories", "ana"], "food", { text: "Ana likes pizza with anchovies." });
  await store.put(["memories", "ana"], "home", { text: "Ana lives in Porto." });
  const [found] = await store.search(["memories", "ana"], { query: "Which pizza does Ana like?" });
  if (found?.key !== "food") problems.push("the item was not found by its meaning");
  await memory.scope({ user: "ana" }).forget("anchovies");
  if (JSON.stringify(await store.search(["memories"])).includes("anchovies"))
    problems.push("the erasure did not reach what came in through the store");
  if (!(await store.get(["memories", "ana"], "home"))) problems.push("the erasure reached too far");
  return problems;
}

/** The store for LangGraph, beside LangGraph's own. */
export const langGraphChecks: readonly FrameworkCheck[] = [
  { name: "LangGraph, BaseStore, two conversations", run: twoConversations },
  { name: `LangGraph, BaseStore: ${HISTORIES} histories as in InMemoryStore`, run: sameAsInMemoryStore },
];
