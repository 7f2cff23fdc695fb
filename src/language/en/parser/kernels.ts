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
}

const PAGE_BYTES = 65_536;

/** The compiled `kernels.wat` from this folder. */
const KERNEL_MODULE =
  "AGFzbQEAAAABIQNgCn9/f39/f39/fX8AYAR7e3t7AXtgCH9/f39/f39/AAINAQFtBm1lbW9yeQIAAQMEAwABAgcUAghtdWx0aXBseQAABXNjb3JlAAIKwAoDugQCCX8M" +
  "ewJAA0AgAkEATA0BIAAgAWohDCADIQ1BACEKIAkgBUECdGohEgNA/QwAAAAAAAAAAAAAAAAAAAAAIRf9DAAAAAAAAAAAAAAAAAAAAAAhGP0MAAAAAAAAAAAAAAAAAAAA" +
  "ACEZ/QwAAAAAAAAAAAAAAAAAAAAAIRr9DAAAAAAAAAAAAAAAAAAAAAAhG/0MAAAAAAAAAAAAAAAAAAAAACEc/QwAAAAAAAAAAAAAAAAAAAAAIR39DAAAAAAAAAAAAAAA" +
  "AAAAAAAhHiANIARqIQ4gDiAEaiEPIA8gBGohEEEAIQsDQCAAIAtq/QAEACETIAwgC2r9AAQAIRQgDSALav0ABAAhFSAXIBMgFf26Af2uASEXIBsgFCAV/boB/a4BIRsg" +
  "DiALav0ABAAhFSAYIBMgFf26Af2uASEYIBwgFCAV/boB/a4BIRwgDyALav0ABAAhFSAZIBMgFf26Af2uASEZIB0gFCAV/boB/a4BIR0gECALav0ABAAhFSAaIBMgFf26" +
  "Af2uASEaIB4gFCAV/boB/a4BIR4gC0EQaiILIARJDQALIApBAnQhESAGIBFq/QAEACAI/RP95gEhFSAHIBFq/QAEACEWIAkgEWogFiAVIBcgGCAZIBoQAf36Af3mAf3k" +
  "Af0LBAAgEiARaiAWIBUgGyAcIB0gHhAB/foB/eYB/eQB/QsEACAQIARqIQ0gCkEEaiIKIAVJDQALIAwgAWohACASIAVBAnRqIQkgAkECayECDAALCwuTAQAgACAB/Q0A" +
  "AQIDEBESEwQFBgcUFRYXIAAgAf0NCAkKCxgZGhsMDQ4PHB0eH/2uASEAIAIgA/0NAAECAxAREhMEBQYHFBUWFyACIAP9DQgJCgsYGRobDA0ODxwdHh/9rgEhAiAAIAL9" +
  "DQABAgMEBQYHEBESExQVFhcgACAC/Q0ICQoLDA0ODxgZGhscHR4f/a4BC+wEBAR/A3sIfwR7IAAoAgAhDyAAKAIEIRAgACgCCCERIAAoAgwhEiAAKAIQIRMgACgCFCEU" +
  "IAAoAhghFSAAKAIcIRYgAkECdCEIA0AgCSAIaiEKIAEgCWr9AAQAIQwgASAKav0ABAAhDSAMIA8gCWr9AAQA/eQBIQwgDSAPIApq/QAEAP3kASENIAwgECAJav0ABAD9" +
  "5AEhDCANIBAgCmr9AAQA/eQBIQ0gDCARIAlq/QAEAP3kASEMIA0gESAKav0ABAD95AEhDSAMIBIgCWr9AAQA/eQBIQwgDSASIApq/QAEAP3kASENIAwgEyAJav0ABAD9" +
  "5AEhDCANIBMgCmr9AAQA/eQBIQ0gDCAUIAlq/QAEAP3kASEMIA0gFCAKav0ABAD95AEhDSAMIBUgCWr9AAQA/eQBIQwgDSAVIApq/QAEAP3kASENIAwgFiAJav0ABAD9" +
  "5AEhDCANIBYgCmr9AAQA/eQBIQ0gAyAJaiAMIA396QH9CwQAIAlBEGoiCSAISQ0ACyAGQQJ0IQZBACEKA0AgBSAKav0ABAAhFyAFIApq/QAEECEYIAUgCmr9AAQgIRkg" +
  "BSAKav0ABDAhGkEAIQkgBCAKaiELA0AgAyAJav0JAgAhDiAXIA4gC/0ABAD95gH95AEhFyAYIA4gC/0ABBD95gH95AEhGCAZIA4gC/0ABCD95gH95AEhGSAaIA4gC/0A" +
  "BDD95gH95AEhGiALIAZqIQsgCUEEaiIJIAhJDQALIAcgCmogF/0LBAAgByAKaiAY/QsEECAHIApqIBn9CwQgIAcgCmogGv0LBDAgCkHAAGoiCiAGSQ0ACws=";

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
      const { multiply, score } = new wasm.Instance(module, { m: { memory } }).exports;
      return { buffer: memory.buffer, multiply: multiply as Multiply, score: score as Score };
    } catch {
      // Without SIMD the module is refused.
    }
  }
  const buffer = new ArrayBuffer(pages * PAGE_BYTES);
  return { buffer, multiply: createPlainMultiply(buffer), score: createPlainScore(buffer) };
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
