import { growColumn } from "./columns.ts";

/**
 * Vectors by the slot of their unit, each as 8-bit codes and a scale (the greatest part over 127). A cosine
 * from codes has an error of about 0.001; for exact cosines, read the vectors themselves (see `findNearest`).
 */
export interface VectorCodes {
  readonly dimensions: number;
  /** Stores a vector, or zeros without one. */
  set(slot: number, vector: Float32Array | undefined): void;
  /** Writes the products of the first `count` vectors with a query of unit length into `out`. */
  dot(query: Float32Array, count: number, out: Float32Array): void;
  /** The same for the given slots only. */
  dotAt(query: Float32Array, slots: readonly number[], out: Float32Array): void;
  /** Adds a slot's vector, decoded from its codes, to `sum`. */
  addTo(sum: Float32Array, slot: number): void;
  /** The codes and scales of the first `count` vectors, for storage. */
  pack(count: number): { readonly codes: Int8Array; readonly scales: Float32Array };
  /** Loads codes from `pack` at a position, as far as there is room; and all of its scales. */
  load(at: number, codes: Uint8Array): void;
  setScales(scales: Float32Array): void;
  readonly bytes: number;
  /** Frees the memory; the vectors are gone. */
  release(): void;
}

/** Up to this many rows, a plain loop is fast, and a separate chunk is not worth its cost. */
const MAX_PLAIN_ROWS = 256;

/** Empty, with room for `count` vectors. */
export function createVectorCodes(dimensions: number, count = 0): VectorCodes {
  const stride = strideOf(dimensions);
  const few = createPlainRows(stride);
  let many: CodeRows | undefined;
  const rowsFor = (slot: number): CodeRows => {
    if (slot < MAX_PLAIN_ROWS && !many) return few;
    if (!many) {
      many = createArenaRows(stride) ?? few;
      if (many !== few) copyRows(many, few);
    }
    return many;
  };
  if (count > 0) rowsFor(count - 1).ensureRows(count);
  return {
    dimensions,
    set(slot, vector) {
      const codes = new Int8Array(stride);
      rowsFor(slot).put(slot, codes, vector ? encodeVector(vector, codes) : 0);
    },
    dot(query, count, out) {
      const codes = new Int16Array(stride);
      const scale = encodeQuery(query, codes);
      (many ?? few).dot(codes, scale, count, out);
    },
    dotAt(query, slots, out) {
      const codes = new Int16Array(stride);
      const scale = encodeQuery(query, codes);
      for (const slot of slots) {
        const row = (many ?? few).row(slot);
        let sum = 0;
        for (let i = 0; i < query.length; i += 1) sum += (row.codes[i] ?? 0) * (codes[i] as number);
        out[slot] = sum * row.scale * scale;
      }
    },
    addTo(sum, slot) {
      const { codes, scale } = (many ?? few).row(slot);
      for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] as number) + (codes[i] ?? 0) * scale;
    },
    pack: (count) => (many ?? few).pack(count),
    load: (at, codes) => (many ?? few).load(at, codes),
    setScales: (scales) => (many ?? few).setScales(scales),
    get bytes() {
      return (many ?? few).bytes();
    },
    release() {
      many?.release();
      few.release();
    },
  };
}

/** The codes of a row: a whole number of cache lines. */
export function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / 64) * 64;
}

/** Writes the codes and gives the scale: `part = code * scale`. */
function encodeVector(vector: Float32Array, codes: Int8Array): number {
  let most = 0;
  for (const part of vector) most = Math.max(most, Math.abs(part));
  if (most === 0) return 0;
  const scale = most / 127;
  for (let i = 0; i < vector.length; i += 1) codes[i] = Math.round((vector[i] as number) / scale);
  return scale;
}

/** Fourteen bits, so that the sum over 4,096 parts fits into 32. */
function encodeQuery(query: Float32Array, codes: Int16Array): number {
  let most = 0;
  for (const part of query) most = Math.max(most, Math.abs(part));
  if (most === 0) return 0;
  const scale = most / 8191;
  for (let i = 0; i < query.length; i += 1) codes[i] = Math.round((query[i] as number) / scale);
  return scale;
}

interface CodeRows {
  ensureRows(rows: number): void;
  put(slot: number, codes: Int8Array, scale: number): void;
  load(at: number, codes: Uint8Array): void;
  setScales(scales: Float32Array): void;
  dot(query: Int16Array, scale: number, count: number, out: Float32Array): void;
  /** Valid until the next change; zeros if there is no such row. */
  row(slot: number): { readonly codes: Int8Array; readonly scale: number };
  pack(count: number): { codes: Int8Array; scales: Float32Array };
  bytes(): number;
  release(): void;
}

