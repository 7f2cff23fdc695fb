import { isDeepStrictEqual } from "node:util";
import {
  type BaseStore,
  type IndexConfig,
  InMemoryStore,
  type Item,
  type Operation,
} from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { toLangGraphStore } from "../../src/adapters/langgraph/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { createMemory } from "../../src/index.ts";
import type { FrameworkCheck } from "./framework-check.ts";

// Random histories in our store and in LangGraph's own. Where ours differs on purpose, the other one is corrected first:
// - a namespace whose last item is deleted is listed no more (`OwnStore`);
// - items come newest first, not in the order of their namespaces (`Twins.expectedItems`);
// - a search with a query gives only what is relevant (`checkQuery`).

const HISTORIES = Number(process.env.KEEPSAKE_HISTORIES ?? 1000);
const EVERYTHING = 1000;

/** Sentences about different things, and one that says the same in other words. */
const SENTENCES = [
  "Ana likes pizza with anchovies.",
  "The train to Porto leaves at nine.",
  "Her dentist is called Ruiz.",
  "The garden needs water every evening.",
];

type Value = { [field: string]: unknown };
type Put = { readonly at: string[]; readonly key: string; readonly value: Value };
type Search = {
  readonly under: string[];
  readonly filter: Value | undefined;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
};
type Listing = {
  readonly prefix: string[] | undefined;
  readonly suffix: string[] | undefined;
  readonly maxDepth: number | undefined;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
};
type Single =
  | (Put & { readonly is: "put"; readonly index: false | string[] | undefined })
  | { readonly is: "delete" | "get"; readonly at: string[]; readonly key: string }
  | (Search & { readonly is: "search" })
  | (Listing & { readonly is: "list" });
type Step =
  | Single
  | { readonly is: "batch"; readonly steps: readonly Single[] }
  | {
      readonly is: "query";
      readonly under: string[];
      readonly query: string;
      readonly filter: Value | undefined;
    };

/** Objects as programs have them: those of fast-check have no prototype. */
const toPlain = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T> => one.map((value) => structuredClone(value));
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(one, { nil: undefined });
/** The second label is the user. */
const label = fc.constantFrom("a", "ab", "ä", "B");
const key = fc.constantFrom("k", "K", "", "a key: 1");
const scalar = fc.constantFrom<unknown>(0, 1, 2.5, -1, "1", "soup", "", true, false, null);
const value: fc.Arbitrary<Value> = fc
  .record(
    {
      n: fc.oneof(scalar, fc.integer({ min: 0, max: 3 })),
      tags: fc.array(scalar, { maxLength: 2 }),
      deep: toPlain(fc.record({ n: scalar })),
      "odd. key": scalar,
    },
    { requiredKeys: [] },
  )
  .chain((fields) => fc.constantFrom(...SENTENCES).map((text) => ({ ...fields, text })));
const at = fc.array(label, { minLength: 1, maxLength: 3 });
const condition = fc.oneof(
  { weight: 2, arbitrary: scalar },
  {
    weight: 4,
    arbitrary: fc
      .uniqueArray(fc.tuple(fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), scalar), {
        minLength: 1,
        maxLength: 2,
        selector: ([operator]) => operator,
      })
      .map((terms) => Object.fromEntries(terms)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("$in", "$nin"), fc.oneof(fc.array(scalar, { maxLength: 3 }), scalar))
      .map(([operator, list]) => ({ [operator]: list })),
  },
  { weight: 1, arbitrary: fc.constantFrom({}, { $none: 1 }, { n: 1 }, []) },
);
const filter = maybe(
  fc.dictionary(fc.constantFrom("n", "text", "tags", "deep", "odd. key", "missing"), condition, {
    maxKeys: 2,
  }),
);
const count = maybe(fc.integer({ min: 0, max: 4 }));
const search = fc.record({ under: fc.array(label, { maxLength: 3 }), filter, limit: count, offset: count });
const pattern = maybe(
  fc.array(fc.oneof({ weight: 3, arbitrary: label }, { weight: 1, arbitrary: fc.constant("*") }), {
    maxLength: 3,
  }),
);
const index = fc.constantFrom<false | string[] | undefined>(undefined, undefined, false, ["text"]);
const single: fc.Arbitrary<Single> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ is: fc.constant("put" as const), at, key, value, index }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constantFrom("delete" as const, "get" as const), at, key }) },
  { weight: 3, arbitrary: search.map((one) => ({ is: "search" as const, ...one })) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant("list" as const),
      prefix: pattern,
      suffix: pattern,
      maxDepth: maybe(fc.integer({ min: 1, max: 3 })),
      limit: count,
      offset: count,
    }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: single },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant("batch" as const),
      steps: fc.array(single, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant("query" as const),
      under: fc.array(label, { maxLength: 2 }),
      query: fc.constantFrom(...SENTENCES),
      filter,
    }),
  },
);

