import { findTensor, type Tensor, toFloats } from "../model-file.ts";
import { createKernels, type Kernels } from "../parser/kernels.ts";
import { type AttentionPlaces, attend, attentionPlaces } from "./attention.ts";
import { addRows, gelu, type Norm, normaliseRows } from "./row-functions.ts";

/** Reads a text of tokens: makes a row of `width` numbers of each. Pauses with `yield` after some 2 ms of work. */
export interface Transformer {
  readonly width: number;
  readonly mostTokens: number;
  /**
   * `tokens` are rows of the table of embeddings, `roles` rows of the table of roles; both have at most `mostTokens` entries. With a depth
   * it gives what the first blocks make, for others to go on from.
   */
  read(
    tokens: readonly number[],
    roles: readonly number[],
    depth?: number,
  ): Generator<void, Float32Array, void>;
}

/** Blocks of their own that go on from the rows of a transformer's first blocks. */
export interface TopBlocks {
  readonly width: number;
  /** Makes new rows of those of `Transformer.read`. Pauses with `yield` after some 2 ms of work. */
  read(rows: Float32Array): Generator<void, Float32Array, void>;
}

type Tensors = ReadonlyMap<string, Tensor>;

/** A linear layer in the memory of the kernels; places are addresses in bytes. */
interface PlacedLayer {
  readonly weights: number;
  readonly scales: number;
  readonly bias: number;
  readonly rows: number;
  readonly columns: number;
}

interface Block {
  /** Queries, keys and values of all heads in one. */
  readonly attention: PlacedLayer;
  readonly output: PlacedLayer;
  readonly outputNorm: Norm;
  readonly up: PlacedLayer;
  readonly down: PlacedLayer;
  readonly downNorm: Norm;
}

interface Runtime {
  readonly kernels: Kernels;
  readonly width: number;
  readonly mostTokens: number;
  readonly blocks: readonly Block[];
  readonly scratch: { readonly values: number; readonly codes: number; readonly products: number };
  readonly places: AttentionPlaces;
  /** Of readings that have ended, for the next ones. */
  readonly spareBuffers: ReadingBuffers[];
}

/**
 * What one reading holds between its blocks. Made anew in each block, it would be 20 MB for a text of 256 tokens, which stays in memory
 * until the next collection and leaves the allocator with gaps.
 */
interface ReadingBuffers {
  /** Queries, keys and values; then what lies between the two layers. */
  readonly wide: Float32Array;
  readonly attended: Float32Array;
}

/** A window, and a sentence that is read between two of its steps. */
const MOST_SPARE_BUFFERS = 2;

/** Sums of products of 8-bit weights with codes up to these stay within 32 bits. */
const LARGEST_CODE = 32_767;
const LARGEST_SUM = 2_147_483_647;
const LARGEST_WEIGHT = 127;
/** Codes are made of eight values at once, and a row of codes is read in parts of eight. */
export const CODED_AT_ONCE = 8;
const ALIGNED_BYTES = 32;
const EPSILON = 1e-12;

/**
 * A transformer encoder (Vaswani and others 2017) with the norms behind each part, as BERT has it (Devlin and others 2019), in 8-bit
 * weights: `embeddings`, `positions` and `roles` are summed up; then blocks of attention over `heads` heads and two layers with GELU.
 */
