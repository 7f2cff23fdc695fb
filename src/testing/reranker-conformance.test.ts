import { describe, expect, it } from "vitest";
import type { Reranker } from "../ports/language/reranker.ts";
import { RERANKER_CASES, rerankerConformance } from "./reranker-conformance.ts";
import { wordReranker } from "./test-doubles.ts";

rerankerConformance({ name: "shared words", open: async () => wordReranker() });

/** Faults of real rerankers. The suite must detect each of them alone. */
const FAULTS: { readonly [what: string]: (reranker: Reranker) => Partial<Reranker> } = {
  "has no name": () => ({ name: "" }),
  "gives scores best first": (reranker) => ({
    score: async (...given) => (await reranker.score(...given)).sort((one, other) => other - one),
  }),
  "gives raw values": (reranker) => ({
    score: async (...given) => (await reranker.score(...given)).map((score) => 12 * score - 6),
  }),
  "leaves out texts without a word": (reranker) => ({
    score: (query, texts, options) =>
      reranker.score(
        query,
        texts.filter((text) => text.trim() !== ""),
        options,
      ),
  }),
  "takes only the first hundred": (reranker) => ({
    score: (query, texts, options) => reranker.score(query, texts.slice(0, 100), options),
  }),
  "takes no notice of the signal": (reranker) => ({ score: (query, texts) => reranker.score(query, texts) }),
  "throws an error of its own when it is aborted": (reranker) => ({
    async score(query, texts, options) {
      if (options?.signal?.aborted) throw new Error("aborted");
      return reranker.score(query, texts);
    },
  }),
  "fails on half a character": (reranker) => ({
    async score(query, texts, options) {
      for (const text of texts) encodeURIComponent(text);
      return reranker.score(query, texts, options);
    },
  }),
  "keeps the query of another call": (reranker) => {
    let last = "";
    return {
      async score(query, texts, options) {
        last = query;
        await Promise.resolve();
        return reranker.score(last, texts, options);
      },
    };
  },
};

async function countFailures(reranker: Reranker): Promise<number> {
  let failed = 0;
  for (const run of Object.values(RERANKER_CASES)) await run(reranker).catch(() => (failed += 1));
  return failed;
}

describe("the conformance suite of rerankers", () => {
  it("passes a reranker without faults", async () => {
    expect(await countFailures(wordReranker())).toBe(0);
  });

  it.each(Object.entries(FAULTS))("detects a reranker that %s", async (_what, fault) => {
    const sound = wordReranker();
    expect(await countFailures({ ...sound, ...fault(sound) })).toBeGreaterThan(0);
  });
});