/** What LangGraph's own store has inside. */
interface StoreInside {
  /** The items by namespace and key. */
  readonly data: Map<string, Map<string, Item>>;
  /** The vectors by namespace and key. */
  readonly vectors: Map<string, Map<string, unknown>>;
}

/** LangGraph's own store, which lists no namespace whose last item is deleted, and keeps no vector of an earlier value. */
class OwnStore extends InMemoryStore {
  override async batch<Operations extends readonly Operation[]>(operations: Operations) {
    const { data, vectors } = this as unknown as StoreInside;
    for (const one of operations) if ("value" in one) vectors.get(one.namespace.join(":"))?.delete(one.key);
    const results = await super.batch(operations);
    for (const [namespace, items] of data) if (items.size === 0) data.delete(namespace);
    return results;
  }
}

/** What is compared of an item: all but its times, whose order is compared elsewhere. */
const toShown = (item: Item | null): unknown =>
  item && { namespace: item.namespace, key: item.key, value: structuredClone(item.value) };

const nameOf = (namespace: readonly string[], key: string): string => JSON.stringify([namespace, key]);

/** Both stores, with what the second one does not tell: when an item was put, and whether it is searched. */
class Twins {
  readonly ours: BaseStore;
  readonly theirs: OwnStore;
  readonly #puts = new Map<string, { readonly isSearched: boolean }>();

  constructor(ours: BaseStore) {
    this.ours = ours;
    const embedder = staticEmbedder();
    const embedDocuments = async (texts: string[]): Promise<number[][]> =>
      (await embedder.embed(texts)).map((vector) => [...vector]);
    const embedQuery = async (text: string): Promise<number[]> => (await embedDocuments([text]))[0] ?? [];
    const embeddings = { embedDocuments, embedQuery } as unknown as IndexConfig["embeddings"];
    this.theirs = new OwnStore({ index: { dims: embedder.dimensions, embeddings, fields: ["text"] } });
  }

  /** Notes the writes of a batch. Of several writes of an item the last one counts, in the place of the first. */
  note(steps: readonly Single[]): void {
    const writes = new Map(
      steps.flatMap((one) =>
        one.is === "put" || one.is === "delete" ? [[nameOf(one.at, one.key), one] as const] : [],
      ),
    );
    for (const [name, one] of writes) {
      this.#puts.delete(name);
      if (one.is === "put") this.#puts.set(name, { isSearched: one.index !== false });
    }
  }

  isSearched({ namespace, key }: Item): boolean {
    return this.#puts.get(nameOf(namespace, key))?.isSearched === true;
  }

  /** Their items in our order, newest first. */
  async expectedItems({ under, filter }: Pick<Search, "under" | "filter">): Promise<Item[]> {
    const all = await this.theirs.search(under, { limit: EVERYTHING, ...(filter ? { filter } : {}) });
    const order = [...this.#puts.keys()];
    const placeOf = ({ namespace, key }: Item): number => order.indexOf(nameOf(namespace, key));
    return all.sort((one, other) => placeOf(other) - placeOf(one));
  }
}

const toOperation = (one: Single): Operation => {
  switch (one.is) {
    case "put":
      return {
        namespace: one.at,
        key: one.key,
        value: one.value,
        ...(one.index === undefined ? {} : { index: one.index }),
      };
    case "delete":
      return { namespace: one.at, key: one.key, value: null };
    case "get":
      return { namespace: one.at, key: one.key };
    case "search":
      return {
        namespacePrefix: one.under,
        ...toDefined({ filter: one.filter, limit: one.limit, offset: one.offset }),
      };
    case "list": {
      const matchConditions = [
        ...(one.prefix ? [{ matchType: "prefix" as const, path: one.prefix }] : []),
        ...(one.suffix ? [{ matchType: "suffix" as const, path: one.suffix }] : []),
      ];
      const { maxDepth, limit = EVERYTHING, offset = 0 } = one;
      return { matchConditions, limit, offset, ...toDefined({ maxDepth }) };
    }
  }
};

const toDefined = <Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined)) as never;