function copyRows(rows: CodeRows, { pack }: CodeRows): void {
  const { codes, scales } = pack(MAX_PLAIN_ROWS);
  rows.ensureRows(MAX_PLAIN_ROWS);
  rows.load(0, new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength));
  rows.setScales(scales);
}

/** In plain memory, without WebAssembly. */
function createPlainRows(stride: number): CodeRows {
  let codes = new Int8Array(0);
  let scales = new Float32Array(0);
  const room = (rows: number): void => {
    if (scales.length >= rows) return;
    scales = growColumn(scales, rows);
    codes = growColumn(codes, scales.length * stride);
  };
  return {
    put(slot, row, scale) {
      room(slot + 1);
      codes.set(row, slot * stride);
      scales[slot] = scale;
    },
    ensureRows: room,
    load: (at, bytes) => codes.set(bytes, at),
    setScales: (values) => scales.set(values),
    dot(query, scale, count, out) {
      const known = Math.min(count, scales.length);
      for (let slot = 0; slot < known; slot += 1) {
        const from = slot * stride;
        let sum = 0;
        for (let i = 0; i < stride; i += 1) sum += (codes[from + i] as number) * (query[i] as number);
        out[slot] = sum * (scales[slot] as number) * scale;
      }
      out.fill(0, known, count);
    },
    row: (slot) => ({
      codes: codes.subarray(slot * stride, (slot + 1) * stride),
      scale: scales[slot] ?? 0,
    }),
    pack(count) {
      const available = Math.min(count, scales.length);
      const packed = { codes: new Int8Array(count * stride), scales: new Float32Array(count) };
      packed.codes.set(codes.subarray(0, available * stride));
      packed.scales.set(scales.subarray(0, available));
      return packed;
    },
    bytes: () => codes.byteLength + scales.byteLength,
    release() {
      codes = new Int8Array(0);
      scales = new Float32Array(0);
    },
  };
}

/** In chunks of the arena; undefined if there is none. */
function createArenaRows(stride: number): CodeRows | undefined {
  const arena = getVectorArena(stride);
  return arena && createChunkedRows(arena, stride);
}

function createChunkedRows(arena: VectorArena, stride: number): CodeRows {
  const chunks: ChunkOffset[] = [];
  const chunkOf = (place: number): ChunkOffset => {
    while (chunks.length <= place) chunks.push(arena.allocate());
    return chunks[place] as ChunkOffset;
  };
  return {
    put(slot, codes, scale) {
      arena.put(chunkOf(Math.floor(slot / CHUNK_ROWS)), slot % CHUNK_ROWS, codes, scale);
    },
    ensureRows(rows) {
      if (rows > 0) chunkOf(Math.floor((rows - 1) / CHUNK_ROWS));
    },
    load(at, bytes) {
      const size = CHUNK_ROWS * stride;
      for (let from = 0; from < bytes.length; ) {
        const place = Math.floor((at + from) / size);
        const inside = at + from - place * size;
        const to = Math.min(bytes.length, from + size - inside);
        arena.load(chunks[place] as ChunkOffset, inside, bytes.subarray(from, to));
        from = to;
      }
    },
    setScales(scales) {
      for (let from = 0; from < scales.length; from += CHUNK_ROWS) {
        arena.setScales(chunks[from / CHUNK_ROWS] as ChunkOffset, scales.subarray(from, from + CHUNK_ROWS));
      }
    },
    dot(query, scale, count, out) {
      const known = Math.min(count, chunks.length * CHUNK_ROWS);
      arena.dot(query, scale, chunks, out.subarray(0, known));
      out.fill(0, known, count);
    },
    row(slot) {
      // No chunk is allocated here: after the vectors are freed, it would never be returned.
      const chunk = chunks[Math.floor(slot / CHUNK_ROWS)];
      if (chunk === undefined) return { codes: new Int8Array(stride), scale: 0 };
      const { codes, scales } = arena.read(chunk);
      const row = slot % CHUNK_ROWS;
      return { codes: codes.subarray(row * stride, (row + 1) * stride), scale: scales[row] as number };
    },
    pack(count) {
      const packed = { codes: new Int8Array(count * stride), scales: new Float32Array(count) };
      for (let from = 0; from < Math.min(count, chunks.length * CHUNK_ROWS); from += CHUNK_ROWS) {
        const { codes, scales } = arena.read(chunks[from / CHUNK_ROWS] as ChunkOffset);
        const rows = Math.min(CHUNK_ROWS, count - from);
        packed.codes.set(codes.subarray(0, rows * stride), from * stride);
        packed.scales.set(scales.subarray(0, rows), from);
      }
      return packed;
    },
    bytes: () => chunks.length * arena.chunkBytes,
    release() {
      for (const chunk of chunks) arena.free(chunk);
      chunks.length = 0;
    },
  };
}

