import type { Tensor } from "../model-file.ts";
import { createKernels } from "./kernels.ts";

/**
 * The sums of a layer for each of the first `count` rows and its neighbours, as new rows of the same width; rows of zeros stand on
 * both sides.
 */
export type Convolution = (layer: number, rows: Float32Array, count: number) => Float32Array;

/** A layer: 8-bit weights with a row for each output and the places of the window side by side, and a bias for each output. */
interface ConvolutionLayer {
  readonly weights: Tensor;
  readonly bias: Float32Array;
}

const LARGEST_CODE = 32_767;
/** Codes are made of eight values at once, in bytes. */
const ENCODED_BYTES = 32;

/**
 * Convolutions over at most `words` rows, in the kernels of the parser. `window` is odd; the width of a row, which is that of its
 * outputs, is a multiple of 8.
 */
export function createConvolution(
  layers: readonly ConvolutionLayer[],
  { words, window }: { readonly words: number; readonly window: number },
): Convolution {
  const width = layers[0]?.weights.rows ?? 0;
  const before = (window - 1) / 2;
  // A product has an even number of inputs, and reads a window beyond the last.
  const inputs = words + 1 + window;
  let end = ENCODED_BYTES;
  const take = (bytes: number): number => {
    const at = end;
    end += Math.ceil(bytes / ENCODED_BYTES) * ENCODED_BYTES;
    return at;
  };
  const [values, codes] = [take(inputs * width * 4), take(inputs * width * 2)];
  const products = take((words + 1) * width * 4);
  const places = layers.map(({ weights: { rows, columns } }) => ({
    weights: take(rows * columns * 2),
    scales: take(rows * 4),
    bias: take(rows * 4),
  }));
  const kernels = createKernels(end);
  for (const [i, { weights, bias }] of layers.entries()) {
    const place = places[i] as (typeof places)[number];
    new Int16Array(kernels.buffer, place.weights, weights.codes.length).set(weights.codes);
    new Float32Array(kernels.buffer, place.scales, width).set(weights.scales);
    new Float32Array(kernels.buffer, place.bias, width).set(bias);
  }
  const input = new Float32Array(kernels.buffer, values, inputs * width);
  const output = new Float32Array(kernels.buffer, products, (words + 1) * width);
  return (layer, rows, count) => {
    const { weights, scales, bias } = places[layer] as (typeof places)[number];
    const even = count + (count % 2);
    input.fill(0, 0, (even + window) * width);
    input.set(rows.subarray(0, count * width), before * width);
    const bytes = Math.ceil(((even + window - 1) * width * 4) / ENCODED_BYTES) * ENCODED_BYTES;
    const scale = kernels.encode(values, bytes, codes, LARGEST_CODE);
    kernels.multiply(
      codes,
      width * 2,
      even,
      weights,
      width * window * 2,
      width,
      scales,
      bias,
      scale,
      products,
    );
    return output.slice(0, count * width);
  };
}
