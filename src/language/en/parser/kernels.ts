// TypeScript describes WebAssembly only in the browser's types; these are the few used here.
interface WasmTypes {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
  Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
}

type Multiply = (
  input: number,
  stride: number,
  inputs: number,
  weights: number,
  bytes: number,
  rows: number,
  scales: number,
  bias: number,
  scale: number,
  out: number,
) => void;

type Score = (
  features: number,
  bias: number,
  hidden: number,
  temp: number,
  weights: number,
  moveBias: number,
  moves: number,
  out: number,
) => void;

type Normalise = (
  rows: number,
  stride: number,
  pieces: number,
  bytes: number,
  count: number,
  gain: number,
  shift: number,
  out: number,
) => void;

type Encode = (values: number, bytes: number, codes: number, top: number) => number;

/** The inner loops of the network, over one memory. All places are addresses in bytes. */
export interface Kernels {
  readonly buffer: ArrayBuffer;
  /**
   * `out[t][r] = dot(input[t], weights[r]) * scales[r] * scale + bias[r]`: 16-bit codes, 32-bit floats. `stride` is the distance
   * of two inputs and `bytes` the length of a row, both in bytes. `inputs` is even, `rows` a multiple of 4.
   */
  readonly multiply: Multiply;
  /**
   * Scores of all moves in one state. `features` holds the addresses of eight rows of `2 * hidden` floats; `moves` is a multiple
   * of 16; the weights have a row for each hidden unit.
   */
  readonly score: Score;
  /**
   * Of each of `count` rows, the greatest of its pieces, brought to mean 0 and variance 1, scaled, shifted, and added to `out`. A row
   * has `stride` bytes and a piece `bytes`, a multiple of 16. The first piece is overwritten.
   */
  readonly normalise: Normalise;
  /** Writes 16-bit codes of `bytes` of floats, a multiple of 32, and gives their scale: `value = code * scale`. */
  readonly encode: Encode;
}

const PAGE_BYTES = 65_536;

