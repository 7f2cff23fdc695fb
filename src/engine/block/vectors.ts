import { CHUNK_ROWS, type ChunkOffset, getVectorArena, type VectorArena } from "./arena.ts";
import { growColumn } from "./columns.ts";

/**
 * Vectors by the slot of their unit, each as 8-bit codes and a scale (the greatest part over 127). A cosine worked out
 * from them is off by about 0.001; whoever needs the exact one takes the vectors themselves (`rescore` in recall).
 */
export interface VectorCodes {
  readonly dimensions: number;
  /** Puts a vector, or zeros where there is none. */
  set(slot: number, vector: Float32Array | undefined): void;
  /** Writes the products of the first `count` vectors with a query of unit length into `out`. */
  dot(query: Float32Array, count: number, out: Float32Array): void;
  /** The same for some slots alone. */
  dotAt(query: Float32Array, slots: readonly number[], out: Float32Array): void;
  /** Adds a slot's vector, as its codes give it, to `sum`. */
  addTo(sum: Float32Array, slot: number): void;
  /** The codes and scales of the first `count` vectors, to be kept. */
  pack(count: number): { readonly codes: Int8Array; readonly scales: Float32Array };
  /** Takes in codes that `pack` gave, from a place in them on, where there is room for them; and all of its scales. */
  load(at: number, codes: Uint8Array): void;
  setScales(scales: Float32Array): void;
  readonly bytes: number;
  /** Gives the memory back; the vectors are gone. */
  release(): void;
}

/** Up to so many rows a plain loop takes no time, and a chunk of its own is not worth its price. */
const MAX_PLAIN_ROWS = 256;

/** Empty, with room for so many. */
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

/** The codes of a row: a whole number of lines of the processor's cache. */
export function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / 64) * 64;
}

/** Sets the codes, and gives the scale: `part = code * scale`. */
function encodeVector(vector: Float32Array, codes: Int8Array): number {
  let most = 0;
  for (const part of vector) most = Math.max(most, Math.abs(part));
  if (most === 0) return 0;
  const scale = most / 127;
  for (let i = 0; i < vector.length; i += 1) codes[i] = Math.round((vector[i] as number) / scale);
  return scale;
}

/** Fourteen bits, so that the sum over 4,096 parts stays within 32. */
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
  /** Valid until the next change; zeros where there is no such row. */
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
    setScales: (kept) => scales.set(kept),
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
      const held = Math.min(count, scales.length);
      const all = { codes: new Int8Array(count * stride), scales: new Float32Array(count) };
      all.codes.set(codes.subarray(0, held * stride));
      all.scales.set(scales.subarray(0, held));
      return all;
    },
    bytes: () => codes.byteLength + scales.byteLength,
    release() {
      codes = new Int8Array(0);
      scales = new Float32Array(0);
    },
  };
}

/** In chunks of the arena; nothing where there is none. */
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
      // None is taken for it: of vectors that were let go of, nobody would give it back.
      const chunk = chunks[Math.floor(slot / CHUNK_ROWS)];
      if (chunk === undefined) return { codes: new Int8Array(stride), scale: 0 };
      const { codes, scales } = arena.read(chunk);
      const row = slot % CHUNK_ROWS;
      return { codes: codes.subarray(row * stride, (row + 1) * stride), scale: scales[row] as number };
    },
    pack(count) {
      const all = { codes: new Int8Array(count * stride), scales: new Float32Array(count) };
      for (let from = 0; from < Math.min(count, chunks.length * CHUNK_ROWS); from += CHUNK_ROWS) {
        const { codes, scales } = arena.read(chunks[from / CHUNK_ROWS] as ChunkOffset);
        const rows = Math.min(CHUNK_ROWS, count - from);
        all.codes.set(codes.subarray(0, rows * stride), from * stride);
        all.scales.set(scales.subarray(0, rows), from);
      }
      return all;
    },
    bytes: () => chunks.length * arena.chunkBytes,
    release() {
      for (const chunk of chunks) arena.free(chunk);
      chunks.length = 0;
    },
  };
}
