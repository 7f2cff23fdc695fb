/**
 * What `dot.wat` beside this file compiles to (393 bytes): the dot product of every row of 8-bit codes with a query,
 * sixteen codes at once.
 */
const DOT_MODULE =
  "AGFzbQEAAAABCwFgB39/f39/fX8AAg0BAW0GbWVtb3J5AgABAwIBAAcHAQNkb3QAAArVAgHSAgICfwJ7AkADQCAARQ0B/QwAAAAAAAAAAAAAAAAAAAAAIQn9" +
  "DAAAAAAAAAAAAAAAAAAAAAAhCiADIAFqIQcgAiEIA0AgCSAD/QEDACAI/QAEAP26Af2uASEJIAogA/0BAwggCP0ABBD9ugH9rgEhCiAJIAP9AQMQIAj9AAQg" +
  "/boB/a4BIQkgCiAD/QEDGCAI/QAEMP26Af2uASEKIAkgA/0BAyAgCP0ABED9ugH9rgEhCSAKIAP9AQMoIAj9AARQ/boB/a4BIQogCSAD/QEDMCAI/QAEYP26" +
  "Af2uASEJIAogA/0BAzggCP0ABHD9ugH9rgEhCiAIQYABaiEIIANBwABqIgMgB0kNAAsgCSAK/a4BIQkgBiAJ/RsAIAn9GwFqIAn9GwIgCf0bA2pqsiAEKgIA" +
  "IAWUlDgCACAEQQRqIQQgBkEEaiEGIABBAWshAAwACwsL";

// TypeScript describes WebAssembly with the browser's types only; these are the few that are used here.
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface Wasm {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
  Memory: new (size: { initial: number; maximum: number }) => WasmMemory;
}
type DotRows = (
  rows: number,
  bytes: number,
  query: number,
  from: number,
  scales: number,
  scale: number,
  out: number,
) => void;

const PAGE_BYTES = 65_536;
/** 4 GB less a page: what 32-bit addresses reach. */
const MOST_PAGES = 65_535;
const LONGEST_QUERY = 8192;
/** So many products are written one after the other behind the query, before they are taken out. */
const BATCH_ROWS = 8192;
const PRODUCTS_OFFSET = LONGEST_QUERY;
/** Rows of a chunk: fewer make more calls and more breaks in what the processor reads ahead, more leave more unused. */
export const CHUNK_ROWS = 1024;

/** A run of rows in the arena: where their codes begin; the scales follow. */
export type ChunkOffset = number;

/**
 * Memory that WebAssembly can reach, shared by all users and given out in chunks of 1,024 rows: an instance each would
 * reserve gigabytes of addresses for every user.
 */
export interface VectorArena {
  /** Bytes of a chunk. */
  readonly chunkBytes: number;
  allocate(): ChunkOffset;
  free(chunk: ChunkOffset): void;
  put(chunk: ChunkOffset, row: number, codes: Int8Array, scale: number): void;
  /** Codes of a chunk's rows, from a place in them on; and the scales of its first rows. */
  load(chunk: ChunkOffset, at: number, codes: Uint8Array): void;
  setScales(chunk: ChunkOffset, scales: Float32Array): void;
  read(chunk: ChunkOffset): { readonly codes: Int8Array; readonly scales: Float32Array };
  /** The products of the first rows of chunks with a query of 16-bit codes, each times its row's scale and `scale`. */
  dot(query: Int16Array, scale: number, chunks: readonly ChunkOffset[], out: Float32Array): void;
}

const arenas = new Map<number, VectorArena | undefined>();

/**
 * The arena for rows of so many codes (a multiple of 64), made at the first use; nothing where the processor or the
 * system's limits do not allow it: the caller then has to do without.
 */
export function getVectorArena(stride: number): VectorArena | undefined {
  if (!arenas.has(stride)) arenas.set(stride, createVectorArena(stride));
  return arenas.get(stride);
}

function createVectorArena(stride: number): VectorArena | undefined {
  const wasm = (globalThis as { WebAssembly?: Wasm }).WebAssembly;
  if (!wasm || stride % 64 !== 0 || stride * 2 > LONGEST_QUERY) return undefined;
  try {
    const memory = new wasm.Memory({ initial: 1, maximum: MOST_PAGES });
    const module = new wasm.Module(Buffer.from(DOT_MODULE, "base64"));
    const dot = new wasm.Instance(module, { m: { memory } }).exports.dot as DotRows;
    return createArenaIn(memory, dot, stride);
  } catch {
    // A system that gives no memory takes long to say so; it is asked once.
    return undefined;
  }
}

/** The first page holds the query; chunks follow, each a whole number of 64-byte lines; products have memory of their own. */
function createArenaIn(memory: WasmMemory, dotRows: DotRows, stride: number): VectorArena {
  const codesBytes = CHUNK_ROWS * stride;
  const scalesBytes = CHUNK_ROWS * 4;
  const chunkBytes = codesBytes + scalesBytes;
  const free: ChunkOffset[] = [];
  let end = PAGE_BYTES;
  let bytes = new Int8Array(memory.buffer);
  const floats = (at: number): Float32Array => new Float32Array(memory.buffer, at, CHUNK_ROWS);
  return {
    chunkBytes,
    allocate() {
      const chunk = free.pop() ?? end;
      if (chunk === end) {
        end += chunkBytes;
        if (end > memory.buffer.byteLength) {
          // A quarter more at a time: growing is a call into the system.
          const more = Math.ceil(Math.max(chunkBytes, memory.buffer.byteLength / 4) / PAGE_BYTES);
          memory.grow(Math.min(more, MOST_PAGES - memory.buffer.byteLength / PAGE_BYTES));
          bytes = new Int8Array(memory.buffer);
        }
      }
      return chunk;
    },
    free(chunk) {
      // What was a user's does not lie about in memory that the next one gets, and which is all zeros.
      bytes.fill(0, chunk, chunk + chunkBytes);
      free.push(chunk);
    },
    put(chunk, row, codes, scale) {
      bytes.set(codes, chunk + row * stride);
      floats(chunk + codesBytes)[row] = scale;
    },
    load(chunk, at, codes) {
      bytes.set(codes, chunk + at);
    },
    setScales(chunk, scales) {
      floats(chunk + codesBytes).set(scales);
    },
    read: (chunk) => ({
      codes: bytes.subarray(chunk, chunk + codesBytes),
      scales: floats(chunk + codesBytes),
    }),
    dot(query, scale, chunks, out) {
      new Int16Array(memory.buffer, 0, query.length).set(query);
      const count = out.length;
      for (let at = 0; at < count; at += BATCH_ROWS) {
        const end = Math.min(at + BATCH_ROWS, count);
        for (let row = at; row < end; row += CHUNK_ROWS) {
          const chunk = chunks[row / CHUNK_ROWS] as ChunkOffset;
          const rows = Math.min(CHUNK_ROWS, count - row);
          dotRows(rows, stride, 0, chunk, chunk + codesBytes, scale, PRODUCTS_OFFSET + (row - at) * 4);
        }
        out.set(new Float32Array(memory.buffer, PRODUCTS_OFFSET, end - at), at);
      }
    },
  };
}
