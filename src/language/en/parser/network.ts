import { findTensor, type Tensor } from "../model-file.ts";
import { createKernels, type Kernels } from "./kernels.ts";
import type { ParserModel } from "./model-file.ts";
import type { WordSpan } from "./tokenizer.ts";
import { createRowFinder, ROWS_PER_TABLE, TABLES } from "./word-features.ts";

/** Most words that the network reads at once. */
export const MAX_WORDS = 200;

/** What the network says of a run of words; the arrays are overwritten by the next call. */
export interface Network {
  /** Reads up to 200 words, and gives the index of the best tag and part of speech of each. */
  read(words: readonly WordSpan[]): { readonly tags: Uint8Array; readonly parts: Uint8Array };
  /**
   * Scores of the moves, for a state of the words read last: the indexes of eight words, -1 for none. The array is overwritten by
   * the next call.
   */
  score(context: Int32Array): Float32Array;
}

/** Eight words describe a state of the parser. */
export const CONTEXT_WORDS = 8;

const LAYERS = 4;
/** Rows of zeros before and after the words: as many as the layers of the convolution can see. */
const MARGIN = LAYERS;
const LARGEST_CODE = 32_767;
const LARGEST_SUM = 2 ** 31 - 1;
const LARGEST_WEIGHT = 127;

/** A matrix in the kernels' memory; places are addresses in bytes. */
interface Matrix {
  readonly rows: number;
  readonly bytes: number;
  readonly weights: number;
  readonly scales: number;
  readonly bias: number;
  /** The largest code of an input, so that no sum exceeds 32 bits. */
  readonly top: number;
}

interface ConvolutionLayer {
  readonly matrix: Matrix;
  readonly pieces: number;
  readonly gain: number;
  readonly shift: number;
}

/** Takes memory piece by piece, each at a multiple of 16 bytes. */
function createAllocator(): { take(bytes: number): number; readonly size: number } {
  let end = 64;
  return {
    take(bytes) {
      const at = end;
      end += Math.ceil(bytes / 16) * 16;
      return at;
    },
    get size() {
      return end;
    },
  };
}

const padTo = (value: number, step: number): number => Math.ceil(value / step) * step;

/** The network of a model. With `isPlain` it does without WebAssembly. */
export function createNetwork(model: ParserModel, isPlain = false): Network {
  const layout = planMemory(model);
  const kernels = createKernels(layout.size, isPlain);
  for (const [name, matrix] of layout.matrices) fillMatrix(kernels, matrix, model, name);
  fillMoves(kernels, layout, model);
  return { read: createEncoder(model, kernels, layout), score: createScorer(kernels, layout) };
}

interface MemoryLayout {
  readonly size: number;
  readonly width: number;
  readonly hidden: number;
  readonly moves: number;
  readonly matrices: ReadonlyMap<string, Matrix>;
  /** 16-bit codes of the inputs of a product. */
  readonly codes: number;
  /** Vectors of the words, with a margin on both sides. */
  readonly vectors: number;
  readonly products: number;
  /** For each layer, its gains and its shifts. */
  readonly norms: number;
  /** For each word, its part in the state for each of the eight places. */
  readonly features: number;
  readonly padding: number;
  readonly stateBias: number;
  readonly addresses: number;
  readonly temp: number;
  readonly moveWeights: number;
  readonly moveBias: number;
  readonly moveScores: number;
}

const MATRICES = ["layer0", "layer1", "layer2", "layer3", "layer4", "tags", "parts", "state", "features"];

function planMemory(model: ParserModel): MemoryLayout {
  const allocator = createAllocator();
  const { take } = allocator;
  const width = findTensor(model.tensors, "embed0").columns;
  const hidden = findTensor(model.tensors, "moves.weights").columns;
  const moves = padTo(model.moves.length, 16);
  const matrices = new Map<string, Matrix>();
  for (const name of MATRICES) {
    const { rows, columns } = findTensor(model.tensors, `${name}.weights`);
    const padded = padTo(rows, 4);
    matrices.set(name, {
      rows: padded,
      bytes: columns * 2,
      weights: take(padded * columns * 2),
      scales: take(padded * 4),
      bias: take(padded * 4),
      top: Math.min(LARGEST_CODE, Math.floor(LARGEST_SUM / (columns * LARGEST_WEIGHT))),
    });
  }
  // A product has an even number of inputs, and a convolution reads a row beyond.
  const inputs = MAX_WORDS + 2 * MARGIN + 2;
  const features = CONTEXT_WORDS * 2 * hidden;
  return {
    width,
    hidden,
    moves,
    matrices,
    codes: take(inputs * width * TABLES * 2),
    vectors: take(inputs * width * 4),
    products: take(inputs * width * 3 * 4),
    norms: take((LAYERS + 1) * 2 * width * 4),
    features: take((MAX_WORDS + 1) * features * 4),
    padding: take(features * 4),
    stateBias: take(2 * hidden * 4),
    addresses: take(CONTEXT_WORDS * 4),
    temp: take(hidden * 4),
    moveWeights: take(hidden * moves * 4),
    moveBias: take(moves * 4),
    moveScores: take(moves * 4),
    size: allocator.size,
  };
}