export function createTransformer(
  tensors: Tensors,
  { heads, isPlain = false }: { readonly heads: number; readonly isPlain?: boolean },
): Transformer {
  const [table, positions] = [findTensor(tensors, "embeddings"), findTensor(tensors, "positions")];
  // The scales lie among the bytes of the file, which would stay in memory with them.
  const embeddings = { ...table, scales: table.scales.slice() };
  const width = embeddings.columns;
  const mostTokens = Math.floor(positions.rows / CODED_AT_ONCE) * CODED_AT_ONCE;
  const runtime = placeLayers(tensors, width, mostTokens, heads, isPlain);
  const roleRows = toFloats(findTensor(tensors, "roles"));
  const positionRows = toFloats(positions);
  const norm = readNorm(tensors, "norm");
  return {
    width,
    mostTokens,
    *read(tokens, roles, depth) {
      const count = Math.min(tokens.length, mostTokens);
      const padded = Math.ceil(count / CODED_AT_ONCE) * CODED_AT_ONCE;
      const rows = new Float32Array(padded * width);
      for (let t = 0; t < count; t += 1) {
        const [token, role] = [tokens[t] as number, roles[t] ?? 0];
        const scale = embeddings.scales[token] as number;
        for (let i = 0; i < width; i += 1)
          rows[t * width + i] =
            (embeddings.codes[token * width + i] as number) * scale +
            (positionRows[t * width + i] as number) +
            (roleRows[role * width + i] as number);
      }
      normaliseRows(norm, rows, count, EPSILON);
      yield* readBlocks(runtime, runtime.blocks.slice(0, depth), rows, count);
      return rows.subarray(0, count * width);
    },
  };
}

/** The blocks of a model whose names begin with a prefix, for rows of at most `mostTokens` tokens. */
export function createTopBlocks(
  tensors: Tensors,
  {
    heads,
    width,
    mostTokens,
    prefix,
  }: Pick<Transformer, "width" | "mostTokens"> & { heads: number; prefix: string },
): TopBlocks {
  const runtime = placeLayers(tensors, width, mostTokens, heads, false, prefix);
  return {
    width,
    *read(lower) {
      const count = lower.length / width;
      const rows = new Float32Array(Math.ceil(count / CODED_AT_ONCE) * CODED_AT_ONCE * width);
      rows.set(lower);
      yield* readBlocks(runtime, runtime.blocks, rows, count);
      return rows.subarray(0, count * width);
    },
  };
}

function* readBlocks(
  runtime: Runtime,
  blocks: readonly Block[],
  rows: Float32Array,
  count: number,
): Generator<void, void, void> {
  const { spareBuffers } = runtime;
  const buffers = spareBuffers.pop() ?? createBuffers(runtime);
  for (const block of blocks) {
    yield* readNeighbours(runtime, buffers, block, rows, count);
    yield* readEach(runtime, buffers, block, rows, count);
  }
  if (spareBuffers.length < MOST_SPARE_BUFFERS) spareBuffers.push(buffers);
}

function createBuffers({ mostTokens, width, blocks }: Runtime): ReadingBuffers {
  const widest = Math.max(...blocks.flatMap(({ attention, up }) => [attention.rows, up.rows]));
  return {
    wide: new Float32Array(mostTokens * widest),
    attended: new Float32Array(mostTokens * width),
  };
}

/** The half of a block that mixes the tokens, in place. Other texts may be read while it pauses: what it keeps is its own. */
function* readNeighbours(
  runtime: Runtime,
  { wide, attended }: ReadingBuffers,
  block: Block,
  rows: Float32Array,
  count: number,
): Generator<void, void, void> {
  const { kernels, places, width } = runtime;
  const padded = rows.length / width;
  yield;
  const mixed = copyInto(wide, multiplyRows(runtime, block.attention, rows, padded));
  const result = attended.subarray(0, padded * width);
  yield* attend(kernels, places, mixed, { count, padded, width, result });
  yield;
  addRows(rows, multiplyRows(runtime, block.output, result, padded));
  normaliseRows(block.outputNorm, rows, count, EPSILON);
}

/** The half of a block that reads each token by itself, in place. */
function* readEach(
  runtime: Runtime,
  { wide }: ReadingBuffers,
  block: Block,
  rows: Float32Array,
  count: number,
): Generator<void, void, void> {
  const padded = rows.length / runtime.width;
  yield;
  const up = copyInto(wide, multiplyRows(runtime, block.up, rows, padded));
  yield;
  gelu(up);
  yield;
  addRows(rows, multiplyRows(runtime, block.down, up, padded));
  normaliseRows(block.downNorm, rows, count, EPSILON);
}