/** The compiled `kernels.wat` from this folder. */
const KERNEL_MODULE =
  "AGFzbQEAAAABOgdgCn9/f39/f39/fX8AYAR7e3t7AXtgCH9/f39/f39/AGABewF7YAJ7ewF8YAR/f398AXxgAnt7AXsCDQEBbQZtZW1vcnkCAAEDCQgAAQICAwQFBgcpBAht" +
  "dWx0aXBseQAABXNjb3JlAAIJbm9ybWFsaXNlAAMGZW5jb2RlAAYK2BEIxAQCCX8NeyAFQQJ0IRICQCACQQBMDQADQCADIARqIQ0gDSAEaiEOIA4gBGohDyAG/QAEACAI/RP9" +
  "5gEhEyAH/QAEACEXIAAhCyAJIRAgAiERA0AgCyABaiEM/QwAAAAAAAAAAAAAAAAAAAAAIRj9DAAAAAAAAAAAAAAAAAAAAAAhGf0MAAAAAAAAAAAAAAAAAAAAACEa/QwAAAAA" +
  "AAAAAAAAAAAAAAAAIRv9DAAAAAAAAAAAAAAAAAAAAAAhHP0MAAAAAAAAAAAAAAAAAAAAACEd/QwAAAAAAAAAAAAAAAAAAAAAIR79DAAAAAAAAAAAAAAAAAAAAAAhH0EAIQoD" +
  "QCALIApq/QAEACEUIAwgCmr9AAQAIRUgAyAKav0ABAAhFiAYIBQgFv26Af2uASEYIBwgFSAW/boB/a4BIRwgDSAKav0ABAAhFiAZIBQgFv26Af2uASEZIB0gFSAW/boB/a4B" +
  "IR0gDiAKav0ABAAhFiAaIBQgFv26Af2uASEaIB4gFSAW/boB/a4BIR4gDyAKav0ABAAhFiAbIBQgFv26Af2uASEbIB8gFSAW/boB/a4BIR8gCkEQaiIKIARJDQALIBAgFyAT" +
  "IBggGSAaIBsQAf36Af3mAf3kAf0LBAAgECASaiEQIBAgFyATIBwgHSAeIB8QAf36Af3mAf3kAf0LBAAgECASaiEQIAwgAWohCyARQQJrIhFBAEoNAAsgDyAEaiEDIAZBEGoh" +
  "BiAHQRBqIQcgCUEQaiEJIAVBBGsiBUEASg0ACwsLkwEAIAAgAf0NAAECAxAREhMEBQYHFBUWFyAAIAH9DQgJCgsYGRobDA0ODxwdHh/9rgEhACACIAP9DQABAgMQERITBAUG" +
  "BxQVFhcgAiAD/Q0ICQoLGBkaGwwNDg8cHR4f/a4BIQIgACAC/Q0AAQIDBAUGBxAREhMUFRYXIAAgAv0NCAkKCwwNDg8YGRobHB0eH/2uAQvsBAQEfwN7CH8EeyAAKAIAIQ8g" +
  "ACgCBCEQIAAoAgghESAAKAIMIRIgACgCECETIAAoAhQhFCAAKAIYIRUgACgCHCEWIAJBAnQhCANAIAkgCGohCiABIAlq/QAEACEMIAEgCmr9AAQAIQ0gDCAPIAlq/QAEAP3k" +
  "ASEMIA0gDyAKav0ABAD95AEhDSAMIBAgCWr9AAQA/eQBIQwgDSAQIApq/QAEAP3kASENIAwgESAJav0ABAD95AEhDCANIBEgCmr9AAQA/eQBIQ0gDCASIAlq/QAEAP3kASEM" +
  "IA0gEiAKav0ABAD95AEhDSAMIBMgCWr9AAQA/eQBIQwgDSATIApq/QAEAP3kASENIAwgFCAJav0ABAD95AEhDCANIBQgCmr9AAQA/eQBIQ0gDCAVIAlq/QAEAP3kASEMIA0g" +
  "FSAKav0ABAD95AEhDSAMIBYgCWr9AAQA/eQBIQwgDSAWIApq/QAEAP3kASENIAMgCWogDCAN/ekB/QsEACAJQRBqIgkgCEkNAAsgBkECdCEGQQAhCgNAIAUgCmr9AAQAIRcg" +
  "BSAKav0ABBAhGCAFIApq/QAEICEZIAUgCmr9AAQwIRpBACEJIAQgCmohCwNAIAMgCWr9CQIAIQ4gFyAOIAv9AAQA/eYB/eQBIRcgGCAOIAv9AAQQ/eYB/eQBIRggGSAOIAv9" +
  "AAQg/eYB/eQBIRkgGiAOIAv9AAQw/eYB/eQBIRogCyAGaiELIAlBBGoiCSAISQ0ACyAHIApqIBf9CwQAIAcgCmogGP0LBBAgByAKaiAZ/QsEICAHIApqIBr9CwQwIApBwABq" +
  "IgogBkkNAAsLpgQDA38BfAh7IANBAna3IQsCQANAIARBAEwNAf0MAAAAAAAAAAAAAAAAAAAAACES/QwAAAAAAAAAAAAAAAAAAAAAIRNBACEIA0AgACAIaiEJIAn9AAQAIQ4g" +
  "AiEKAkADQCAKQQFrIgpBAEwNASAJIANqIQkgDiAJ/QAEAP3rASEODAALCyAAIAhqIA79CwQAIBIgDv1f/fABIRIgEyAOEAT98AEhEyAIQRBqIgggA0kNAAsgEiATEAUgC6P9" +
  "FCEM/QwAAAAAAAAAAAAAAAAAAAAAIRL9DAAAAAAAAAAAAAAAAAAAAAAhE0EAIQgDQCAAIAhq/QAEACEOIA79XyAM/fEBIQ8gDhAEIAz98QEhECASIA8gD/3yAf3wASESIBMg" +
  "ECAQ/fIB/fABIRMgCEEQaiIIIANJDQALRAAAAAAAAPA/IBIgExAFIAujRDqMMOKOeUU+oJ+j/RQhDUEAIQgDQCAAIAhq/QAEACEOIAUgCGr9AAQAIQ8gBiAIav0ABAAhECAH" +
  "IAhq/QAEACERIA79XyAM/fEBIA398gEgD/1f/fIBIRIgDhAEIAz98QEgDf3yASAPEAT98gEhEyAR/V8gEv3wASAQ/V/98AEhEiAREAQgE/3wASAQEAT98AEhEyAHIAhqIBL9" +
  "XiAT/V79DQABAgMEBQYHEBESExQVFhf9CwQAIAhBEGoiCCADSQ0ACyAAIAFqIQAgByADaiEHIARBAWshBAwACwsLGgAgACAA/Q0ICQoLDA0ODwABAgMEBQYH/V8LFgAgACAB" +
  "/fABIQAgAP0hACAA/SEBoAvGAQQCfwN7AXwBewNAIAAgBGohBSAIIAX9AAQA/eAB/esBIQggByAF/QAEEP3gAf3rASEHIARBIGoiBCABSQ0ACyAIIAf96wEhCCAI/R8AIAj9" +
  "HwGXIAj9HwIgCP0fA5eXuyEJIAlEAAAAAAAAAABkBEAgAyAJo/0UIQoLQQAhBANAIAAgBGohBSAF/QAEACEGIAX9AAQQIQcgAiAGIAoQByAHIAoQB/2FAf0LBAAgAkEQaiEC" +
  "IARBIGoiBCABSQ0ACyAJIAOjC2sAIAD9XyAB/fIB/QwAAAAAEADgQAAAAAAQAOBA/fAB/fwBIAAQBCAB/fIB/QwAAAAAEADgQAAAAAAQAOBA/fAB/fwB/Q0AAQIDBAUGBxAR" +
  "EhMUFRYX/QwAgAAAAIAAAACAAAAAgAAA/bEBCw==";

