/**
 * Vectors whose components are multiples of one power of two, at most 32,767 of it: 16 bits per component
 * represent them exactly. Rounding changes a component by at most 1/32,768 of the largest one, and a cosine
 * by a few millionths.
 */
interface QuantizedVector {
  /** Component i is `codes[i] * 2 ** exponent`. */
  readonly codes: Int16Array;
  readonly exponent: number;
}

const MOST = 32_767;

/** The nearest vector that 16 bits per component represent exactly. */
export function roundToQuantized(vector: Float32Array): Float32Array {
  return dequantize(quantize(vector));
}

/** The lossless short form of a vector, or undefined if it has none. */
export function quantizeExactly(vector: Float32Array): QuantizedVector | undefined {
  const short = quantize(vector);
  const step = 2 ** short.exponent;
  for (let i = 0; i < vector.length; i += 1) {
    if ((short.codes[i] as number) * step !== vector[i]) return undefined;
  }
  return short;
}

export function dequantize({ codes, exponent }: QuantizedVector): Float32Array {
  const step = 2 ** exponent;
  const vector = new Float32Array(codes.length);
  for (let i = 0; i < codes.length; i += 1) vector[i] = (codes[i] as number) * step;
  return vector;
}

/**
 * The exponent of the smallest power of two that scales the largest component to at most 32,767, within the range of a
 * 32-bit float.
 */
function chooseExponent(most: number): number {
  return Math.max(-126, Math.ceil(Math.log2(most / MOST)));
}

function quantize(vector: Float32Array): QuantizedVector {
  let most = 0;
  for (const part of vector) most = Math.max(most, Math.abs(part));
  const exponent = most === 0 || !Number.isFinite(most) ? 0 : chooseExponent(most);
  const step = 2 ** exponent;
  const codes = new Int16Array(vector.length);
  for (let i = 0; i < vector.length; i += 1) codes[i] = Math.round((vector[i] as number) / step);
  return { codes, exponent };
}