function copyInto(buffer: Float32Array, values: Float32Array): Float32Array {
  buffer.set(values);
  return buffer.subarray(0, values.length);
}

/** The products of a layer with each row. They lie in the memory of the kernels until the next call. */
function multiplyRows(
  { kernels, scratch }: Runtime,
  layer: PlacedLayer,
  rows: Float32Array,
  count: number,
): Float32Array {
  const input = new Float32Array(kernels.buffer, scratch.values, rows.length);
  input.set(rows);
  const top = Math.min(LARGEST_CODE, Math.floor(LARGEST_SUM / (LARGEST_WEIGHT * layer.columns)));
  const scale = kernels.encode(scratch.values, rows.length * 4, scratch.codes, top);
  const bytes = layer.columns * 2;
  const { weights, scales, bias, rows: outputs } = layer;
  kernels.multiply(
    scratch.codes,
    bytes,
    count,
    weights,
    bytes,
    outputs,
    scales,
    bias,
    scale,
    scratch.products,
  );
  return new Float32Array(kernels.buffer, scratch.products, count * outputs);
}

function readNorm(tensors: Tensors, name: string): Norm {
  return {
    gain: toFloats(findTensor(tensors, `${name}.gain`)),
    shift: toFloats(findTensor(tensors, `${name}.shift`)),
  };
}

/** Puts all layers into the memory of new kernels, with room for the widest rows. */
function placeLayers(
  tensors: Tensors,
  width: number,
  mostTokens: number,
  heads: number,
  isPlain: boolean,
  prefix = "",
): Runtime {
  let end = ALIGNED_BYTES;
  const take = (bytes: number): number => {
    const at = end;
    end += Math.ceil(bytes / ALIGNED_BYTES) * ALIGNED_BYTES;
    return at;
  };
  const filled: { readonly place: PlacedLayer; readonly tensor: Tensor; readonly bias: Float32Array }[] = [];
  const place = (name: string): PlacedLayer => {
    const tensor = findTensor(tensors, `${name}.weights`);
    const { rows, columns } = tensor;
    const placed = {
      weights: take(rows * columns * 2),
      scales: take(rows * 4),
      bias: take(rows * 4),
      rows,
      columns,
    };
    filled.push({ place: placed, tensor, bias: toFloats(findTensor(tensors, `${name}.bias`)) });
    return placed;
  };
  const blocks: Block[] = [];
  for (let i = 0; tensors.has(`${prefix}block${i}.up.weights`); i += 1)
    blocks.push({
      attention: place(`${prefix}block${i}.attention`),
      output: place(`${prefix}block${i}.output`),
      outputNorm: readNorm(tensors, `${prefix}block${i}.outputNorm`),
      up: place(`${prefix}block${i}.up`),
      down: place(`${prefix}block${i}.down`),
      downNorm: readNorm(tensors, `${prefix}block${i}.downNorm`),
    });
  const widest = Math.max(width, ...filled.flatMap(({ place: { rows, columns } }) => [rows, columns]));
  const scratch = {
    values: take(mostTokens * widest * 4),
    codes: take(mostTokens * widest * 2),
    products: take(mostTokens * widest * 4),
  };
  const places = attentionPlaces(take, { width, heads, mostTokens });
  const kernels = createKernels(end, isPlain);
  for (const { place: placed, tensor, bias } of filled) {
    new Int16Array(kernels.buffer, placed.weights, tensor.codes.length).set(tensor.codes);
    new Float32Array(kernels.buffer, placed.scales, placed.rows).set(tensor.scales);
    new Float32Array(kernels.buffer, placed.bias, placed.rows).set(bias);
  }
  return { kernels, width, mostTokens, blocks, scratch, places, spareBuffers: [] };
}