/**
 * The compiled `dot.wat` from this folder (393 bytes): the dot product of every row of 8-bit codes with a
 * query, sixteen codes at once.
 */
const DOT_MODULE =
  "AGFzbQEAAAABCwFgB39/f39/fX8AAg0BAW0GbWVtb3J5AgABAwIBAAcHAQNkb3QAAArVAgHSAgICfwJ7AkADQCAARQ0B/QwAAAAAAAAAAAAAAAAAAAAAIQn9" +
  "DAAAAAAAAAAAAAAAAAAAAAAhCiADIAFqIQcgAiEIA0AgCSAD/QEDACAI/QAEAP26Af2uASEJIAogA/0BAwggCP0ABBD9ugH9rgEhCiAJIAP9AQMQIAj9AAQg" +
  "/boB/a4BIQkgCiAD/QEDGCAI/QAEMP26Af2uASEKIAkgA/0BAyAgCP0ABED9ugH9rgEhCSAKIAP9AQMoIAj9AARQ/boB/a4BIQogCSAD/QEDMCAI/QAEYP26" +
  "Af2uASEJIAogA/0BAzggCP0ABHD9ugH9rgEhCiAIQYABaiEIIANBwABqIgMgB0kNAAsgCSAK/a4BIQkgBiAJ/RsAIAn9GwFqIAn9GwIgCf0bA2pqsiAEKgIA" +
  "IAWUlDgCACAEQQRqIQQgBkEEaiEGIABBAWshAAwACwsL";

// TypeScript describes WebAssembly only in the browser's types; these are the few used here.
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
/** 4 GB minus a page: the range of 32-bit addresses. */
const MOST_PAGES = 65_535;
const LONGEST_QUERY = 8192;
/** Products written consecutively after the query before they are read. */
const BATCH_ROWS = 8192;
const PRODUCTS_OFFSET = LONGEST_QUERY;
/**
 * Rows of a chunk: fewer mean more calls and more breaks in the processor's prefetching, more leave more
 * unused.
 */
const CHUNK_ROWS = 1024;

/** A run of rows in the arena: the start of their codes; the scales follow. */
type ChunkOffset = number;

/**
 * Memory that WebAssembly can reach, shared by all users in chunks of 1,024 rows. An instance for each user
 * would reserve gigabytes of address space.
 */
interface VectorArena {
  /** Bytes of a chunk. */
  readonly chunkBytes: number;
  allocate(): ChunkOffset;
  free(chunk: ChunkOffset): void;
  put(chunk: ChunkOffset, row: number, codes: Int8Array, scale: number): void;
  /** Codes of a chunk's rows from a position on, and the scales of its first rows. */
  load(chunk: ChunkOffset, at: number, codes: Uint8Array): void;
  setScales(chunk: ChunkOffset, scales: Float32Array): void;
  read(chunk: ChunkOffset): { readonly codes: Int8Array; readonly scales: Float32Array };
  /**
   * The products of the first rows of chunks with a query of 16-bit codes, each times its row's scale and
   * `scale`.
   */
  dot(query: Int16Array, scale: number, chunks: readonly ChunkOffset[], out: Float32Array): void;
}

const arenas = new Map<number, VectorArena | undefined>();

/**
 * The arena for rows of `stride` codes (a multiple of 64), created on first use. Undefined if the processor
 * or the system's limits do not allow it; the caller then uses plain rows.
 */
function getVectorArena(stride: number): VectorArena | undefined {
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
    // A system that refuses memory takes long to do so; it is asked once.
    return undefined;
  }
}

/**
 * The first page holds the query; chunks follow, each a whole number of 64-byte lines; products have separate
 * memory.
 */
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
          // A quarter more at a time, because growing is a system call.
          const more = Math.ceil(Math.max(chunkBytes, memory.buffer.byteLength / 4) / PAGE_BYTES);
          memory.grow(Math.min(more, MOST_PAGES - memory.buffer.byteLength / PAGE_BYTES));
          bytes = new Int8Array(memory.buffer);
        }
      }
      return chunk;
    },
    free(chunk) {
      // Zeroes the chunk: the next user must not get the previous user's data, and expects zeros.
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
