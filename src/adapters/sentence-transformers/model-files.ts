import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { MemoryError } from "../../errors.ts";
import type { Calibration } from "../shared/embedder-profiles/calibration.ts";

/** How the vectors of a text's tokens become one. */
export type Pooling = "mean" | "cls" | "last_token";

/** What a model's own files say, and what was measured. */
export interface ModelProfile extends Calibration {
  readonly dimensions: number;
  readonly pooling: Pooling;
  /** What stands before a query, and before a text. */
  readonly prompts: { readonly query: string; readonly text: string };
}

/** The files of a model that say how it is used. */
export interface ModelFiles {
  /** Names the model: on the hub, or the folder with a digest of its files. */
  readonly id: string;
  describe(): Promise<Omit<ModelProfile, keyof Calibration>>;
}

type JsonFile = { readonly [field: string]: unknown };
type ReadJson = (file: string) => Promise<JsonFile | undefined>;

/** Gives the address of a folder of a model on the hub. */
type FindAddress = () => Promise<string>;

const HUB_TIMEOUT_MS = 20_000;

/** Finds the files of a model: in a folder, or with `findAddress` on the hub. */
export async function openModelFiles(
  model: string,
  findAddress: FindAddress | undefined,
): Promise<ModelFiles> {
  const readJson: ReadJson = findAddress
    ? async (file) => fetchJson(model, `${await findAddress()}${file}`)
    : (file) => readLocalJson(join(model, file));
  return {
    id:
      findAddress === undefined
        ? `${basename(model)
            .replace(/[^\w.-]/g, "-")
            .slice(0, 100)}@${await digestFolder(model)}`
        : model,
    describe: () => describeModel(model, readJson),
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
  if (JSON.stringify(modules ?? []).includes("models.Dense")) {
    throw new MemoryError(
      "unsupported",
      `the model ${model} has a dense layer after pooling, which transformers.js does not run. Choose another model.`,
    );
  }
  return { dimensions, pooling: findPooling(model, pooling), prompts: findPrompts(prompts) };
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

async function readLocalJson(path: string): Promise<JsonFile | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as JsonFile;
  } catch {
    return undefined;
  }
}

/** Reads a small file of a model on the hub; undefined if the model has none. */
async function fetchJson(model: string, address: string): Promise<JsonFile | undefined> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(HUB_TIMEOUT_MS) });
    if (response.ok) return (await response.json()) as JsonFile;
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