function fillMatrix(kernels: Kernels, matrix: Matrix, model: ParserModel, name: string): void {
  const { codes, scales } = findTensor(model.tensors, `${name}.weights`);
  new Int16Array(kernels.buffer, matrix.weights, codes.length).set(codes);
  new Float32Array(kernels.buffer, matrix.scales, scales.length).set(scales);
  // The bias of a state is added once, when it is scored.
  if (name !== "features") {
    const bias = findTensor(model.tensors, `${name}.bias`).codes;
    new Float32Array(kernels.buffer, matrix.bias, bias.length).set(bias);
  }
}

/** The weights of the moves, turned: a row for each hidden unit. Moves that fill up the last row are never valid. */
function fillMoves(kernels: Kernels, layout: MemoryLayout, model: ParserModel): void {
  const { rows, columns, codes, scales } = findTensor(model.tensors, "moves.weights");
  const weights = new Float32Array(kernels.buffer, layout.moveWeights, columns * layout.moves);
  for (let m = 0; m < rows; m += 1) {
    for (let k = 0; k < columns; k += 1) {
      weights[k * layout.moves + m] = (codes[m * columns + k] as number) * (scales[m] as number);
    }
  }
  const bias = findTensor(model.tensors, "moves.bias").codes;
  new Float32Array(kernels.buffer, layout.moveBias, bias.length).set(bias);
  const padding = findTensor(model.tensors, "features.padding").codes;
  new Float32Array(kernels.buffer, layout.padding, padding.length).set(padding);
  const stateBias = findTensor(model.tensors, "features.bias").codes;
  new Float32Array(kernels.buffer, layout.stateBias, stateBias.length).set(stateBias);
}

type Encoder = (words: readonly WordSpan[]) => { readonly tags: Uint8Array; readonly parts: Uint8Array };

function createEncoder(model: ParserModel, kernels: Kernels, layout: MemoryLayout): Encoder {
  const { width } = layout;
  const embed = createEmbedding(model, width);
  const layers = fillLayers(kernels, model, layout);
  const inputs = MAX_WORDS + 2 * MARGIN + 2;
  const vectors = new Float32Array(kernels.buffer, layout.vectors, inputs * width);
  const products = new Float32Array(kernels.buffer, layout.products, inputs * width * 3);
  // The features of a state are worked out last: until then, their memory is free.
  const embedded = new Float32Array(kernels.buffer, layout.features, MAX_WORDS * width * TABLES);
  const tags = new Uint8Array(MAX_WORDS);
  const parts = new Uint8Array(MAX_WORDS);
  const matrixOf = (name: string): Matrix => layout.matrices.get(name) as Matrix;

  const vectorAt = (row: number): number => layout.vectors + row * width * 4;
  const encode = (values: number, count: number, { top }: Matrix): number =>
    kernels.encode(values, count * 4, layout.codes, top);
  const normalise = ({ matrix, pieces, gain, shift }: ConvolutionLayer, count: number, to: number): void =>
    kernels.normalise(layout.products, matrix.rows * 4, pieces, width * 4, count, gain, shift, vectorAt(to));
  const multiply = (matrix: Matrix, stride: number, count: number, scale: number, out: number): void => {
    const { weights, bytes, rows, scales, bias } = matrix;
    const even = count + (count % 2);
    kernels.multiply(layout.codes, stride, even, weights, bytes, rows, scales, bias, scale, out);
  };
  const choose = (name: string, count: number, scale: number, limit: number, out: Uint8Array): void => {
    const matrix = matrixOf(name);
    multiply(matrix, width * 2, count, scale, layout.products);
    for (let t = 0; t < count; t += 1) out[t] = findLargest(products, t * matrix.rows, limit);
  };

  return (words) => {
    const count = words.length;
    embed(words, embedded);
    const [first, ...convolutions] = layers;
    if (!first) return { tags, parts };
    let scale = encode(layout.features, count * width * TABLES, first.matrix);
    multiply(first.matrix, width * TABLES * 2, count, scale, layout.products);
    vectors.fill(0, 0, (count + 2 * MARGIN) * width);
    normalise(first, count, MARGIN);
    for (const [index, layer] of convolutions.entries()) {
      // Rows whose values the words can still see: fewer after each layer.
      const from = index + 1;
      const rows = count + 2 * (MARGIN - from);
      scale = encode(vectorAt(from - 1), (rows + 2) * width, layer.matrix);
      multiply(layer.matrix, width * 2, rows, scale, layout.products);
      normalise(layer, rows, from);
    }
    scale = encode(vectorAt(MARGIN), count * width, matrixOf("state"));
    choose("tags", count, scale, model.tags.length, tags);
    choose("parts", count, scale, model.parts.length, parts);
    multiply(matrixOf("state"), width * 2, count, scale, layout.products);
    scale = encode(layout.products, count * layout.hidden, matrixOf("features"));
    multiply(matrixOf("features"), layout.hidden * 2, count, scale, layout.features);
    return { tags, parts };
  };
}

