import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
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
  for (const inner of ["1_Pooling", "2_Dense", "3_Dense", "onnx"]) mkdirSync(join(path, inner));
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
    const behindPooling = (module: object, files: { readonly [file: string]: object } = {}) =>
      refusal({ "modules.json": [{ type: "a.Transformer" }, { type: "a.Pooling" }, module], ...files });
    for (const module of [
      { type: "sentence_transformers.models.CNN", path: "2_CNN" },
      { type: "sentence_transformers.models.Dense", path: "../2_Dense" },
      { type: "sentence_transformers.models.Dense", path: "2_Dense" },
    ])
      await expect(behindPooling(module)).rejects.toMatchObject({ code: "unsupported" });
    for (const config of [
      { in_features: 8, out_features: 2 },
      { in_features: 4, out_features: 2, activation_function: "torch.nn.modules.activation.GELU" },
      { in_features: 4, out_features: 2, module_input_name: "token_embeddings" },
    ])
      await expect(
        behindPooling({ type: "a.Dense", path: "2_Dense" }, { "2_Dense/config.json": config }),
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

/** A safetensors file of 32-bit numbers, by its published layout. */
function toSafetensors(tensors: { readonly [name: string]: readonly number[] }): Uint8Array {
  let end = 0;
  const entries = Object.entries(tensors).map(([name, { length }]) => {
    const start = end;
    end += length * 4;
    return [name, { dtype: "F32", shape: [length], data_offsets: [start, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  const values = Buffer.alloc(end);
  for (const [at, value] of Object.values(tensors).flat().entries()) values.writeFloatLE(value, at * 4);
  return Buffer.concat([size, header, values]);
}

/** The weights of a layer from four values to three, row by row, and of one from three to two. */
const FIRST = {
  "linear.weight": [0.5, -1, 0.25, 2, 1.5, 0, -0.5, 1, -2, 0.75, 1, 0.125],
  "linear.bias": [0.1, -0.2, 0.3],
};
const SECOND = { "linear.weight": [1, -0.5, 2, 0.25, 1, -1] };

function writeDenseModel(first: { readonly [name: string]: readonly number[] } = FIRST): string {
  const path = writeModel({
    "modules.json": [
      { path: "", type: "sentence_transformers.models.Transformer" },
      { path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
      { path: "2_Dense", type: "sentence_transformers.models.Dense" },
      { path: "3_Dense", type: "sentence_transformers.models.Dense" },
      { path: "4_Normalize", type: "sentence_transformers.models.Normalize" },
    ],
    "2_Dense/config.json": {
      in_features: 4,
      out_features: 3,
      bias: true,
      activation_function: "torch.nn.modules.activation.Tanh",
    },
    "3_Dense/config.json": {
      in_features: 3,
      out_features: 2,
      bias: false,
      activation_function: "torch.nn.modules.linear.Identity",
    },
  });
  writeFileSync(join(path, "2_Dense/model.safetensors"), toSafetensors(first));
  writeFileSync(join(path, "3_Dense/model.safetensors"), toSafetensors(SECOND));
  return path;
}

/** What the layers make of a vector whose only value that is not 0 is 1, at `position`. */
function computeByHand(position: number): number[] {
  const { "linear.weight": weights, "linear.bias": bias } = FIRST;
  const hidden = bias.map((value, row) => Math.tanh(value + (weights[row * 4 + position] ?? 0)));
  const result = [0, 1].map((row) =>
    hidden.reduce((sum, value, i) => sum + value * (SECOND["linear.weight"][row * 3 + i] ?? 0), 0),
  );
  return result.map((value) => value / Math.hypot(...result));
}

describe("the dense layers of a model of sentence-transformers", () => {
  it("are applied to the pooled vector in their order, with bias and activation, before the vector gets unit length", async () => {
    const modelPath = writeDenseModel();
    const embedder = await sentenceTransformersEmbedder({
      modelPath,
      transformers: fakeTransformers([]),
      ...GIVEN,
    });
    expect(embedder.dimensions).toBe(2);
    const texts = ["four", "fives", "sixsix", "sevens7"];
    for (const [position, vector] of (await embedder.embed(texts)).entries())
      for (const [i, value] of computeByHand(position).entries()) expect(vector[i]).toBeCloseTo(value, 6);
  });

  it("belong to its space: other weights are another space", async () => {
    const spaces = [];
    for (const bias of [0.1, 0.4]) {
      const modelPath = join(mkdtempSync(join(folder, "dense-")), "model");
      cpSync(writeDenseModel({ ...FIRST, "linear.bias": [bias, 0, 0] }), modelPath, { recursive: true });
      spaces.push((await sentenceTransformersEmbedder({ modelPath, ...GIVEN })).fingerprint);
    }
    expect(new Set(spaces).size).toBe(2);
  });

  it("are refused when their weights are absent, cut, or of another size", async () => {
    const whole = toSafetensors(FIRST);
    for (const bytes of [
      whole.subarray(0, 4),
      whole.subarray(0, whole.length - 4),
      toSafetensors({ ...FIRST, "linear.bias": [1] }),
      toSafetensors({ "linear.weight": FIRST["linear.weight"] }),
    ]) {
      const modelPath = writeDenseModel();
      writeFileSync(join(modelPath, "2_Dense/model.safetensors"), bytes);
      const embedder = await sentenceTransformersEmbedder({
        modelPath,
        transformers: fakeTransformers([]),
        ...GIVEN,
      });
      await expect(embedder.embed(["text"])).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining("2_Dense"),
      });
    }
  });
});

/** A server with the addresses of the hub, which gives the files of one folder as a model. */
async function startHub(modelPath: string): Promise<{ url: string; asked: string[]; stop(): Promise<void> }> {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    const file = /^\/owner\/model\/resolve\/main\/([\w./-]+)$/.exec(url)?.[1];
    asked.push(file ?? url);
    try {
      const content = readFileSync(join(modelPath, file ?? "absent"));
      response.writeHead(200, { "content-length": content.length }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked, stop };
}

const HUB_TEMPLATE = "{model}/resolve/{revision}/";

describe("a model of the hub", () => {
  it("is described by its files there, and its dense weights are downloaded once", async () => {
    const hub = await startHub(writeDenseModel());
    const transformers = {
      ...fakeTransformers([]),
      env: { remoteHost: hub.url, remotePathTemplate: HUB_TEMPLATE },
    };
    const open = () =>
      sentenceTransformersEmbedder({
        model: "owner/model",
        transformers,
        profilesPath: join(folder, "hub-profiles"),
      });
    const [vector] = await (await open()).embed(["four"]);
    expect(hub.asked.filter((file) => file.endsWith(".safetensors")).sort()).toEqual([
      "2_Dense/model.safetensors",
      "3_Dense/model.safetensors",
    ]);
    await hub.stop();
    const [again] = await (await open()).embed(["four"]);
    expect([...(again ?? [])]).toEqual([...(vector ?? [])]);
    expect(vector?.[0]).toBeCloseTo(computeByHand(0)[0] ?? 0, 6);
  });

  it.skipIf(!isThere)(
    `is downloaded by the package once, and gives the vectors of the same files in a folder (${isThere ? "the real package" : why})`,
    {
      timeout: 180_000,
    },
    async () => {
      const modelPath = join(models ?? "", "all-MiniLM-L6-v2");
      const hub = await startHub(modelPath);
      const transformers = load();
      const { env } = transformers as unknown as { env: { remoteHost: string; cacheDir: string } };
      const before = { remoteHost: env.remoteHost, cacheDir: env.cacheDir };
      Object.assign(env, { remoteHost: hub.url, cacheDir: join(folder, "hub-cache") });
      try {
        const embedder = await sentenceTransformersEmbedder({ model: "owner/model", transformers, ...GIVEN });
        const [downloaded] = await embedder.embed(["The puppy got sick."]);
        expect(hub.asked).toContain("onnx/model_quantized.onnx");
        await hub.stop();
        const local = await sentenceTransformersEmbedder({ modelPath, transformers, ...GIVEN });
        const [same] = await local.embed(["The puppy got sick."]);
        expect([...(downloaded ?? [])]).toEqual([...(same ?? [])]);
      } finally {
        Object.assign(env, before);
        await hub.stop();
      }
    },
  );
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