/** Does a step by its own method, and shows what came of it. */
async function perform(store: BaseStore, one: Single): Promise<unknown> {
  switch (one.is) {
    case "put":
      return store.put(one.at, one.key, one.value, one.index);
    case "delete":
      return store.delete(one.at, one.key);
    case "get":
      return toShown(await store.get(one.at, one.key));
    case "search": {
      const { under, ...wanted } = one;
      return (await store.search(under, toDefined(wanted))).map(toShown);
    }
    case "list":
      return store.listNamespaces(toDefined(one));
  }
}

/** What a step should give: what their store gives, as it is corrected. Reads only. */
async function findExpected(twins: Twins, one: Single): Promise<unknown> {
  if (one.is === "put" || one.is === "delete") return undefined;
  if (one.is !== "search") return perform(twins.theirs, one);
  const { limit = 10, offset = 0 } = one;
  return (await twins.expectedItems(one)).slice(offset, offset + limit).map(toShown);
}

async function runStep(twins: Twins, one: Step): Promise<void> {
  if (one.is === "query") return checkQuery(twins, one);
  const steps = one.is === "batch" ? one.steps : [one];
  // In a batch, reads come before writes.
  const expected = await Promise.all(steps.map((single) => findExpected(twins, single)));
  const operations = steps.map(toOperation);
  await twins.theirs.batch(operations);
  const got =
    one.is === "batch"
      ? (await twins.ours.batch(operations)).map((result, i) => toResult(steps[i], result))
      : [await perform(twins.ours, one)];
  twins.note(steps);
  if (
    !isDeepStrictEqual(
      got.map((each) => each ?? null),
      expected.map((each) => each ?? null),
    )
  )
    throw new Error(`${JSON.stringify(one)} gave ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`);
}

function toResult(one: Single | undefined, result: unknown): unknown {
  if (one?.is === "search") return (result as Item[]).map(toShown);
  return one?.is === "get" ? toShown(result as Item | null) : result;
}

/**
 * A search with a query gives only what is relevant. What it gives lies under the prefix, fits the filter and is searched; it
 * comes best first, in pages; and what says just the query's words comes before all else, as in their store with our embedder.
 */
async function checkQuery(twins: Twins, one: Extract<Step, { is: "query" }>): Promise<void> {
  const wanted = { query: one.query, limit: EVERYTHING, ...(one.filter ? { filter: one.filter } : {}) };
  const found = await twins.ours.search(one.under, wanted);
  const page = await twins.ours.search(one.under, { ...wanted, limit: 2, offset: 1 });
  const candidates = (await twins.expectedItems(one)).filter((item) => twins.isSearched(item));
  const known = new Map(candidates.map((item) => [nameOf(item.namespace, item.key), toShown(item)]));
  const names = found.map(({ namespace, key }) => nameOf(namespace, key));
  const scores = found.map(({ score }) => score ?? 0);
  const saying = candidates.filter(({ value }) => value.text === one.query).length;
  const theirs = await twins.theirs.search(one.under, wanted);
  const best = theirs.find((item) => twins.isSearched(item));
  const problems = [
    found.every((item, i) => isDeepStrictEqual(toShown(item), known.get(names[i] ?? ""))) || "something else",
    new Set(names).size === names.length || "an item twice",
    scores.every((score, i) => score > 0 && score <= (scores[i - 1] ?? 1)) ||
      `the scores ${scores.join(", ")}`,
    isDeepStrictEqual(page, found.slice(1, 3)) || "another page",
    found.slice(0, saying).every(({ value }) => value.text === one.query) || "something else first",
    found.length >= saying || "too little",
    saying === 0 || best?.value.text === found[0]?.value.text || "another best item",
  ].filter((problem) => problem !== true);
  if (problems.length > 0)
    throw new Error(
      `${JSON.stringify(one)} gave ${problems.join(", ")}: ${JSON.stringify(found.map(toShown))}`,
    );
}

/** A clock that goes on by a millisecond at each look, so that no two writes are of the same time. */
function tickingClock(): () => Date {
  let time = Date.UTC(2026, 0, 1);
  return () => {
    time += 1;
    return new Date(time);
  };
}

async function sameAsInMemoryStore(): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:", clock: tickingClock() });
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      histories += 1;
      // Each history has a project of its own. The second label of a namespace is the user.
      const twins = new Twins(toLangGraphStore(memory, { userAt: 1, project: `history-${histories}` }));
      for (const one of steps) await runStep(twins, one);
    }),
    { numRuns: HISTORIES, includeErrorInReport: true },
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
export const langGraphStoreChecks: readonly FrameworkCheck[] = [
  { name: "LangGraph, BaseStore, two conversations", run: twoConversations },
  { name: `LangGraph, BaseStore: ${HISTORIES} histories as in InMemoryStore`, run: sameAsInMemoryStore },
];