/**
 * Kernels with `bytes` of memory: WebAssembly with SIMD, or loops in TypeScript where the processor or the system's limits do not
 * allow it (or with `isPlain`). Both give the same numbers but for the last bit of a score.
 */
export function createKernels(bytes: number, isPlain = false): Kernels {
  const wasm = (globalThis as { WebAssembly?: WasmTypes }).WebAssembly;
  const pages = Math.ceil(bytes / PAGE_BYTES);
  if (wasm && !isPlain) {
    try {
      const memory = new wasm.Memory({ initial: pages, maximum: pages });
      const module = new wasm.Module(Buffer.from(KERNEL_MODULE, "base64"));
      const { multiply, score, normalise, encode } = new wasm.Instance(module, { m: { memory } }).exports;
      return {
        buffer: memory.buffer,
        multiply: multiply as Multiply,
        score: score as Score,
        normalise: normalise as Normalise,
        encode: encode as Encode,
      };
    } catch {
      // Without SIMD the module is refused.
    }
  }
  const buffer = new ArrayBuffer(pages * PAGE_BYTES);
  return {
    buffer,
    multiply: createPlainMultiply(buffer),
    score: createPlainScore(buffer),
    normalise: createPlainNormalise(buffer),
    encode: createPlainEncode(buffer),
  };
}

