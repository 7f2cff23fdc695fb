import { expect, it } from "vitest";
import { memoryRecord } from "../../adapters/memory/index.ts";
import { createMemory } from "../../index.ts";
import { hashEmbedder } from "../../testing/hash-embedder.ts";
import { profileOf } from "../rank/profiles.ts";
import { userStates } from "../user-state.ts";
import { ALL } from "./candidates.ts";
import { withScratch } from "./scratch.ts";
import { search, searchTexts } from "./search.ts";
import { nearnessOf } from "./vector-arm.ts";

it("weighs by the exact cosines that came after an index had named the nearest of a large memory", async () => {
  const record = memoryRecord();
  const embedder = hashEmbedder(64);
  await using memory = await createMemory({ record, embedder });
  const said = Array.from({ length: ALL + 100 }, (_, i) => ({ role: "user" as const, content: `Jar ${i}.` }));
  await memory.scope({ user: "ann" }).remember(said, { extract: "never" });
  const block = await userStates(record, embedder).block({ project: "default", user: "ann" });
  const [vector = new Float32Array(0)] = await embedder.embed(["Jar 7."]);
  await withScratch(async (scratch) => {
    const near = nearnessOf(block, scratch, vector, [7, 8]);
    expect(near?.isPartial).toBe(true);
    const texts = searchTexts(block, scratch, { query: "Jar 7.", span: {}, near }, profileOf("default"));
    const byCodes = near?.near[7] ?? 0;
    const exact = byCodes - 0.0005;
    if (near) near.near[7] = exact;
    const { signals, slots } = search(block, scratch, texts, { near, floor: embedder.floor });
    expect(slots).toContain(7);
    expect(signals.columns.near[7]).toBeCloseTo(exact, 6);
    expect(byCodes).toBeCloseTo(1, 2);
  });
});
