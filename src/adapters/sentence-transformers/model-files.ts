import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { MemoryError } from "../../errors.ts";
import type { Calibration } from "../shared/embedder-profiles/calibration.ts";
import { type DenseLayer, listSteps, type ModelStep } from "./dense-layers.ts";

/** How the vectors of a text's tokens become one. */
export type Pooling = "mean" | "cls" | "last_token";

/** What a model's own files say, and what was measured. */
export interface ModelProfile extends Calibration {
  readonly dimensions: number;
  readonly pooling: Pooling;
  /** The prefix of a query, and of a text. */
  readonly prompts: { readonly query: string; readonly text: string };
  /** What follows the pooling, if dense layers do. */
  readonly steps?: readonly ModelStep[];
}

/** The files of a model that say how it is used. */
export interface ModelFiles {
  /** Names the model: on the hub, or the folder with a digest of its files. */
  readonly id: string;
  describe(): Promise<Omit<ModelProfile, keyof Calibration>>;
  /** Reads a file of weights; undefined if the model has none of that name. */
  readBytes(file: string): Promise<Uint8Array | undefined>;
}

type JsonFile = { readonly [field: string]: unknown };
type ReadJson = (file: string) => Promise<JsonFile | undefined>;

/** Gives the address of a folder of a model on the hub. */
type FindAddress = () => Promise<string>;

const HUB_TIMEOUT_MS = 20_000;
/** Weights of a dense layer have some megabytes. */
const HUB_WEIGHTS_TIMEOUT_MS = 300_000;

/** Finds the files of a model: in a folder, or with `findAddress` on the hub. */
export async function openModelFiles(
  model: string,
  findAddress: FindAddress | undefined,
): Promise<ModelFiles> {
  const readBytes = findAddress
    ? async (file: string) => fetchBytes(model, `${await findAddress()}${file}`)
    : (file: string) => readFile(join(model, file)).catch(() => undefined);
  const readJson: ReadJson = async (file) => parseJson(await readBytes(file));
  return {
    id:
      findAddress === undefined
        ? `${basename(model)
            .replace(/[^\w.-]/g, "-")
            .slice(0, 100)}@${await digestFolder(model)}`
        : model,
    describe: () => describeModel(model, readJson),
    readBytes,
  };
}

/** Names of the size of a model's hidden state in config.json. */
const SIZE_FIELDS = ["hidden_size", "d_model", "dim", "n_embd"] as const;

async function describeModel(
  model: string,
  readJson: ReadJson,
): Promise<Omit<ModelProfile, keyof Calibration>> {
  const [config, pooling, prompts, modules] = await Promise.all([
    readJson("config.json"),
    readJson("1_Pooling/config.json"),
    readJson("config_sentence_transformers.json"),
    readJson("modules.json"),
  ]);
  const dimensions = SIZE_FIELDS.map((field) => config?.[field]).find((size) => typeof size === "number");
  if (dimensions === undefined) {
    throw new MemoryError(
      "unavailable",
      `the model ${model} has no config.json that can be read with a size of its vectors. Check its name, or copy its files into a folder (KEEPSAKE_MODEL_PATH).`,
    );
  }
  const steps = await listSteps(model, modules, readJson);
  const described = { pooling: findPooling(model, pooling), prompts: findPrompts(prompts) };
  if (steps.length === 0) return { dimensions, ...described };
  return { dimensions: followSizes(model, dimensions, steps), ...described, steps };
}

/** The size of the last layer's vectors, if each layer reads what the one before it gives. */
function followSizes(model: string, hidden: number, steps: readonly ModelStep[]): number {
  return steps
    .filter((step): step is DenseLayer => step !== "normalize")
    .reduce((size, { inputs, outputs }) => {
      if (inputs === size) return outputs;
      throw new MemoryError(
        "unsupported",
        `the model ${model} has a dense layer for vectors of ${inputs} dimensions behind ${size}. Choose another model.`,
      );
    }, hidden);
}