function fillLayers(kernels: Kernels, model: ParserModel, layout: MemoryLayout): ConvolutionLayer[] {
  return Array.from({ length: LAYERS + 1 }, (_, index) => {
    const name = `layer${index}`;
    const gain = layout.norms + index * 2 * layout.width * 4;
    const shift = gain + layout.width * 4;
    for (const [at, values] of [
      [gain, "gain"],
      [shift, "shift"],
    ] as const)
      new Float32Array(kernels.buffer, at, layout.width).set(
        findTensor(model.tensors, `${name}.${values}`).codes,
      );
    return {
      matrix: layout.matrices.get(name) as Matrix,
      pieces: findTensor(model.tensors, `${name}.weights`).rows / layout.width,
      gain,
      shift,
    };
  });
}

/** Writes the vectors of words from the four tables, one after the other. */
function createEmbedding(
  model: ParserModel,
  width: number,
): (words: readonly WordSpan[], out: Float32Array) => void {
  const tables: Tensor[] = Array.from({ length: TABLES }, (_, i) => findTensor(model.tensors, `embed${i}`));
  const findRows = createRowFinder(
    tables.map(({ rows }) => rows),
    model.symbols,
  );
  return (words, out) => {
    words.forEach((word, index) => {
      const rows = findRows(word);
      for (let table = 0; table < TABLES; table += 1) {
        const at = (index * TABLES + table) * width;
        sumRows(tables[table] as Tensor, rows, table * ROWS_PER_TABLE, out, at);
      }
    });
  };
}

/** Writes the sum of four rows of a table. */
function sumRows(table: Tensor, rows: Uint16Array, first: number, out: Float32Array, at: number): void {
  const { codes, scales, columns } = table;
  const [a, b, c, d] = [rows[first], rows[first + 1], rows[first + 2], rows[first + 3]] as [
    number,
    number,
    number,
    number,
  ];
  const scaleA = scales[a] as number;
  const scaleB = scales[b] as number;
  const scaleC = scales[c] as number;
  const scaleD = scales[d] as number;
  for (let i = 0; i < columns; i += 1) {
    out[at + i] =
      scaleA * (codes[a * columns + i] as number) +
      scaleB * (codes[b * columns + i] as number) +
      scaleC * (codes[c * columns + i] as number) +
      scaleD * (codes[d * columns + i] as number);
  }
}

function findLargest(values: Float32Array, from: number, count: number): number {
  let best = 0;
  for (let i = 1; i < count; i += 1) {
    if ((values[from + i] as number) > (values[from + best] as number)) best = i;
  }
  return best;
}

function createScorer(kernels: Kernels, layout: MemoryLayout): Network["score"] {
  const { hidden, moves, features, padding } = layout;
  const addresses = new Int32Array(kernels.buffer, layout.addresses, CONTEXT_WORDS);
  const scores = new Float32Array(kernels.buffer, layout.moveScores, moves);
  const place = 2 * hidden * 4;
  return (context) => {
    for (let f = 0; f < CONTEXT_WORDS; f += 1) {
      const word = context[f] as number;
      addresses[f] = (word < 0 ? padding : features + word * place * CONTEXT_WORDS) + f * place;
    }
    kernels.score(
      layout.addresses,
      layout.stateBias,
      hidden,
      layout.temp,
      layout.moveWeights,
      layout.moveBias,
      moves,
      layout.moveScores,
    );
    return scores;
  };
}
