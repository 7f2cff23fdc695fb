import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { staticEmbedder } from "../../adapters/static/index.ts";
import { createMemory } from "../../memory.ts";
import { createFaultyVectorIndex } from "../../testing/vector-index/index-fixtures.ts";
import { MAX_CANDIDATES } from "../recall/retrievers/top-k.ts";

const THINGS = [
  "garden",
  "bicycle",
  "violin",
  "kitchen",
  "river",
  "museum",
  "letter",
  "boat",
  "coat",
  "lamp",
  "map",
];
const DOINGS = ["painted", "sold", "visited", "repaired", "photographed", "lost", "found", "bought", "drew"];

/** So many statements, no two alike, in conversations of twenty. */
function statements(count: number) {
  return Array.from({ length: count }, (_one, i) => ({
    role: "user" as const,
    content: `We ${DOINGS[i % DOINGS.length]} the ${THINGS[i % THINGS.length]} number ${i} near the ${THINGS[(i >> 4) % THINGS.length]}.`,
    session: `s${Math.floor(i / 20)}`,
  }));
}

it("an index gives the same results in a large memory as the local search", { timeout: 60_000 }, async () => {
  const record = createInMemoryStore();
  const embedder = staticEmbedder();
  await using plain = await createMemory({ record, embedder });
  await plain.scope({ user: "ann" }).remember(statements(MAX_CANDIDATES + 300), { extract: "never" });
  const index = createFaultyVectorIndex();
  await using indexed = await createMemory({
    record,
    embedder,
    index,
    indexSearch: { from: 0, timeoutMs: 20_000 },
  });
  const ann = { project: "default", user: "ann" };
  const { revision } = await record.since(ann, 0, { units: false });
  await expect
    .poll(async () => (await record.jobs.userProgress("following shaky", ann))?.revision, { timeout: 30_000 })
    .toBe(revision);
  const queries = [
    "Which violin did we repair?",
    "the boat near the museum",
    "number 4000",
    "what did we lose?",
  ];
  for (const query of queries) {
    const one = await plain.scope({ user: "ann" }).recall(query);
    const other = await indexed.scope({ user: "ann" }).recall(query);
    expect(other.items.map(({ text }) => text)).toEqual(one.items.map(({ text }) => text));
    // An index names the 256 nearest; the record's own search weighs about as many.
    for (const [i, { score }] of one.items.entries()) expect(other.items[i]?.score).toBeCloseTo(score, 2);
  }
  expect(index.calls.filter((call) => call === "nearest")).toHaveLength(queries.length);
});
