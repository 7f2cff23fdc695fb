import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rerankerConformance } from "../../testing/reranker-conformance.ts";
import { crossEncoderReranker, type SequenceClassifiers } from "./index.ts";

/** A folder with the package in its node_modules, and one with the model whose tokenizer is used. Both are too large to come along. */
const { KEEPSAKE_TEST_TRANSFORMERS: folder, KEEPSAKE_TEST_MODELS: models } = process.env;
const isThere = folder !== undefined && models !== undefined;
const why = "needs KEEPSAKE_TEST_TRANSFORMERS and KEEPSAKE_TEST_MODELS: see CONTRIBUTING.md";
const TOKENIZER = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"];
/** The smallest network that rates pairs: the share of the query's words that the text has. Made for this test. */
const NETWORK = join(import.meta.dirname, "__fixtures__/word-overlap.onnx");
const modelPath = isThere ? mkdtempSync(join(tmpdir(), "keepsake-cross-encoder-")) : "";

function load(): SequenceClassifiers {
  const require = createRequire(join(folder ?? "", "package.json"));
  return require("@huggingface/transformers") as SequenceClassifiers;
}

describe.skipIf(!isThere)(`a cross-encoder (${isThere ? "with a network of our own" : why})`, () => {
  beforeAll(() => {
    mkdirSync(join(modelPath, "onnx"));
    copyFileSync(NETWORK, join(modelPath, "onnx/model_quantized.onnx"));
    for (const file of TOKENIZER)
      copyFileSync(join(models ?? "", "all-MiniLM-L6-v2", file), join(modelPath, file));
    const config = { model_type: "bert", architectures: ["BertForSequenceClassification"] };
    writeFileSync(join(modelPath, "config.json"), JSON.stringify(config));
  });
  afterAll(() => rmSync(modelPath, { recursive: true, force: true }));

  rerankerConformance({
    name: "cross-encoder",
    open: async () => crossEncoderReranker({ modelPath, transformers: load() }),
    timeoutMs: 120_000,
  });
});

/** Loaders that give a model with these raw values for each pair. */
const loaders = (rate: (query: string, text: string) => number[]): SequenceClassifiers => ({
  AutoTokenizer: {
    from_pretrained:
      async () =>
      (query, { text_pair }) => ({ query, text_pair }),
  },
  AutoModelForSequenceClassification: {
    from_pretrained: async () => async (input) => {
      const { query, text_pair } = input as { query: string; text_pair: string };
      return { logits: { data: Float32Array.from(rate(query, text_pair)) } };
    },
  },
});

describe("a cross-encoder without the package or the model", () => {
  it("names the command that installs a missing package", async () => {
    await expect(crossEncoderReranker().score("a", ["b"])).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("npm install @huggingface/transformers"),
    });
  });

  it("does not load the package for no texts", async () => {
    expect(await crossEncoderReranker().score("a", [])).toEqual([]);
  });

  it("names the files that a model folder needs", async () => {
    const failing: SequenceClassifiers = {
      ...loaders(() => [0]),
      AutoTokenizer: { from_pretrained: async () => Promise.reject(new Error("no file at /secret/place")) },
    };
    await expect(
      crossEncoderReranker({ modelPath: "nowhere", transformers: failing }).score("a", ["b"]),
    ).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/model_quantized\.onnx/),
    });
    await expect(crossEncoderReranker({ transformers: failing }).score("a", ["b"])).rejects.toMatchObject({
      message: expect.stringMatching(/network.*modelPath/),
    });
  });

  it("turns the model's value of each pair into a share", async () => {
    const transformers = loaders((query, text) => [text.includes(query) ? 4 : -4]);
    const scores = await crossEncoderReranker({ transformers }).score("boat", ["a boat", "a hill"]);
    expect(scores.map((score) => Math.round(score * 1000) / 1000)).toEqual([0.982, 0.018]);
  });

  it("refuses a model that gives several values for a pair", async () => {
    const transformers = loaders(() => [1, 2, 3]);
    await expect(crossEncoderReranker({ transformers }).score("a", ["b"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("one value for a pair"),
    });
  });

  it("stops between two texts when the signal is aborted", async () => {
    const stopping = new AbortController();
    let scored = 0;
    const transformers = loaders(() => {
      scored += 1;
      if (scored === 2) stopping.abort(new Error("enough"));
      return [0];
    });
    const texts = ["one", "two", "three", "four"];
    const scoring = crossEncoderReranker({ transformers }).score("a", texts, { signal: stopping.signal });
    await expect(scoring).rejects.toThrow("enough");
    expect(scored).toBe(2);
  });
});
