import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embedderConformance } from "../../testing/embedder-conformance.ts";
import type { Transformers } from "../minilm/index.ts";
import { measureCalibration } from "../shared/embedder-profiles/calibration.ts";
import { staticEmbedder } from "../static/index.ts";
import { sentenceTransformersEmbedder } from "./index.ts";

/** A folder with the package in its node_modules, and one with folders of models. Both are too large to come along. */
const { KEEPSAKE_TEST_TRANSFORMERS: packages, KEEPSAKE_TEST_MODELS: models } = process.env;
const isThere = packages !== undefined && models !== undefined;
const why = "needs KEEPSAKE_TEST_TRANSFORMERS and KEEPSAKE_TEST_MODELS: see CONTRIBUTING.md";

const load = (): Transformers =>
  createRequire(join(packages ?? "", "package.json"))("@huggingface/transformers") as Transformers;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-st-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const cosine = (one: Float32Array = new Float32Array(), other: Float32Array = new Float32Array()): number =>
  one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);

const MODELS = isThere
  ? readdirSync(models, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() || entry.isSymbolicLink(),
    )
  : [];

describe.skipIf(!isThere)(`models of sentence-transformers (${isThere ? "the real ones" : why})`, () => {
  for (const { name } of MODELS) {
    const modelPath = join(models ?? "", name);
    const open = () =>
      sentenceTransformersEmbedder({
        modelPath,
        transformers: load(),
        profilesPath: join(folder, `profiles-${name}`),
      });
    embedderConformance({ name, open, timeoutMs: 180_000 });

    it(`measures ${name} once, and separates what belongs together from the rest`, {
      timeout: 180_000,
    }, async () => {
      const first = await open();
      let loads = 0;
      const counting: Transformers = {
        pipeline: (...words) => {
          loads += 1;
          return load().pipeline(...words);
        },
      };
      const again = await sentenceTransformersEmbedder({
        modelPath,
        transformers: counting,
        profilesPath: join(folder, `profiles-${name}`),
      });
      expect([again.floor, again.duplicateFloor, loads]).toEqual([first.floor, first.duplicateFloor, 0]);
      const [question] = await again.embed(["Which pet is ill?"], { isQuery: true });
      const [near, far] = await again.embed(["The puppy got sick.", "We painted the kitchen."]);
      expect(cosine(question, near)).toBeGreaterThan(again.floor);
      expect(cosine(question, far)).toBeLessThan(again.floor);
      expect(again.duplicateFloor).toBeGreaterThan(again.floor);
    });
  }
});

/** A model of four dimensions, written here: its vectors tell what it was given. */
function writeModel(files: { readonly [file: string]: object }): string {
  const path = mkdtempSync(join(folder, "model-"));
  mkdirSync(join(path, "1_Pooling"));
  mkdirSync(join(path, "onnx"));
  writeFileSync(join(path, "onnx/model_quantized.onnx"), "weights");
  const all = { "config.json": { hidden_size: 4 }, ...files };
  for (const [file, content] of Object.entries(all)) writeFileSync(join(path, file), JSON.stringify(content));
  return path;
}

interface Asked {
  readonly text: string;
  readonly pooling: string;
}

function fakeTransformers(asked: Asked[], dimensions = 4): Transformers {
  return {
    pipeline:
      async () =>
      async (text, { pooling }) => {
        asked.push({ text, pooling });
        const data = new Float32Array(dimensions);
        data[text.length % dimensions] = 1;
        return { data };
      },
  };
}

const GIVEN = { floor: 0.3, duplicateFloor: 0.8 };

describe("the files of a model of sentence-transformers", () => {
  it("say its dimensions, its pooling and what stands before queries and texts", async () => {
    const asked: Asked[] = [];
    const modelPath = writeModel({
      "1_Pooling/config.json": { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
      "config_sentence_transformers.json": { prompts: { query: "query: ", passage: "passage: " } },
    });
    const embedder = await sentenceTransformersEmbedder({
      modelPath,
      transformers: fakeTransformers(asked),
      ...GIVEN,
    });
    expect(embedder).toMatchObject({ dimensions: 4, local: true, ...GIVEN });
    await embedder.embed(["one"]);
    await embedder.embed(["two"], { isQuery: true });
    expect(asked).toEqual([
      { text: "passage: one", pooling: "cls" },
      { text: "query: two", pooling: "cls" },
    ]);
    const other = await sentenceTransformersEmbedder({
      modelPath,
      textPrefix: "",
      queryPrefix: "",
      ...GIVEN,
    });
    expect(other.fingerprint).not.toBe(embedder.fingerprint);
  });

  it("belong to its space: another pooling is another space, and the same files elsewhere are the same", async () => {
    const space = async (modelPath: string) =>
      (await sentenceTransformersEmbedder({ modelPath, ...GIVEN })).fingerprint;
    const mean = writeModel({});
    const copy = join(mkdtempSync(join(folder, "copy-")), mean.split("/").at(-1) ?? "");
    cpSync(mean, copy, { recursive: true });
    expect(await space(copy)).toBe(await space(mean));
    const cls = writeModel({ "1_Pooling/config.json": { pooling_mode: "cls" } });
    expect(await space(cls)).not.toBe(await space(mean));
  });

  it("are refused if the package cannot run what they describe", async () => {
    const refusal = (files: { readonly [file: string]: object }) =>
      sentenceTransformersEmbedder({ modelPath: writeModel(files), ...GIVEN });
    await expect(
      refusal({ "1_Pooling/config.json": { pooling_mode_max_tokens: true, pooling_mode_mean_tokens: true } }),
    ).rejects.toMatchObject({ code: "unsupported" });
    await expect(
      refusal({ "modules.json": [{ type: "sentence_transformers.models.Dense" }] }),
    ).rejects.toMatchObject({ code: "unsupported" });
    await expect(refusal({ "config.json": {} })).rejects.toMatchObject({ code: "unavailable" });
    await expect(sentenceTransformersEmbedder({})).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("name the command that installs a missing package", async () => {
    await expect(sentenceTransformersEmbedder({ model: "Xenova/all-mpnet-base-v2" })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("npm install @huggingface/transformers"),
    });
  });

  it("are read from the hub once, from where the package downloads the model", async () => {
    const transformers = {
      ...fakeTransformers([]),
      env: { remoteHost: "http://127.0.0.1:9/", remotePathTemplate: "{model}/x/{revision}/" },
    };
    await expect(sentenceTransformersEmbedder({ model: "a/b", transformers })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("KEEPSAKE_MODEL_PATH"),
    });
  });
});

describe("the measured thresholds of an embedder", () => {
  it("are near those that were found on conversations, for the built-in embedder", async () => {
    const { floor, duplicateFloor } = staticEmbedder();
    const measured = await measureCalibration(staticEmbedder().embed);
    expect(Math.abs(measured.floor - floor)).toBeLessThan(0.06);
    expect(Math.abs(measured.duplicateFloor - (duplicateFloor ?? 0))).toBeLessThan(0.06);
  });

  it("are measured again if they were not kept, and once if they were", async () => {
    const modelPath = writeModel({});
    const counts = [];
    for (const profilesPath of [undefined, join(folder, "kept"), join(folder, "kept")]) {
      const asked: Asked[] = [];
      const transformers = fakeTransformers(asked);
      await sentenceTransformersEmbedder({
        modelPath,
        transformers,
        ...(profilesPath ? { profilesPath } : {}),
      });
      counts.push(asked.length > 50);
    }
    expect(counts).toEqual([true, true, false]);
  });
});