const POOLING_FIELDS: readonly (readonly [field: string, pooling: Pooling])[] = [
  ["pooling_mode_mean_tokens", "mean"],
  ["pooling_mode_cls_token", "cls"],
  ["pooling_mode_lasttoken", "last_token"],
];
const POOLING_NAMES: { readonly [mode: string]: Pooling } = {
  mean: "mean",
  cls: "cls",
  lasttoken: "last_token",
};

function findPooling(model: string, config: JsonFile | undefined): Pooling {
  if (config === undefined) return "mean";
  const { pooling_mode: mode } = config;
  const named = typeof mode === "string" ? POOLING_NAMES[mode] : undefined;
  const chosen = Object.entries(config).filter(
    ([field, value]) => field.startsWith("pooling_mode_") && value === true,
  );
  const [pooling] = POOLING_FIELDS.filter(([field]) => config[field] === true).map(([, known]) => known);
  const found = named ?? (chosen.length === 1 ? pooling : undefined);
  if (found !== undefined) return found;
  throw new MemoryError(
    "unsupported",
    `the model ${model} pools in a way that transformers.js does not run. Choose another model.`,
  );
}

function findPrompts(config: JsonFile | undefined): ModelProfile["prompts"] {
  const { prompts, default_prompt_name: usual } = config ?? {};
  const named = typeof prompts === "object" && prompts !== null ? (prompts as JsonFile) : {};
  const find = (...names: unknown[]): string => {
    const found = names.map((name) => (typeof name === "string" ? named[name] : undefined));
    return found.find((prompt) => typeof prompt === "string") ?? "";
  };
  return { query: find("query", usual), text: find("document", "passage", usual) };
}

function parseJson(bytes: Uint8Array | undefined): JsonFile | undefined {
  try {
    return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as JsonFile);
  } catch {
    return undefined;
  }
}

/** Reads a file of a model on the hub; undefined if the model has none. */
async function fetchBytes(model: string, address: string): Promise<Uint8Array | undefined> {
  try {
    const timeoutMs = address.endsWith(".safetensors") ? HUB_WEIGHTS_TIMEOUT_MS : HUB_TIMEOUT_MS;
    const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    await response.body?.cancel();
    if (response.status === 404) return undefined;
  } catch {
    // Reported below.
  }
  throw new MemoryError(
    "unavailable",
    `the files of the model ${model} cannot be read. That needs a network. With a local copy, set modelPath (KEEPSAKE_MODEL_PATH).`,
  );
}

const ONNX_FILES: readonly string[] = ["onnx/model_quantized.onnx", "onnx/model.onnx"];
const SAMPLE_BYTES = 1_048_576;

/** A digest of a model's files: the small ones whole, of the weights the size, the beginning and the end. */
async function digestFolder(folder: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of [
    "config.json",
    "tokenizer.json",
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
  ])
    hash.update(await readFile(join(folder, file)).catch(() => ""));
  for (const file of await listDenseFiles(folder))
    hash.update(file).update(await readFile(join(folder, file)).catch(() => ""));
  for (const file of ONNX_FILES) {
    const weights = await open(join(folder, file)).catch(() => undefined);
    if (!weights) continue;
    try {
      const { size } = await weights.stat();
      hash.update(`${file} ${size}`);
      for (const position of [0, Math.max(0, size - SAMPLE_BYTES)]) {
        const { buffer, bytesRead } = await weights.read({ buffer: Buffer.alloc(SAMPLE_BYTES), position });
        hash.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await weights.close();
    }
    // The first one is loaded.
    break;
  }
  return hash.digest("hex").slice(0, 12);
}

/** The files of dense layers; none for a model without them, whose digest they do not change. */
async function listDenseFiles(folder: string): Promise<readonly string[]> {
  const steps = await listSteps(
    "",
    parseJson(await readFile(join(folder, "modules.json")).catch(() => undefined)),
    async (file) => parseJson(await readFile(join(folder, file)).catch(() => undefined)),
  ).catch(() => []);
  const layers = steps.flatMap((step) => (step === "normalize" ? [] : [step]));
  if (layers.length === 0) return [];
  return [
    "modules.json",
    ...layers.flatMap(({ folder: layer }) => [`${layer}/config.json`, `${layer}/model.safetensors`]),
  ];
}
