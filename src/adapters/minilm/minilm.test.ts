import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { embedderConformance } from "../../testing/embedder-conformance.ts";
import { minilmEmbedder, type Transformers } from "./index.ts";

/** A folder with the package in its node_modules, and one with folders of models. Both are too large to come along. */
const { KEEPSAKE_TEST_TRANSFORMERS: folder, KEEPSAKE_TEST_MODELS: models } = process.env;
const isThere = folder !== undefined && models !== undefined;
const why = "needs KEEPSAKE_TEST_TRANSFORMERS and KEEPSAKE_TEST_MODELS: see CONTRIBUTING.md";

function load(): Transformers {
  const require = createRequire(join(folder ?? "", "package.json"));
  return require("@huggingface/transformers") as Transformers;
}

const modelPath = join(models ?? "", "all-MiniLM-L6-v2");
const open = () => minilmEmbedder({ modelPath, transformers: load() });

describe.skipIf(!isThere)(`all-MiniLM-L6-v2 (${isThere ? "with the real model" : why})`, () => {
  embedderConformance({ name: "minilm", open: async () => open(), timeoutMs: 120_000 });

  it("embeds the beginning of a text that is longer than the model reads", { timeout: 60_000 }, async () => {
    const begin = "The ferry to Bergen was late again. ".repeat(80);
    const [short, long, other] = await open().embed([
      begin,
      `${begin}And nobody sang.`,
      `Nobody sang. ${begin}`,
    ]);
    expect(long).toEqual(short);
    expect(other).not.toEqual(short);
  });

  it("scores a question near its answer even if they share no word", { timeout: 60_000 }, async () => {
    const [question, near, far] = await open().embed([
      "my dog was ill",
      "the puppy got sick",
      "we painted the kitchen",
    ]);
    const cosine = (other: Float32Array | undefined): number =>
      Array.from(question ?? []).reduce((sum, part, i) => sum + part * (other?.[i] ?? 0), 0);
    expect(cosine(near)).toBeGreaterThan(cosine(far) + 0.2);
  });
});

describe("all-MiniLM-L6-v2 without the package or the model", () => {
  it("names the command that installs a missing package", async () => {
    await expect(minilmEmbedder().embed(["text"])).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("npm install @huggingface/transformers"),
    });
  });

  it("does not load the package for texts without a word", async () => {
    const [vector] = await minilmEmbedder().embed([" "]);
    expect(vector).toEqual(new Float32Array(384));
  });

  it("names the files that a model folder needs", async () => {
    const transformers: Transformers = {
      pipeline: async () => {
        throw new Error("Unable to load /secret/place");
      },
    };
    await expect(
      minilmEmbedder({ modelPath: "nowhere", transformers }).embed(["text"]),
    ).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/model_quantized\.onnx/),
    });
    await expect(minilmEmbedder({ transformers }).embed(["text"])).rejects.toMatchObject({
      message: expect.stringMatching(/network.*modelPath/),
    });
  });

  it("loads again after a failure", async () => {
    let tries = 0;
    const transformers: Transformers = {
      pipeline: async () => {
        tries += 1;
        if (tries === 1) throw new Error("not yet");
        return async () => ({ data: new Float32Array(384).fill(1 / Math.sqrt(384)) });
      },
    };
    const embedder = minilmEmbedder({ transformers });
    await expect(embedder.embed(["text"])).rejects.toMatchObject({ code: "unavailable" });
    expect(await embedder.embed(["text"])).toHaveLength(1);
    expect(tries).toBe(2);
  });

  it("refuses a model of other dimensions", async () => {
    const transformers: Transformers = {
      pipeline: async () => async () => ({ data: new Float32Array(768).fill(0.1) }),
    };
    await expect(minilmEmbedder({ transformers }).embed(["text"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("384"),
    });
  });
});
