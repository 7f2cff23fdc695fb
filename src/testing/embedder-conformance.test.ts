import { describe, expect, it } from "vitest";
import type { Embedder } from "../ports/language/embedder.ts";
import { EMBEDDER_CASES, embedderConformance } from "./embedder-conformance.ts";
import { hashEmbedder } from "./test-doubles.ts";

embedderConformance({ name: "hash", open: async () => hashEmbedder(128) });

type Fault = (embedder: Embedder) => Partial<Embedder>;

/** An embedder that changes each vector. */
function changing(
  embedder: Embedder,
  change: (vector: Float32Array, i: number, texts: readonly string[]) => Float32Array,
): Partial<Embedder> {
  return {
    embed: async (texts, options) =>
      (await embedder.embed(texts, options)).map((vector, i) => change(vector, i, texts)),
  };
}

/** Faults of real embedders. The suite must detect each of them alone. */
const FAULTS: { readonly [what: string]: Fault } = {
  "does not normalise": (embedder) => changing(embedder, (vector) => vector.map((part) => part * 1.1)),
  "normalises nothing into not-a-number": (embedder) =>
    changing(embedder, (vector) => (vector.every((part) => part === 0) ? vector.fill(Number.NaN) : vector)),
  "has other dimensions than it says": () => ({ dimensions: 64, fingerprint: "hash-1/64" }),
  "has no dimensions in its name": () => ({ fingerprint: "hash" }),
  "gives vectors in another order": (embedder) => ({
    embed: async (texts, options) => (await embedder.embed(texts, options)).reverse(),
  }),
  "takes only the first hundred": (embedder) => ({
    embed: (texts, options) => embedder.embed(texts.slice(0, 100), options),
  }),
  "gives one text twice only one vector": (embedder) => ({
    embed: (texts, options) => embedder.embed([...new Set(texts)], options),
  }),
  "leaves out texts without a word": (embedder) => ({
    embed: (texts, options) =>
      embedder.embed(
        texts.filter((text) => text.trim() !== ""),
        options,
      ),
  }),
  "gives a text another vector in company": (embedder) =>
    changing(embedder, (vector, _i, texts) =>
      texts.length > 5
        ? Float32Array.from(vector, (_part, i) => vector[(i + 1) % vector.length] ?? 0)
        : vector,
    ),
  "takes no notice of the signal": (embedder) => ({ embed: (texts) => embedder.embed(texts) }),
  "throws an error of its own when it is aborted": (embedder) => ({
    async embed(texts, options) {
      if (options?.signal?.aborted) throw new Error("aborted");
      return embedder.embed(texts);
    },
  }),
  "hands out what it keeps": (embedder) => {
    const kept = new Map<string, Float32Array>();
    return changing(embedder, (vector, i, texts) => {
      const text = texts[i] ?? "";
      const held = kept.get(text) ?? vector;
      kept.set(text, held);
      return held;
    });
  },
  "gives plain arrays": (embedder) =>
    changing(embedder, (vector) => Array.from(vector) as unknown as Float32Array),
  "fails on half a character": (embedder) => ({
    async embed(texts, options) {
      for (const text of texts) encodeURIComponent(text);
      return embedder.embed(texts, options);
    },
  }),
  "fails on a long text": (embedder) => ({
    async embed(texts, options) {
      if (texts.some((text) => text.length > 8192)) throw new Error("too long");
      return embedder.embed(texts, options);
    },
  }),
  "knows no nearness": (embedder) =>
    changing(embedder, (vector, i, texts) => {
      const random = new Float32Array(vector.length);
      random[(texts[i] ?? "").length % vector.length] = vector.some((part) => part !== 0) ? 1 : 0;
      return random;
    }),
  "has a floor that nothing reaches": () => ({ floor: 1 }),
};

describe("embedderConformance", () => {
  it.each(Object.keys(FAULTS))("detects an embedder that %s", async (what) => {
    const open = async (): Promise<Embedder> => {
      const embedder = hashEmbedder(128);
      return { ...embedder, ...FAULTS[what]?.(embedder) };
    };
    const failed: string[] = [];
    for (const [title, run] of Object.entries(EMBEDDER_CASES)) {
      await run(await open(), open).catch(() => failed.push(title));
    }
    expect(failed).not.toEqual([]);
  });
});
