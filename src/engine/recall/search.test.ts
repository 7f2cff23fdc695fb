import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../index.ts";
import { englishPhrases as phrases } from "../../language/en/phrases.ts";
import { englishVocabulary } from "../../language/en/vocabulary.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import { createUserStates } from "../user-state/user-state.ts";
import { withScratch } from "./retrievers/signals.ts";
import { MAX_CANDIDATES } from "./retrievers/top-k.ts";
import { toQuerySimilarity } from "./retrievers/vector-retriever.ts";
import { findRankingProfile } from "./scoring.ts";
import { search, searchByText } from "./search.ts";

it("scores by exact cosines after a vector index has named the nearest in a large memory", async () => {
  const record = createInMemoryStore();
  const embedder = hashEmbedder(64);
  await using memory = await createMemory({ record, embedder });
  const said = Array.from({ length: MAX_CANDIDATES + 100 }, (_, i) => ({
    role: "user" as const,
    content: `Jar ${i}.`,
  }));
  await memory.scope({ user: "ann" }).remember(said, { extract: "never" });
  const searchIndex = await createUserStates(record, embedder, { phrases }).searchIndex({
    project: "default",
    user: "ann",
  });
  const [vector = new Float32Array(0)] = await embedder.embed(["Jar 7."]);
  await withScratch(async (scratch) => {
    const near = toQuerySimilarity(searchIndex, scratch, vector, [7, 8]);
    expect(near?.isPartial).toBe(true);
    const texts = searchByText(
      searchIndex,
      scratch,
      { query: "Jar 7.", span: {}, near, vocabulary: englishVocabulary },
      findRankingProfile({ profile: "default" }),
    );
    const byCodes = near?.near[7] ?? 0;
    const exact = byCodes - 0.0005;
    if (near) near.near[7] = exact;
    const { signals, slots } = search(searchIndex, scratch, texts, { near, floor: embedder.floor });
    expect(slots).toContain(7);
    expect(signals.columns.near[7]).toBeCloseTo(exact, 6);
    expect(byCodes).toBeCloseTo(1, 2);
  });
});
