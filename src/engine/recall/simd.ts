/** What `dot.wat` beside this file compiles to (245 bytes): the dot product of every row with a query, four at once. */
const MODULE =
  "AGFzbQEAAAABCQFgBX9/f39/AAINAQFtBm1lbW9yeQIAAQMCAQAHBwEDZG90AAAKwwEBwAECAX8CewJAA0AgAEUNAf0MAAAAAAAAAAAAAAAAAAAA" +
  "ACEG/QwAAAAAAAAAAAAAAAAAAAAAIQdBACEFA0AgBiADIAVq/QAEACACIAVq/QAEAP3mAf3kASEGIAcgAyAFav0ABBAgAiAFav0ABBD95gH95AEh" +
  "ByAFQSBqIgUgAUkNAAsgBiAH/eQBIQYgBCAG/R8AIAb9HwGSIAb9HwIgBv0fA5KSOAIAIAMgAWohAyAEQQRqIQQgAEEBayEADAALCws=";

// TypeScript describes WebAssembly with the browser's types only; these are the few that are used here.
interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
interface Wasm {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
  Memory: new (size: { initial: number }) => WasmMemory;
}
type DotRows = (rows: number, bytes: number, query: number, from: number, out: number) => void;

const PAGE = 65_536;
const FLOAT = 4;

/** Rows of numbers in memory that WebAssembly can reach. */
export interface SimdRows {
  readonly rows: Float32Array;
  /** The dot products of the first `count` rows with a query, valid until the next call. */
  dot(query: Float32Array, count: number): Float32Array;
}

let module: object | undefined;
/** A system that gives no memory takes long to say so; it is asked once. */
let isRefused = false;

/**
 * Room for `capacity` rows of zeros, or nothing where the processor, the system's limits or the dimensions (a multiple
 * of 8 is needed) do not allow it; the caller then has to do without.
 */
export function simdRows(capacity: number, dimensions: number): SimdRows | undefined {
  const wasm = (globalThis as { WebAssembly?: Wasm }).WebAssembly;
  if (!wasm || isRefused || dimensions % 8 !== 0) return undefined;
  try {
    module ??= new wasm.Module(Buffer.from(MODULE, "base64"));
    const first = (dimensions + capacity) * FLOAT;
    const rowsAt = Math.ceil(first / 16) * 16;
    const bytes = rowsAt + capacity * dimensions * FLOAT;
    const memory = new wasm.Memory({ initial: Math.ceil(bytes / PAGE) });
    const dotRows = new wasm.Instance(module, { m: { memory } }).exports.dot as DotRows;
    const asked = new Float32Array(memory.buffer, 0, dimensions);
    const out = new Float32Array(memory.buffer, dimensions * FLOAT, capacity);
    return {
      rows: new Float32Array(memory.buffer, rowsAt, capacity * dimensions),
      dot(query, count) {
        asked.set(query);
        dotRows(count, dimensions * FLOAT, 0, rowsAt, dimensions * FLOAT);
        return out.subarray(0, count);
      },
    };
  } catch {
    isRefused = true;
    return undefined;
  }
}
