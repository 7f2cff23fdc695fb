import { dequantize, quantizeExactly } from "../../domain/short-vector.ts";

/**
 * A vector as a database stores it, without loss, little-endian: 16 bits a part and a byte for their exponent where that
 * tells it exactly (an odd number of bytes), else 32-bit floats (a multiple of four).
 */
export function encodeVector(vector: Float32Array): Uint8Array {
  const short = vector.length === 0 ? undefined : quantizeExactly(vector);
  if (!short) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const blob = new Uint8Array(2 * vector.length + 1);
  blob.set(new Uint8Array(short.codes.buffer));
  new Int8Array(blob.buffer)[2 * vector.length] = short.exponent;
  return blob;
}

export function decodeVector(blob: unknown): Float32Array {
  if (!(blob instanceof Uint8Array)) return new Float32Array(0);
  // Copied, because a row's bytes need not start where a larger number may.
  const { buffer } = new Uint8Array(blob);
  const { length } = blob;
  if (length % 2 === 0) return new Float32Array(buffer);
  const exponent = new Int8Array(buffer)[length - 1] ?? 0;
  return dequantize({ codes: new Int16Array(buffer, 0, (length - 1) / 2), exponent });
}
