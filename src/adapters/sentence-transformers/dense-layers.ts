import { MemoryError } from "../../errors.ts";

type JsonFile = { readonly [field: string]: unknown };

/** A layer behind the pooling of a model: its folder, its sizes, and what is applied to each value. */
export interface DenseLayer {
  readonly folder: string;
  readonly inputs: number;
  readonly outputs: number;
  readonly hasBias: boolean;
  readonly activation: ActivationName;
}

/** What happens to a vector behind the pooling, in this order. */
export type ModelStep = DenseLayer | "normalize";

type ActivationName = "identity" | "tanh" | "relu";

const ACTIVATIONS: { readonly [name in ActivationName]: (value: number) => number } = {
  identity: (value) => value,
  tanh: Math.tanh,
  relu: (value) => Math.max(0, value),
};

/** The last part of a dotted name: "sentence_transformers.models.Dense" is a Dense. */
function getLastPart(name: unknown): string {
  return typeof name === "string" ? (name.split(".").at(-1) ?? "") : "";
}

function refuse(model: string, what: string): MemoryError {
  return new MemoryError("unsupported", `the model ${model} has ${what}. Choose another model.`);
}

/**
 * Lists the steps behind the pooling, from a model's modules.json and the config.json of each dense layer. Gives none for a model
 * without dense layers, whose vectors are normalised anyway. Throws `unsupported` for any other module.
 */
export async function listSteps(
  model: string,
  modules: unknown,
  readJson: (file: string) => Promise<JsonFile | undefined>,
): Promise<readonly ModelStep[]> {
  // The first module is the network, whatever its name.
  const behind = (Array.isArray(modules) ? (modules as (JsonFile | null)[]) : []).slice(1);
  const steps: ModelStep[] = [];
  for (const module of behind) {
    const name = getLastPart(module?.type);
    if (name === "Normalize") steps.push("normalize");
    else if (name === "Dense") steps.push(await readLayer(model, module?.path, readJson));
    else if (name !== "Pooling") throw refuse(model, "a module behind its pooling that is not known");
  }
  return steps.some((step) => step !== "normalize") ? steps : [];
}

async function readLayer(
  model: string,
  folder: unknown,
  readJson: (file: string) => Promise<JsonFile | undefined>,
): Promise<DenseLayer> {
  if (typeof folder !== "string" || !/^\w[\w.-]*$/.test(folder))
    throw refuse(model, "a dense layer outside its folder");
  const config = await readJson(`${folder}/config.json`);
  const { in_features: inputs, out_features: outputs, bias = true } = config ?? {};
  const { activation_function: named, module_input_name: source = "sentence_embedding" } = config ?? {};
  const activation = getLastPart(named ?? "Tanh").toLowerCase();
  if (!isSize(inputs) || !isSize(outputs)) throw refuse(model, "a dense layer without its sizes");
  if (!(activation in ACTIVATIONS)) throw refuse(model, "a dense layer with an activation that is not known");
  if (source !== "sentence_embedding") throw refuse(model, "a dense layer for each token");
  return {
    folder,
    inputs,
    outputs,
    hasBias: bias !== false,
    activation: activation as DenseLayer["activation"],
  };
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 65_536;
}

/** Turns the pooled vector of a text into the model's vector, of unit length. */
export type Transform = (vector: Float32Array) => Float32Array;

/** Loads the weights of the steps. Throws `unavailable` if they are absent, or are not of the sizes that the layer names. */
export async function loadSteps(
  model: string,
  steps: readonly ModelStep[],
  readBytes: (file: string) => Promise<Uint8Array | undefined>,
): Promise<Transform> {
  const transforms: Transform[] = [];
  for (const step of steps) {
    if (step === "normalize") transforms.push(toUnitLength);
    else transforms.push(await loadLayer(model, step, readBytes));
  }
  return (vector) => toUnitLength(transforms.reduce((result, transform) => transform(result), vector));
}

async function loadLayer(
  model: string,
  { folder, inputs, outputs, hasBias, activation }: DenseLayer,
  readBytes: (file: string) => Promise<Uint8Array | undefined>,
): Promise<Transform> {
  const bytes = await readBytes(`${folder}/model.safetensors`);
  const weights = bytes && readTensor(bytes, "linear.weight", inputs * outputs);
  const bias = hasBias ? bytes && readTensor(bytes, "linear.bias", outputs) : new Float32Array(outputs);
  if (weights === undefined || bias === undefined) {
    throw new MemoryError(
      "unavailable",
      `the model ${model} has a dense layer whose weights cannot be read. The folder ${folder} needs model.safetensors with the sizes of its config.json.`,
    );
  }
  const activate = ACTIVATIONS[activation];
  return (vector) => {
    const result = new Float32Array(outputs);
    for (let row = 0; row < outputs; row += 1) {
      let sum = bias[row] ?? 0;
      for (let column = 0; column < inputs; column += 1)
        sum += (weights[row * inputs + column] ?? 0) * (vector[column] ?? 0);
      result[row] = activate(sum);
    }
    return result;
  };
}

function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** The bytes of a value, and how it is read. */
const TYPES: {
  readonly [type: string]: readonly [bytes: number, read: (view: DataView, at: number) => number];
} = {
  F32: [4, (view, at) => view.getFloat32(at, true)],
  F16: [2, (view, at) => readHalf(view.getUint16(at, true))],
  BF16: [2, readBrainFloat],
};

const MOST_HEADER_BYTES = 1_048_576;

/**
 * Reads a tensor of a safetensors file: eight bytes with the length of a JSON header, the header, and the values. Gives undefined
 * for a file that is damaged, or has no such tensor of `count` values.
 */
function readTensor(bytes: Uint8Array, name: string, count: number): Float32Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerBytes = bytes.byteLength < 8 ? 0 : Number(view.getBigUint64(0, true));
  if (headerBytes === 0 || headerBytes > Math.min(MOST_HEADER_BYTES, bytes.byteLength - 8)) return undefined;
  const tensor = readHeader(bytes.subarray(8, 8 + headerBytes))?.[name];
  const { dtype, data_offsets: offsets } = tensor ?? {};
  const [size, read] = TYPES[dtype ?? ""] ?? [];
  const [start, end] = Array.isArray(offsets) ? (offsets as unknown[]) : [];
  if (size === undefined || read === undefined || typeof start !== "number" || typeof end !== "number")
    return undefined;
  const first = 8 + headerBytes + start;
  const fits = end - start === count * size && start >= 0 && 8 + headerBytes + end <= bytes.byteLength;
  if (!fits || !Number.isInteger(start)) return undefined;
  return Float32Array.from({ length: count }, (_, index) => read(view, first + index * size));
}

interface TensorEntry {
  readonly dtype?: string;
  readonly data_offsets?: unknown;
}

function readHeader(bytes: Uint8Array): { readonly [name: string]: TensorEntry | undefined } | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as { readonly [name: string]: TensorEntry };
  } catch {
    return undefined;
  }
}

/** A number of 16 bits by IEEE 754: a sign, 5 bits of exponent, 10 of fraction. */
function readHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = (bits & 0x3ff) / 1024;
  if (exponent === 0) return sign * fraction * 2 ** -14;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction) * 2 ** (exponent - 15);
}

/** The upper half of a number of 32 bits. */
function readBrainFloat(view: DataView, at: number): number {
  const scratch = new DataView(new ArrayBuffer(4));
  scratch.setUint32(0, view.getUint16(at, true) << 16);
  return scratch.getFloat32(0);
}