function createPlainMultiply(buffer: ArrayBuffer): Multiply {
  const codes = new Int16Array(buffer);
  const floats = new Float32Array(buffer);
  return (input, stride, inputs, weights, bytes, rows, scales, bias, scale, out) => {
    const length = bytes / 2;
    for (let t = 0; t < inputs; t += 1) {
      const from = (input + t * stride) / 2;
      for (let r = 0; r < rows; r += 1) {
        const row = weights / 2 + r * length;
        let sum = 0;
        for (let k = 0; k < length; k += 1) {
          sum = (sum + Math.imul(codes[from + k] as number, codes[row + k] as number)) | 0;
        }
        const factor = Math.fround((floats[scales / 4 + r] as number) * Math.fround(scale));
        const product = Math.fround(factor * Math.fround(sum));
        floats[out / 4 + t * rows + r] = product + (floats[bias / 4 + r] as number);
      }
    }
  };
}

function createPlainScore(buffer: ArrayBuffer): Score {
  const words = new Int32Array(buffer);
  const floats = new Float32Array(buffer);
  return (features, bias, hidden, temp, weights, moveBias, moves, out) => {
    const sum = (at: number): number => {
      let total = floats[bias / 4 + at] as number;
      for (let f = 0; f < 8; f += 1) {
        total = Math.fround(total + (floats[(words[features / 4 + f] as number) / 4 + at] as number));
      }
      return total;
    };
    for (let o = 0; o < hidden; o += 1) floats[temp / 4 + o] = Math.max(sum(o), sum(hidden + o));
    for (let m = 0; m < moves; m += 1) {
      let total = floats[moveBias / 4 + m] as number;
      for (let k = 0; k < hidden; k += 1) {
        const product = (floats[temp / 4 + k] as number) * (floats[weights / 4 + k * moves + m] as number);
        total = Math.fround(total + Math.fround(product));
      }
      floats[out / 4 + m] = total;
    }
  };
}

function createPlainNormalise(buffer: ArrayBuffer): Normalise {
  const floats = new Float32Array(buffer);
  return (rows, stride, pieces, bytes, count, gain, shift, out) => {
    const width = bytes / 4;
    for (let t = 0; t < count; t += 1) {
      const from = (rows + t * stride) / 4;
      for (let o = 0; o < width; o += 1) floats[from + o] = findGreatest(floats, from + o, width, pieces);
      const mean = sumInFours(floats, from, width, (value) => value) / width;
      const squares = sumInFours(floats, from, width, (value) => (value - mean) * (value - mean));
      const factor = 1 / Math.sqrt(squares / width + 1e-8);
      const to = out / 4 + t * width;
      for (let o = 0; o < width; o += 1) {
        const value = ((floats[from + o] as number) - mean) * factor * (floats[gain / 4 + o] as number);
        floats[to + o] = (floats[to + o] as number) + value + (floats[shift / 4 + o] as number);
      }
    }
  };
}

function findGreatest(floats: Float32Array, from: number, step: number, count: number): number {
  let best = floats[from] as number;
  for (let p = 1; p < count; p += 1) best = Math.max(best, floats[from + p * step] as number);
  return best;
}

/** A sum as four sums of every fourth value, in the order of the kernel, so that both have the same last bit. */
function sumInFours(
  floats: Float32Array,
  from: number,
  count: number,
  map: (value: number) => number,
): number {
  const sums = [0, 0, 0, 0] as [number, number, number, number];
  for (let o = 0; o < count; o += 1) sums[(o % 4) as 0 | 1 | 2 | 3] += map(floats[from + o] as number);
  return sums[0] + sums[2] + (sums[1] + sums[3]);
}

function createPlainEncode(buffer: ArrayBuffer): Encode {
  const all = new Float32Array(buffer);
  const codes = new Int16Array(buffer);
  return (values, bytes, out, top) => {
    const floats = all.subarray(values / 4, (values + bytes) / 4);
    let most = 0;
    for (const value of floats) most = Math.max(most, Math.abs(value));
    const factor = most === 0 ? 0 : top / most;
    // Rounded by cutting off the fraction of a positive number, which is one instruction.
    floats.forEach((value, i) => {
      codes[out / 2 + i] = ((value * factor + 32_768.5) | 0) - 32_768;
    });
    return most / top;
  };
}
